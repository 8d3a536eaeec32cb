/** A publisher renames, removes or adds a column: the file is still known for what it is, and refused with the difference. */
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { ZipArchive } from '../../pipelines/formats/zip.ts';
import { loadSources } from '../../pipelines/contract/registry.ts';
import { writeOwn } from '../../pipelines/synthetic/synthetic.ts';
import { locate } from '../../pipelines/ingest/locate.ts';
import { validate } from '../../pipelines/operate/validate.ts';
import { rewriteZip } from '../harness/rewrite-zip.ts';

const sources = await loadSources();
const REGION = { parcels: 60, seed: 11 };
const root = mkdtempSync(join(tmpdir(), 'mappale-columns-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

interface Table {
  /** File in the folder, entry in it when it is a zip, and the header's bytes. */
  readonly path: string;
  readonly entry: string | null;
  readonly content: Buffer;
  readonly delimiter: string;
  readonly start: number;
  readonly end: number;
}

/** The header: the line with the most separators among the first three (titles come before it, quoted line feeds inside). */
function headerOf(content: Buffer): Pick<Table, 'delimiter' | 'start' | 'end'> | null {
  const text = content.subarray(0, 20_000).toString('latin1');
  if (/[\u0000-\u0008]/.test(text.slice(0, 500))) return null;
  for (const delimiter of [';', ',']) {
    let start = 0;
    for (let line = 0; line < 3; line += 1) {
      let end = start;
      for (let quoted = false; end < text.length && (quoted || text[end] !== '\n'); end += 1) if (text[end] === '"') quoted = !quoted;
      const header = text.slice(start, end).replace(/\r$/, '');
      if (header.split(delimiter).length >= 4 && /[A-Za-z]/.test(header) && !/^[{[<]/.test(header)) return { delimiter, start, end: start + header.length };
      start = end + 1;
    }
  }
  return null;
}

async function tablesOf(folder: string): Promise<Table[]> {
  const tables: Table[] = [];
  for (const name of readdirSync(folder, { recursive: true }) as string[]) {
    const path = join(folder, name);
    if (/\.(csv|txt)$/i.test(name)) {
      const content = readFileSync(path);
      const header = headerOf(content);
      if (header !== null) tables.push({ path, entry: null, content, ...header });
    } else if (name.endsWith('.zip')) {
      const zip = await ZipArchive.open(path);
      for (const entry of zip.entries.filter(({ path: inner }) => /\.(csv|txt)$/i.test(inner))) {
        const content = await zip.buffer(entry.path);
        const header = headerOf(content);
        if (header !== null) tables.push({ path, entry: entry.path, content, ...header });
      }
      await zip.close();
    }
  }
  return tables;
}

async function rewritten(table: Table, header: string, folder: string): Promise<string> {
  const content = Buffer.concat([table.content.subarray(0, table.start), Buffer.from(header, 'latin1'), table.content.subarray(table.end)]);
  const path = join(folder, table.path.split('/').at(-1)!);
  if (table.entry === null) {
    writeFileSync(path, content);
    return path;
  }
  await rewriteZip(table.path, (name, before) => (name === table.entry ? content : before), { into: path });
  return path;
}

/** A dBASE table with one field renamed, or left out of the descriptors and of every record. */
function changedTable(dbf: Buffer, field: number, change: 'renamed' | 'removed'): Buffer {
  const at = 32 + field * 32;
  if (change === 'renamed') {
    const copy = Buffer.from(dbf);
    copy.fill(0, at, at + 11);
    copy.write('NUOVA', at, 'latin1');
    return copy;
  }
  const [headerSize, recordSize] = [dbf.readUInt16LE(8), dbf.readUInt16LE(10)];
  let start = 1;
  for (let before = 32; before < at; before += 32) start += dbf[before + 16]!;
  const width = dbf[at + 16]!;
  const header = Buffer.concat([dbf.subarray(0, at), dbf.subarray(at + 32, headerSize)]);
  header.writeUInt16LE(headerSize - 32, 8);
  header.writeUInt16LE(recordSize - width, 10);
  const records: Buffer[] = [];
  for (let record = headerSize; record + recordSize <= dbf.length; record += recordSize) {
    records.push(dbf.subarray(record, record + start), dbf.subarray(record + start + width, record + recordSize));
  }
  return Buffer.concat([header, ...records, Buffer.from([0x1a])]);
}

function tableFields(dbf: Buffer): string[] {
  const names: string[] = [];
  for (let at = 32; dbf[at] !== 0x0d; at += 32) names.push(dbf.toString('latin1', at, at + 11).replace(/\0.*$/s, ''));
  return names;
}

type Variant = readonly [what: string, content: Buffer];

/** Every occurrence of an ASCII name by another of the same length: where names are text in the bytes, as in XML and in SQLite. */
function respelled(content: Buffer, name: string): Buffer {
  return Buffer.from(content.toString('latin1').replaceAll(name, /"$/.test(name) ? `${name.slice(0, -2)}x"` : `${name.slice(0, -1)}x`), 'latin1');
}

/** Attributes that are not columns of a text table, by the kind of file: what an update of the publisher would do to them. */
function attributeVariants(path: string, content: Buffer): Variant[] {
  if (/\.dbf$/i.test(path)) {
    return tableFields(content).flatMap((name, index): Variant[] => [[`renamed ${name}`, changedTable(content, index, 'renamed')], [`removed ${name}`, changedTable(content, index, 'removed')]]);
  }
  if (/\.geojson$/i.test(path)) {
    const parsed = JSON.parse(content.toString('utf8')) as { features: { properties: Record<string, unknown> }[] };
    return Object.keys(parsed.features[0]?.properties ?? {}).flatMap((name) =>
      (
        [
          ['renamed', 'nuova'],
          ['removed', null],
        ] as const
      ).map(([what, other]): Variant => [
        `${what} ${name}`,
        Buffer.from(
          JSON.stringify({
            ...parsed,
            features: parsed.features.map((feature) => ({
              ...feature,
              properties: Object.fromEntries(
                Object.entries(feature.properties).flatMap(([key, value]) => (key !== name ? [[key, value]] : other === null ? [] : [[other, value]])),
              ),
            })),
          }),
        ),
      ]),
    );
  }
  if (/sharedStrings\.xml$/.test(path)) {
    return [...content.toString('utf8').matchAll(/<t>([A-Z]+\d{0,3}(?:_[A-Z0-9]+)?)<\/t>/g)].slice(0, COLUMNS).flatMap(([cell, name]): Variant[] => [
      [`renamed ${name}`, Buffer.from(content.toString('utf8').replace(cell, '<t>nuova</t>'))], [`removed ${name}`, Buffer.from(content.toString('utf8').replace(cell, '<t></t>'))],
    ]);
  }
  if (/\.gpkg$/i.test(path)) return ['per_fr_ita', 'per_fr_eng'].filter((name) => content.includes(name)).map((name): Variant => [`renamed ${name}`, respelled(content, name)]);
  if (/\.kml$/i.test(path)) return ['CODCOM', 'CODZONA'].filter((name) => content.includes(`"${name}"`)).map((name): Variant => [`renamed ${name}`, respelled(content, `"${name}"`)]);
  if (/_(?:ple|map)\.gml$/i.test(path)) {
    return ['ADMINISTRATIVEUNIT', 'INSPIREID_LOCALID', 'LABEL', 'LEVEL', 'NATIONALCADASTRALREFERENCE', 'NATIONALCADASTRALZONINGREFERENCE', 'msGeometry']
      .filter((name) => content.includes(`:${name}>`)).map((name): Variant => [`renamed ${name}`, respelled(content, `:${name}>`.slice(0, -1))]);
  }
  return [];
}

/** A long table of dates says the same of each: the first columns stand for all. */
const COLUMNS = 30;

/** What may go missing unnoticed, each with its reason. */
const NOT_HELD: readonly (readonly [source: string, file: RegExp, change: RegExp, reason: string])[] = [
  ['ispra_shoreline', /\.dbf$/, /^removed (?:OBJECTID|Shape_Leng|m_anno)$/, 'the publisher lists no columns: which of them an edition has is not known, only what they mean'],
  ['istat_boundaries', /RipGeo/, /./, 'the layer is left aside by name: nothing of it is read'],
  ['postal_codes', /\.geojson$/, /CAP$/, 'the operator\'s own polygons: without a CAP nothing says that they are postal areas'],
];

describe.each(sources.map((source) => [source.id, source] as const))('source %s', (id, source) => {
  it('knows a table whose header changed, and says what changed', async () => {
    const folder = join(root, id);
    mkdirSync(folder);
    await writeOwn(id, folder, REGION);
    const survey = await locate([folder], [source], { get: () => undefined, set() {} });
    const mine = new Set(survey.releases.flatMap(({ files }) => files.map((file) => file.path)));
    const seen = new Set<string>();
    const offences: string[] = [];
    for (const table of (await tablesOf(folder)).filter(({ path }) => mine.has(path))) {
      const cells = table.content.subarray(table.start, table.end).toString('latin1').split(table.delimiter);
      if (seen.has(cells.slice(0, COLUMNS).join())) continue;
      seen.add(cells.slice(0, COLUMNS).join());
      const variants: [string, string[]][] = [['added', [...cells.slice(0, 2), 'colonna_nuova', ...cells.slice(2)]]];
      cells.slice(0, COLUMNS).forEach((cell, index) => {
        if (cell.trim() === '' || /^"?\d{8}"?$/.test(cell)) return;
        variants.push([`renamed ${cell}`, cells.map((each, at) => (at === index ? 'colonna_nuova' : each))]);
        variants.push([`removed ${cell}`, cells.filter((_, at) => at !== index)]);
      });
      for (const [what, header] of variants) {
        const place = mkdtempSync(join(root, 'variant-'));
        const path = await rewritten(table, header.join(table.delimiter), place);
        const [verdict] = await validate([path], sources, 200, () => undefined);
        const told = verdict!.findings.some(({ code, detail, hint }) => code !== 'FILE_UNKNOWN' && detail !== undefined && hint !== undefined);
        if (verdict!.ok || !told) offences.push(`${table.path.split('/').at(-1)} ${what}: ${verdict!.ok ? 'accepted' : JSON.stringify(verdict!.findings.map(({ code, detail, hint }) => [code, detail, hint]))}`);
        rmSync(place, { recursive: true });
      }
    }
    expect(offences).toEqual([]);
  });

  it('knows attributes that changed inside a document, a workbook or a vector file, and says what changed', async () => {
    const folder = join(root, `${id}-attributes`);
    mkdirSync(folder);
    await writeOwn(id, folder, REGION);
    const survey = await locate([folder], [source], { get: () => undefined, set() {} });
    const offences: string[] = [];
    const tried: string[] = [];
    const kinds = new Map<string, number>();
    for (const { path } of survey.releases.flatMap(({ files }) => files)) {
      const places: { readonly name: string; readonly content: Buffer }[] = [];
      if (/\.(?:zip|kmz|xlsx)$/i.test(path)) {
        await rewriteZip(path, (name, content) => {
          if (!/\.(?:zip|kmz|xlsx)$/i.test(name)) places.push({ name, content });
          return content;
        });
      } else {
        const stem = path.replace(/\.[^.]+$/, '.');
        for (const name of readdirSync(join(path, '..')).filter((name) => join(path, '..', name).startsWith(stem))) places.push({ name, content: readFileSync(join(path, '..', name)) });
      }
      const zipped = /\.(?:zip|kmz|xlsx)$/i.test(path);
      for (const { name, content } of places) {
        const variants = attributeVariants(name, content);
        if (variants.length === 0) continue;
        const kind = variants.map(([what]) => what).join();
        kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
        if (kinds.get(kind)! > 1) continue;
        for (const [what, changed] of variants) {
          if (NOT_HELD.some(([mine, file, attribute]) => mine === id && file.test(name) && attribute.test(what))) continue;
          const place = mkdtempSync(join(root, 'attribute-'));
          for (const sibling of zipped ? [path.split('/').at(-1)!] : places.map((each) => each.name)) copyFileSync(join(path, '..', sibling), join(place, sibling));
          const target = join(place, path.split('/').at(-1)!);
          // A publisher changes all documents of a file at once.
          if (zipped)
            await rewriteZip(target, (each, before) =>
              each === name ? changed : (attributeVariants(each, before).find(([other]) => other === what)?.[1] ?? before),
            );
          else writeFileSync(join(place, name), changed);
          const [verdict] = (await validate([target], sources, null, () => undefined)).filter((each) => each.path === target);
          tried.push(what);
          const told = verdict!.findings.some(({ code, detail, hint }) => code !== 'FILE_UNKNOWN' && (detail ?? hint) !== undefined);
          if (verdict!.ok || !told) offences.push(`${target.split('/').at(-1)}!${name} ${what}: ${verdict!.ok ? 'accepted' : JSON.stringify(verdict!.findings)}`);
          rmSync(place, { recursive: true });
        }
      }
    }
    expect(offences).toEqual([]);
    if (['ade_cadastre', 'omi_quotations', 'istat_census', 'istat_boundaries', 'ispra_flood', 'ispra_landslide', 'ispra_shoreline'].includes(id)) expect(tried.length).toBeGreaterThan(1);
  });
});
