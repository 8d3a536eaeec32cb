import { openRun } from '../harness/run.ts';
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { parseTitle } from '../../sources/omi_quotations/schema.ts';
import source from '../../sources/omi_quotations/source.ts';
import { SILENT } from '../../pipelines/log.ts';
import { registerSource } from '../../pipelines/contract/registry.ts';
import { currentPlaces } from '../../pipelines/ledger/current-files.ts';
import { Inventory } from '../../pipelines/ledger/inventory.ts';
import { load, type Loaded } from '../../pipelines/ingest/load.ts';
import { locate } from '../../pipelines/ingest/locate.ts';
import { refuseTies } from '../../pipelines/ledger/places.ts';
import { stage } from '../../pipelines/ingest/stage.ts';
import type { Database } from '../../pipelines/db/index.ts';
import { describeEngines } from '../harness/database.ts';
import { createTables } from '../harness/functions.ts';
import { realData } from '../harness/real-data.ts';
import { trial } from '../harness/trial.ts';

const real = (path: string): string => realData(`omi/${path}`)!;
const absent = realData('omi') === null;
const MILANO = 'milano_2024-2_2025-1';

describe('the real files of the OMI', () => {
  it.skipIf(absent).each([
    ['nazionale/2017-1.zip', 'ARCHIVE', '2017_1', [161_999, 27_355]],
    ['nazionale/2017-2.zip', 'ARCHIVE', '2017_2', [162_080, 27_356]],
    [`${MILANO}/QI_1292013_1_20251_VALORI.csv`, 'VALORI', '2025_1', [446]],
    [`${MILANO}/QI_1292013_1_20251_ZONE.csv`, 'ZONE', '2025_1', [43]],
    [`${MILANO}/QI_1292023_1_20242_VALORI.csv`, 'VALORI', '2024_2', [446]],
    [`${MILANO}/F205 - Comune di MILANO 2025-1.kmz`, 'ARCHIVE', '2025_1', [43]],
    [`${MILANO}/kml/F205 - Comune di MILANO 2025-1.kml`, 'PERIMETER', '2025_1', [43]],
    ['napoli/QI_681_3_20142_VALORI.csv', 'VALORI', '2014_2', [482]],
    ['napoli/QI_681_3_20142_ZONE.csv', 'ZONE', '2014_2', [65]],
    ['napoli/QI_681_2_20151_VALORI.csv', 'VALORI', '2015_1', [483]],
    ['napoli/QI_681_1_20152_VALORI.csv', 'VALORI', '2015_2', [483]],
  ])('are read to the last record: %s', async (path, role, vintage, records) => {
    const { recognition, collected } = await trial(source, real(path));
    expect(recognition).toMatchObject({ role, vintage, complete: false });
    expect(collected!.members.map((member) => [member.records, member.rows, member.rejects.length])).toEqual(records.map((n) => [n, n, 0]));
  });

  it.skipIf(absent)('have the perimeters of a provincia\'s 25 comuni and no perimeter in the index', async () => {
    const { recognition, collected } = await trial(source, real('Provincia di GORIZIA 2018-2.kmz'));
    expect(recognition).toMatchObject({ role: 'ARCHIVE', vintage: '2018_2' });
    expect(collected!.members).toHaveLength(26);
    expect(collected!.members[0]!.records).toBe(0);
    expect(collected!.rows['raw_perimeter']).toHaveLength(85);
    expect(new Set(collected!.rows['raw_perimeter']!.map(({ belfiore }) => belfiore)).size).toBe(25);
  });

  it.skipIf(absent)('have the same 43 zones of Milano in the table and in the perimeters', async () => {
    const zones = (await trial(source, real(`${MILANO}/QI_1292013_1_20251_ZONE.csv`))).collected!.rows['raw_zone']!;
    const perimeters = (await trial(source, real(`${MILANO}/F205 - Comune di MILANO 2025-1.kmz`))).collected!.rows['raw_perimeter']!;
    const keys = (rows: readonly Record<string, unknown>[]): string[] => rows.map(({ belfiore, zona }) => `${String(belfiore)} ${String(zona)}`).sort();
    expect(keys(perimeters)).toEqual(keys(zones));
  });

  it.skipIf(absent)('are read with the prices and rents of Milano that the lines of the file state', async () => {
    const path = real(`${MILANO}/QI_1292013_1_20251_VALORI.csv`);
    const [title, header, ...lines] = readFileSync(path, 'latin1').trimEnd().split('\n') as [string, string, ...string[]];
    expect(parseTitle(title)).toMatchObject({ semester: { text: '2025_1' } });
    const names = header.split(';');
    const number = (text: string): number | null => (Number(text.replace(',', '.')) === 0 ? null : Number(text.replace(',', '.')));
    const plain = lines.map((line) => {
      const cells = line.split(';');
      return ['Compr_min', 'Compr_max', 'Loc_min', 'Loc_max'].map((name) => number(cells[names.indexOf(name)]!));
    });
    const rows = (await trial(source, path)).collected!.rows['raw_quotation']!;
    expect(rows.map((row) => [row['purchase_min_eur_m2'], row['purchase_max_eur_m2'], row['rental_min_eur_m2_month'], row['rental_max_eur_m2_month']])).toEqual(plain);
  });
});

describeEngines('the real half-years of the OMI', (engine) => {
  let database: Database;
  const loaded: Loaded[] = [];

  beforeAll(async () => {
    if (absent) return;
    database = await engine.openDatabase();
    const registered = await registerSource('omi_quotations');
    await database.session(async (session) => {
      await createTables(session);
      await session.script(registered.layer.text, registered.layer.file);
    });
    const survey = await locate([realData('omi')!], [registered], { get: () => undefined, set: () => undefined });
    expect(survey.broken).toEqual([]);
    expect(survey.unknown).toEqual([]);
    const run = await openRun(database);
    for (const located of survey.releases) {
      const staged = await stage(database, located, located.vintage, () => undefined, SILENT);
      loaded.push(await load(database, staged, run, SILENT));
    }
  });

  it.skipIf(absent)('are counted completely, record by record, and pass their checks', () => {
    expect(loaded).toHaveLength(8);
    for (const { records, rows, rejects, duplicates } of loaded) expect(records).toBe(rows + rejects + duplicates);
    expect(loaded.reduce((sum, { rejects }) => sum + rejects, 0)).toBe(0);
  });

  it.skipIf(absent)('have the perimeters of Milano once for each file, KML and KMZ, and use one of the two files', async () => {
    const [found] = await database.query<{ n: number; valid: number }>("select count(*)::int4 as n, count(*) filter (where st_isvalid(geom))::int4 as valid from layer.omi_perimeter where belfiore = 'F205'");
    expect(found).toEqual({ n: 86, valid: 86 });
    const inventory = await Inventory.read(database, [await registerSource('omi_quotations')]);
    const { files, ties } = inventory.current(0, 'layer.omi_perimeter');
    expect(files.filter((each) => currentPlaces({ ...inventory.current(0, 'layer.omi_perimeter'), files: [each] }, 'omi_perimeter').includes('F205'))).toHaveLength(1);
    expect(ties).toHaveLength(1);
    await expect(refuseTies(database, [await registerSource('omi_quotations')], [{ relation: 'layer.omi_perimeter', current: inventory.current(0, 'layer.omi_perimeter') }])).resolves.toBeUndefined();
  });

  it.skipIf(absent)('assign a point of Milano to one zone, which has quotations', async () => {
    const rows = await database.query<{ zona: string; quotations: number }>(
      `select p.zona, (select count(*)::int4 from layer.omi_quotation q where q.half_year = p.half_year and q.belfiore = p.belfiore and q.zona = p.zona) as quotations
       from (select distinct on (zona) * from layer.omi_perimeter) p where st_covers(p.geom, st_setsrid(st_makepoint(9.1905, 45.4640), 4326))`,
    );
    expect(rows).toHaveLength(1);
    expect(rows[0]!.quotations).toBeGreaterThan(0);
  });
}, ['postgres']);
