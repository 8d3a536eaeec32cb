/** Tests added, removed, renamed and doubled columns. An added column is reported and the rows stay the same. With the others, the file is rejected. */
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { ROOT } from '../../pipelines/config.ts';
import { loadSources } from '../../pipelines/contract/registry.ts';
import { knownBy, normaliseHeader } from '../../pipelines/formats/csv.ts';
import { locate } from '../../pipelines/ingest/locate.ts';
import { validate } from '../../pipelines/operate/validate.ts';
import { randomOf } from '../../pipelines/synthetic/random.ts';
import { writeOwn } from '../../pipelines/synthetic/synthetic.ts';
import { editable, type Edit, type Editable } from '../harness/column-edits.ts';
import { testEnvironment } from '../harness/environment.ts';
import { rewriteZip } from '../harness/rewrite-zip.ts';
import { goldenOf, trial } from '../harness/trial.ts';

const sources = await loadSources();
const { seed } = testEnvironment();
const REGION = { parcels: 60, seed: 11 };
/** Maximum number of columns of a table, drawn at random, that are tried for each change. */
const DRAWN = 60;
const root = mkdtempSync(join(tmpdir(), 'mappale-columns-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

interface Table {
  /** File given to the source. */
  readonly path: string;
  /** Entry of the zip, or file next to the given one, that has the columns. */
  readonly part: string;
  readonly isZipped: boolean;
  readonly content: Editable;
}

type Exception = readonly [source: string, part: RegExp, column: RegExp, reason: string];

/** Columns that a file may lack, next to those that the manifest lists as optional. */
const MAY_LACK: readonly Exception[] = [
  ['ade_cadastre', /_map\.gml$|sheet/, /^(?:LEVEL|LEVELNAME|LEVELNAME_LOCALE|ORIGINALMAPSCALEDENOMINATOR|BEGINLIFESPANVERSION|ENDLIFESPANVERSION)$/, 'a sheet may come without them; they are not used'],
  ['bolzano_cadastre', /./, /_NOME_(?:DE|IT)$/, 'names of places; exports have them in one or two languages'],
  ['ingv_mps04', /./, /^(?:id|fid)$/i, 'number of the node; its coordinates identify it'],
  ['ispra_shoreline', /./, /./, 'the publisher lists no columns, so those of an edition are unknown'],
  ['istat_comuni', /./, /107 Province/, 'an earlier edition lacks only this column'],
  ['mic_places', /./, /./, 'a query selects its columns'],
  ['salute_pharmacies', /./, /^data_inizio_validita$/, 'an edition lacks it'],
  ['postal_codes', /./, /./, 'tables of the operator, with any columns'],
];

/** Columns by which files are recognised. Without such a column, the file is rejected as another file. */
const KNOWN_BY: readonly Exception[] = [
  ['bolzano_cadastre', /./, /^PART_(?:CODICE?|ISTAT)$/, 'FILE_UNKNOWN or FILE_CHANGED'],
  ['ingv_mps04', /./, /^(?:x|y|lat|lon|latitudine|longitudine|ag|pga|ag\(g\))$/i, 'FILE_UNKNOWN'],
  ['ispra_flood', /service/, /^scenariop\d$/, 'FILE_UNKNOWN or FILE_CHANGED'],
  ['ispra_landslide', /service/, /^(?:peric_ita|cod_per_it)$/, 'FILE_UNKNOWN or FILE_CHANGED'],
  ['istat_soppressi', /./, /^Data evento$/, 'VINTAGE_MISSING'],
  ['trento_cadastre', /\.dbf$/, /^(?:PT|BD)_/, 'ZIP_CONTENT or CCAT_INCOMPLETE'],
  ['urban_atlas', /./, /^code_\d+$/i, 'LAYER_UNEXPECTED'],
];

function isException(list: readonly Exception[], id: string, part: string, column: string): string | null {
  return list.find(([mine, file, name]) => mine === id && file.test(part) && name.test(column))?.[3] ?? null;
}

async function tablesOf(path: string): Promise<Table[]> {
  const tables: Table[] = [];
  const add = (part: string, bytes: Buffer, isZipped: boolean): void => {
    const content = editable(part, bytes);
    if (content !== null) tables.push({ path, part, isZipped, content });
  };
  if (/\.(?:zip|kmz)$/i.test(path)) {
    await rewriteZip(path, (part, bytes) => {
      if (!/\.zip$/i.test(part)) add(part, bytes, true);
      return bytes;
    }, { into: join(root, 'unused.zip') }).catch(() => undefined);
  } else if (/\.shp$/i.test(path)) {
    const part = readdirSync(dirname(path)).find((name) => name.toLowerCase() === basename(path).replace(/\.shp$/i, '.dbf').toLowerCase());
    if (part !== undefined) add(part, readFileSync(join(dirname(path), part)), false);
  } else add(basename(path), readFileSync(path), false);
  return tables;
}

/** Writes the edited file into a new folder. */
async function withEdit({ path, part, isZipped, content }: Table, edit: Edit): Promise<string> {
  const place = mkdtempSync(join(root, 'edit-'));
  const target = join(place, basename(path));
  const changed = content.edit(edit);
  if (isZipped) {
    await rewriteZip(path, (each, before) => {
      if (each === part) return changed;
      // A publisher changes all tables of one kind at once.
      const other = editable(each, before);
      return other !== null && other.columns.join() === content.columns.join() ? other.edit(edit) : before;
    }, { into: target });
    return target;
  }
  const stem = part.replace(/\.[^.]+$/, '.');
  for (const name of readdirSync(dirname(path)).filter((each) => each.startsWith(stem))) copyFileSync(join(dirname(path), name), join(place, name));
  writeFileSync(join(place, part), changed);
  return target;
}

interface Golden {
  readonly rows?: Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>;
  readonly members?: readonly { readonly records: number; readonly rejects: readonly unknown[]; readonly added?: Readonly<Record<string, unknown>> }[];
}

/** Returns what must stay the same: rows, and the numbers of records and rejects. Positions in a GML count bytes, which an added property moves. */
function heldOf({ rows = {}, members = [] }: Golden): unknown {
  return {
    rows: Object.entries(rows).map(([table, each]) => [table, each.map(({ position, ...values }) => values)]),
    members: members.map(({ records, rejects }) => ({ records, rejects: rejects.length })),
  };
}

/** Returns a table of each layout among the synthetic files and fixtures that are read without an error. */
async function layoutsOf(id: string): Promise<{ table: Table; before: Golden }[]> {
  const source = sources.find((each) => each.id === id)!;
  const folder = join(root, id);
  mkdirSync(folder, { recursive: true });
  await writeOwn(id, folder, REGION);
  const { releases } = await locate([folder, join(ROOT, source.folder, 'fixture')], [source], { get: () => undefined, set() {} });
  const seen = new Set<string>();
  const layouts: { table: Table; before: Golden }[] = [];
  for (const { path } of releases.flatMap(({ files }) => files)) {
    for (const table of await tablesOf(path)) {
      const layout = `${/\.[^.]+$/.exec(table.part)?.[0]} ${table.content.columns.join()}`;
      if (seen.has(layout)) continue;
      const before = goldenOf(await trial(source, path)) as Golden;
      if ((before.members ?? []).length === 0 || before.members!.some(({ added }) => added !== undefined)) continue;
      seen.add(layout);
      layouts.push({ table, before });
    }
  }
  return layouts;
}

/** A layer that is ignored by name, without reading its columns. */
const ASIDE = /RipGeo/;

describe.each(sources.map((source) => [source.id, source] as const))(`source %s (seed ${seed})`, (id, source) => {
  const random = randomOf(`columns ${id}`, seed);
  const { ignored, optional = [] } = source.manifest;
  const isKnown = knownBy({ mapped: {}, ignored });
  const isOptional = knownBy({ mapped: {}, ignored: Object.fromEntries((optional.includes('*') ? Object.keys(ignored) : optional).map((name) => [name, ''])) });
  const newName = (columns: readonly string[]): string => {
    for (;;) {
      const name = `${random.pick(['indice', 'esito', 'grado', 'gruppo', 'soglia'])}_${random.pick(['agg', 'bis', 'rev', 'uff'])}`;
      if (!isKnown(name) && !columns.some((column) => normaliseHeader(column) === name)) return name;
    }
  };
  const drawn = (columns: readonly string[]): number[] =>
    columns.map((name, at) => [random.next(), at, name] as const).filter(([, , name]) => normaliseHeader(name) !== '' && !/^\d{8}$/.test(name)).sort(([a], [b]) => a - b).slice(0, DRAWN).map(([, at]) => at);

  it('gives the same rows with an added column at any position, and reports its name', async () => {
    const offences: string[] = [];
    for (const { table, before } of await layoutsOf(id)) {
      for (const at of [0, table.content.columns.length, random.below(table.content.columns.length)]) {
        if (ASIDE.test(table.part)) continue;
        const name = newName(table.content.columns);
        const path = await withEdit(table, { kind: 'added', at, name });
        const after = goldenOf(await trial(source, path)) as Golden & { readonly error?: unknown };
        const added = [...new Set((after.members ?? []).flatMap((member) => Object.keys(member.added ?? {})))];
        const [verdict] = (await validate([path], sources, null, () => undefined)).filter((each) => each.path === path);
        const isSame = JSON.stringify(heldOf(after)) === JSON.stringify(heldOf(before));
        const isReported = added.join() === name && verdict!.source === id && verdict!.findings.some(({ code, column }) => code === 'COLUMNS_ADDED' && column === name);
        if (!isSame || !isReported) offences.push(`${basename(table.path)}!${table.part} ${name} at ${at}: ${isSame ? 'same rows' : 'other rows'}, reported ${added.join()}, ${JSON.stringify(after.error)} ${verdict!.findings.map(({ code }) => code).join()}`);
        rmSync(dirname(path), { recursive: true });
      }
    }
    expect(offences).toEqual([]);
  });

  it('rejects a removed, a renamed and a doubled column with COLUMNS_CHANGED', async () => {
    const offences: string[] = [];
    for (const { table } of await layoutsOf(id)) {
      for (const kind of ['removed', 'renamed', 'doubled'] as const) {
        for (const at of drawn(table.content.columns)) {
          const column = table.content.columns[at]!;
          if (ASIDE.test(table.part) || (kind !== 'doubled' && (isOptional(column) || isException(MAY_LACK, id, table.part, column) !== null))) continue;
          const path = await withEdit(table, { kind, at, name: newName(table.content.columns) });
          const [verdict] = (await validate([path], sources, null, () => undefined)).filter((each) => each.path === path);
          const codes = ['COLUMNS_CHANGED', ...(kind === 'doubled' ? [] : isException(KNOWN_BY, id, table.part, column)?.split(' or ') ?? [])];
          if (!verdict!.findings.some(({ code, level }) => codes.includes(code) && level === 'error')) {
            offences.push(`${basename(table.path)}!${table.part} ${kind} ${column}: ${JSON.stringify(verdict!.findings.map(({ code, detail }) => [code, detail?.slice(0, 100)]))}`);
          }
          rmSync(dirname(path), { recursive: true });
        }
      }
    }
    expect(offences).toEqual([]);
  });
});
