/** Tests the quality gate with damaged new files. Checks the publication and the records in the ledger. */
import { readdirSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readStatus } from '../../cli/status.ts';
import type { Context } from '../../pipelines/run/context.ts';
import type { MappaleError } from '../../pipelines/errors.ts';
import type { Violation } from '../../pipelines/build/gate-rule.ts';
import { publishedTables } from '../../pipelines/ledger/published.ts';
import { prune } from '../../pipelines/operate/prune.ts';
import { describeState, STATE_STATEMENT, type PublishedState } from '../../pipelines/operate/metrics.ts';
import { refresh } from '../../pipelines/run/refresh.ts';
import { laeaEurope } from '../../pipelines/synthetic/map-projection.ts';
import { boxPolygon, mapPoints, type Box } from '../../pipelines/synthetic/plane-geometry.ts';
import { shapefileParts } from '../../pipelines/synthetic/shapefile-writer.ts';
import { describeDatabase } from '../harness/database.ts';
import { freshContext } from '../harness/fresh-context.ts';
import { syntheticFiles, loadOptions } from '../harness/region.ts';
import { rewriteZip } from '../harness/rewrite-zip.ts';

const REGION = 14;
const WHO = { who: 'somebody@somewhere', why: 'the publisher confirms it' };

/** Applies a change to the cells of every line after the first `head` lines. Null removes the line. */
function eachLine(content: Buffer, head: number, change: (cells: string[], number: number, count: number) => string[] | null): Buffer {
  const lines = content.toString('latin1').split('\n');
  const body = lines.slice(head).filter((line) => line !== '');
  return Buffer.from([...lines.slice(0, head), ...body.flatMap((line, number) => change(line.split(';'), number, body.length)?.join(';') ?? []), ''].join('\n'), 'latin1');
}

/** Replaces all areas of some layers of the flood mosaic with one area, which is a box in degrees. */
async function floodOnly(path: string, layers: RegExp, box: Box): Promise<void> {
  const polygons = mapPoints([boxPolygon(box)], laeaEurope.forward);
  // The scenario is blank, so the class is in the file's name.
  const parts = shapefileParts({
    type: 'polygon', srid: 3035, fields: [{ name: 'scenario', type: 'text', length: 80 }],
    features: [{ geometry: { type: 'polygon', polygons }, values: [null] }],
  });
  await rewriteZip(path, (name, content) => {
    const extension = (['shp', 'shx', 'dbf'] as const).find((each) => name.endsWith(`.${each}`));
    return extension !== undefined && layers.test(name) ? parts[extension] : content;
  });
}

interface Damage {
  readonly what: string;
  /** Names of the files that are damaged. */
  readonly files: RegExp;
  edit(path: string): Promise<void>;
  /** Section, table and metric of the violations that the gate must report in each of `places`. */
  readonly says: Pick<Violation, 'section' | 'relation'> & { readonly figure: string };
  readonly places: readonly RegExp[];
  /** Returns whether the numbers of a reported violation fit the damage. */
  holds(violation: Violation): boolean;
}

const DAMAGES: readonly Damage[] = [
  {
    what: 'VALORI of OMI, cut after a third', files: /^QI_900021\.zip$/,
    edit: (path) => rewriteZip(path, (name, content) => (name.endsWith('VALORI.csv') ? eachLine(content, 2, (cells, number, count) => (number * 3 < count ? cells : null)) : content)),
    says: { section: 'valuation', relation: 'core.quotation', figure: 'rows' }, places: [/^province 094 Isernia, 2025_1$/],
    holds: ({ before, after }) => after! <= 0.9 * before!,
  },
  {
    what: 'MEF, all amounts times ten', files: /_comunale_CSV_\d{4}\.zip$/,
    edit: (path) => rewriteZip(path, (_name, content) => eachLine(content, 1, (cells) => cells.map((cell, column) => (column > 8 && column % 2 === 1 && /^-?[1-9]\d*\r?$/.test(cell) ? cell.replace(/\r?$/, '0$&') : cell)))),
    says: { section: 'economics', relation: 'core.declared_income', figure: 'total_income_eur, median' }, places: [/^province 070/, /^province 094/],
    holds: ({ before, after }) => Math.abs(after! / before! - 10) < 1e-6,
  },
  {
    what: 'ANNCSU without coordinates', files: /^indirizzario.*\.zip$/,
    edit: (path) => rewriteZip(path, (_name, content) => eachLine(content, 1, (cells) => cells.map((cell, column) => ([15, 16, 18].includes(column) ? '' : cell)))),
    says: { section: 'address', relation: 'core.access_point', figure: 'geom, share of non-null' }, places: [/^province 070/, /^Z001 Castel dell'Inventato$/],
    holds: ({ before, after }) => before! > 0.5 && after === 0,
  },
  {
    what: 'a census with two rows', files: /^R14_indicatori_2021_sezioni\.xlsx$/,
    edit: (path) => rewriteZip(path, (name, content) => (name.endsWith('sheet1.xml') ? Buffer.from(content.toString('utf8').replace(/(<row r="3">.*?<\/row>).*<\/sheetData>/s, '$1</sheetData>')) : content)),
    says: { section: 'demographics', relation: 'core.census_figures', figure: 'rows' }, places: [/^province 070/],
    holds: ({ before, after }) => after! <= 0.9 * before!,
  },
];

describeDatabase('the quality gate', (engine) => {
  let context: Context;
  let files: Awaited<ReturnType<typeof syntheticFiles>>;
  /** Content of the files before the damage, by path. */
  const whole = new Map<string, Buffer>();
  const options = (more = {}): ReturnType<typeof loadOptions> => loadOptions([files.folder], [REGION], more);

  /** Returns the partition and the digest of every published table, as JSON. */
  const readContent = async (): Promise<string> => {
    const tables = [...(await publishedTables(context.database, 0)), ...(await publishedTables(context.database, REGION))];
    return JSON.stringify(tables.map(([relation, { partition, digest }]) => [relation, partition, digest]).sort());
  };
  /** Returns the digest of every table in the result of `readContent`. */
  const digestsIn = (text: string): unknown => (JSON.parse(text) as string[][]).map(([relation, , digest]) => [relation, digest]);
  const accepted = async (): Promise<Record<string, unknown>> => (await context.database.query("select reason, accepted from ledger.publication where unit_code = $1 and state = 'current'", [REGION]))[0]!;
  const found = (pattern: RegExp): string[] => readdirSync(files.folder, { recursive: true, encoding: 'utf8' }).filter((name) => pattern.test(name.split('/').at(-1)!)).map((name) => join(files.folder, name));
  const refusal = async (): Promise<MappaleError> => {
    const report = await refresh(context, options());
    expect(report.failures.map(({ code, exitCode }) => [code, exitCode])).toEqual([['SUSPICIOUS', 5]]);
    return report.failures[0]!;
  };

  beforeAll(async () => {
    files = await syntheticFiles(900, 3, { everySemester: true });
    context = await freshContext(engine);
    const report = await refresh(context, options());
    expect(report.failures).toEqual([]);
  });
  afterAll(() => files.remove());

  it('accepts a first load, and then the same files again', async () => {
    expect(await accepted()).toEqual({ reason: null, accepted: null });
    const before = await readContent();
    await context.database.query("update ledger.publication_table set fingerprint = '', inputs = '{}'");
    const report = await refresh(context, options());
    expect(report.failures).toEqual([]);
    expect(report.units.find(({ unit }) => unit === REGION)!.built.length).toBeGreaterThan(15);
    expect(digestsIn(await readContent())).toEqual(digestsIn(before));
  });

  for (const damage of DAMAGES) {
    it(`refuses ${damage.what}, reports section, place and both numbers, and changes nothing`, async () => {
      const before = await readContent();
      const paths = found(damage.files);
      expect(paths.length).toBeGreaterThan(0);
      for (const path of paths) {
        whole.set(path, await readFile(path));
        await damage.edit(path);
      }
      const error = await refusal();
      const violations = error.data as readonly Violation[];
      for (const place of damage.places) {
        const said = violations.filter(
          ({ relation, section, figure, place: where }) =>
            relation === damage.says.relation && section === damage.says.section && figure === damage.says.figure && place.test(where),
        );
        expect(said.length, `${place} of ${JSON.stringify(violations.slice(0, 20), null, 1)}`).toBeGreaterThan(0);
        expect(said.filter((violation) => !damage.holds(violation))).toEqual([]);
      }
      const { state } = (await context.database.query<{ state: PublishedState }>(STATE_STATEMENT))[0]!;
      expect(state.failures).toContainEqual({ region: 'molise', source: null, exitCode: 5 });
      expect(state.refusals.find(({ region, section }) => region === 'molise' && section === damage.says.section)?.count).toBeGreaterThan(0);
      expect(await describeState(state, 'now')).toMatch(new RegExp(`mappale_gate_refusals_total\\{region="molise",section="${damage.says.section}"\\} [1-9]`));
      expect(error.region).toBe('molise');
      // The printed report contains the same numbers.
      expect(error.detail).toMatch(new RegExp(`${damage.says.section} +${damage.says.relation.replace('.', '\\.')} +\\S.* → `));
      expect(JSON.parse(JSON.stringify(error))).toMatchObject({ error: 'SUSPICIOUS', data: violations });
      expect(await readContent()).toBe(before);
    });

    it(`accepts ${damage.what} if the user gives a reason, and the ledger keeps user, reason and numbers`, async () => {
      const before = await readContent();
      const report = await refresh(context, options({ accept: WHO }));
      expect(report.failures).toEqual([]);
      expect(await readContent()).not.toBe(before);
      const { reason, accepted: kept } = (await accepted()) as { reason: string; accepted: { who: string; at: string; figures: Violation[] } };
      expect({ who: kept.who, why: reason }).toEqual(WHO);
      expect(kept.at).toMatch(/^\d{4}-\d\d-\d\dT[\d:]+Z$/);
      expect(kept.figures).toContainEqual(expect.objectContaining(damage.says));
      const status = await readStatus(context);
      expect(status.regions.find(({ unit }) => unit === REGION)).toMatchObject({ reason, accepted: kept });
      // The next load is compared with the accepted publication.
      await context.database.query("update ledger.publication_table set fingerprint = '', inputs = '{}'");
      expect((await refresh(context, options())).failures).toEqual([]);
      expect(await accepted()).toEqual({ reason: null, accepted: null });
      for (const path of found(damage.files)) await writeFile(path, whole.get(path)!);
      expect((await refresh(context, options({ accept: WHO }))).failures).toEqual([]);
    });
  }

  it('keeps only metrics of the current and the previous publication when the database is pruned', async () => {
    const measured = (published: boolean): Promise<unknown[]> => context.database.query(
      `select f.relation, f.partition, count(*)::int4 as places from ledger.figure f
       where $1 = exists (
         select from ledger.publication_table t join ledger.publication p using (publication_id)
         where t.relation = f.relation and t.partition = f.partition and p.state in ('current', 'previous')
       )
       group by 1, 2 order by 1, 2`, [published],
    );
    // Adds metrics of a table that an older publication had, so that there are such metrics even if no other test ran.
    await context.database.query(
      `insert into ledger.figure (relation, partition, slice, province, comune, rows, fields, identities, windows)
       select relation, 'parcel_14_0', slice, province, comune, rows, fields, identities, windows from ledger.figure where relation = 'core.parcel' limit 1`,
    );
    const kept = await measured(true);
    expect(kept.length).toBeGreaterThan(10);
    expect(await measured(false)).toContainEqual({ relation: 'core.parcel', partition: 'parcel_14_0', places: 1 });
    await prune(context.database, context.sources);
    expect([await measured(true), await measured(false)]).toEqual([kept, []]);
  });

  it('measures the current publication if the ledger has no metrics of this publication', async () => {
    await context.database.query('delete from ledger.figure');
    const [path] = found(/^indirizzario.*\.zip$/);
    const content = await readFile(path!);
    await DAMAGES[2]!.edit(path!);
    const violations = (await refusal()).data as readonly Violation[];
    expect(violations).toContainEqual(expect.objectContaining({ relation: 'core.access_point', figure: 'geom, share of non-null', after: 0 }));
    await writeFile(path!, content);
    expect((await refresh(context, options())).failures).toEqual([]);
  });

  it('refuses a cut VALORI file although the missing rows stay current from the previous file', async () => {
    const larger = await syntheticFiles(900, 3, { only: ['ade_cadastre', 'istat_comuni', 'omi_quotations'], comuni: 6 });
    try {
      const second = await freshContext(engine);
      const load = (more = {}): ReturnType<typeof refresh> => refresh(second, loadOptions([larger.folder], [REGION], more));
      expect((await load()).failures).toEqual([]);
      const path = readdirSync(larger.folder).filter((name) => /^QI_9\d+\.zip$/.test(name)).sort().map((name) => join(larger.folder, name)).at(-1)!;
      await DAMAGES[0]!.edit(path);
      const { failures } = await load();
      expect(failures.map(({ code }) => code)).toEqual(['SUSPICIOUS']);
      const missing = (failures[0]!.data as readonly Violation[]).filter(({ figure }) => /^zones that ZONE lists as quoted/.test(figure));
      expect(missing).toEqual([expect.objectContaining({ section: 'valuation', relation: 'core.quotation_zone', before: 0 })]);
      expect(missing[0]!.after).toBeGreaterThan(0.3);
      // An accepted difference is not reported again.
      expect((await load({ accept: WHO })).failures).toEqual([]);
      await second.database.query("update ledger.publication_table set fingerprint = '', inputs = '{}'");
      expect((await load()).failures).toEqual([]);
    } finally {
      await larger.remove();
    }
  });

  it('refuses one flood polygon over the complete region if the published areas covered less than half of each province', async () => {
    const flooded = await syntheticFiles(900, 3, { only: ['ade_cadastre', 'istat_comuni', 'istat_boundaries', 'ispra_flood'] });
    try {
      const path = join(flooded.folder, readdirSync(flooded.folder).find((name) => /aree_pericolosita_idraulica\.zip$/.test(name))!);
      const [west, south, east, north] = flooded.region.box;
      await floodOnly(path, /./, [west, south, east, south + (north - south) / 5]);
      const second = await freshContext(engine);
      const load = (more = {}): ReturnType<typeof refresh> => refresh(second, loadOptions([flooded.folder], [REGION], more));
      expect((await load()).failures).toEqual([]);
      await floodOnly(path, /_elevata\.\w+$/, [west - 0.01, south - 0.01, east + 0.01, north + 0.01]);
      const { failures } = await load();
      expect(failures.map(({ code, exitCode }) => [code, exitCode])).toEqual([['SUSPICIOUS', 5]]);
      const gained = (failures[0]!.data as readonly Violation[]).filter(({ figure }) => figure === 'flood_level, share of non-null');
      expect(gained.map(({ section, relation, place }) => [section, relation, place.slice(0, 'province 070'.length)]).sort()).toEqual([
        ['risk', 'section.risk', 'province 070'], ['risk', 'section.risk', 'province 094'],
      ]);
      for (const { before, after } of gained) expect([before! > 0 && before! < 0.5, after]).toEqual([true, 1]);
      expect((await load({ accept: WHO })).failures).toEqual([]);
    } finally {
      await flooded.remove();
    }
  });

  it('is not reached by EGMS velocities multiplied by 1,000, because too many rows of the tile are rejected, and leaves the publication unchanged', async () => {
    expect((await refresh(context, options({ accept: WHO }))).failures).toEqual([]);
    const before = await readContent();
    const paths = found(/^EGMS_L3_E\d{2}N\d{2}_100km_U_2020_2024_1\.zip$/);
    expect(paths.length).toBeGreaterThan(0);
    for (const path of paths) {
      whole.set(path, await readFile(path));
      // The sixth column is the mean velocity.
      await rewriteZip(path, (name, content) => {
        if (!name.endsWith('.csv')) return content;
        const scaled = content.toString('latin1')
          .replace(/^((?:[^,\n]*,){5})(-?\d+\.\d)/gm, (_all, start: string, velocity: string) => `${start}${(Number(velocity) * 1000).toFixed(1)}`);
        return Buffer.from(scaled, 'latin1');
      });
    }
    const report = await refresh(context, options());
    expect(report.failures.map(({ code, exitCode }) => [code, exitCode])).toEqual([['TOO_MANY_REJECTS', 4]]);
    expect(report.failures[0]!.message).toContain('egms_vertical');
    expect(await readContent()).toBe(before);
    for (const path of paths) await writeFile(path, whole.get(path)!);
    expect((await refresh(context, options())).failures).toEqual([]);
    expect(digestsIn(await readContent())).toEqual(digestsIn(before));
  });

  it('refuses VALORI cut after a third, and incomes times ten, on a first load, but compares no numbers of rows', async () => {
    const first = await freshContext(engine);
    const damaged = DAMAGES.filter(({ says }) => says.relation !== 'core.access_point');
    for (const damage of damaged) for (const path of found(damage.files)) {
      whole.set(path, await readFile(path));
      await damage.edit(path);
    }
    const report = await refresh(first, options());
    for (const damage of damaged) for (const path of found(damage.files)) await writeFile(path, whole.get(path)!);
    expect(report.failures.map(({ code, exitCode }) => [code, exitCode])).toEqual([['SUSPICIOUS', 5]]);
    const refused = report.failures[0]!.data as readonly Violation[];
    expect(new Set(refused.map(({ relation, figure, before, limit }) => [relation, figure, before, limit].join('|')))).toEqual(new Set([
      'core.quotation_zone|zones that ZONE lists as quoted but that have no row in VALORI, share||0.10', 'core.declared_income|average_income_eur, median||8000 … 60000',
    ]));
    expect(refused.map(({ place }) => place)).toEqual(expect.arrayContaining(['all rows, 2025_1', 'province 070 Campobasso, without cap', 'province 094 Isernia, without cap']));
    expect(await publishedTables(first.database, REGION)).toEqual(new Map());
    expect((await refresh(first, options())).failures).toEqual([]);
  });
});
