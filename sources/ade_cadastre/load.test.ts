/**
 * Tests the load from staged parcels to layers on both engines: which rows SQL repairs, drops and rejects, and which warnings are printed. The expected values
 * were calculated by hand.
 */
import { openRun } from '../../test/harness/run.ts';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Database } from '../../pipelines/db/index.ts';
import { SILENT, type Log } from '../../pipelines/log.ts';
import { registerSource, type RegisteredSource } from '../../pipelines/contract/registry.ts';
import { load, type Loaded } from '../../pipelines/ingest/load.ts';
import { locate } from '../../pipelines/ingest/locate.ts';
import { stage } from '../../pipelines/ingest/stage.ts';
import { describeDatabase } from '../../test/harness/database.ts';
import { createTables } from '../../test/harness/functions.ts';

const FIXTURES = fileURLToPath(new URL('./fixture/', import.meta.url));

interface Refused {
  readonly code: string;
  readonly message: string;
  readonly raw: string;
}

interface Parcel {
  readonly reference: string;
  readonly belfiore: string;
  readonly section: string | null;
  readonly sheet: string;
  readonly attachment: string;
  readonly development: string;
  readonly label: string;
  readonly gml_id: string;
  readonly kind: string;
  readonly made_valid: boolean;
  readonly administrative_unit: string | null;
  readonly file_belfiore: string | null;
  /** Area in square degrees. */
  readonly area: number;
  readonly polygons: number;
  readonly west: number;
  readonly south: number;
  readonly srid: number;
  readonly valid: boolean;
}

describeDatabase('the layers of the cadastre', (engine) => {
  let database: Database;
  let cadastre: RegisteredSource;
  let folder: string;
  let count = 0;
  let warnings: string[] = [];
  const log: Log = { ...SILENT, debug: (message) => void warnings.push(message) };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mappale-cadastre-load-'));
    database = await engine.openDatabase();
    cadastre = await registerSource('ade_cadastre');
    await database.session(createTables);
    await database.script(cadastre.layer.text, cadastre.layer.file);
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  async function loadFile(source: RegisteredSource, path: string): Promise<Loaded> {
    warnings = [];
    const survey = await locate([path], [source], { get: () => undefined, set: () => undefined });
    const [located] = survey.releases;
    const staged = await stage(database, located!, `test ${(count += 1)}`, () => undefined, log);
    return load(database, staged, await openRun(database), log);
  }

  async function loadFixture(name: string): Promise<{ loaded: Loaded; parcels: Parcel[]; refused: Refused[] }> {
    // Uses a folder with only this file, because the survey also reads the folder's other files.
    const path = join(folder, name);
    await cp(join(FIXTURES, name), path);
    const loaded = await loadFile(cadastre, path);
    await rm(path);
    const parcels = await database.query<Parcel & Record<string, unknown>>(
      `select reference, belfiore, section, sheet, attachment, development, label, gml_id, kind, made_valid, administrative_unit, file_belfiore,
              st_area(geom) as area, st_numgeometries(geom) as polygons, st_xmin(geom) as west, st_ymin(geom) as south, st_srid(geom) as srid, st_isvalid(geom) as valid
       from layer.cadastral_parcel where release_id = $1 order by member_id, position`, [loaded.releaseId],
    );
    const refused = await database.query<Refused & Record<string, unknown>>(
      "select code, message, convert_from(raw, 'UTF8') as raw from ledger.reject where release_id = $1 order by member_id, position", [loaded.releaseId],
    );
    for (const { srid, valid } of parcels) expect({ srid, valid }).toEqual({ srid: 4326, valid: true });
    return { loaded, parcels, refused };
  }

  const near = (value: number): unknown => expect.closeTo(value, 12);
  const SQUARE = 0.0005 ** 2;

  it('contain the identifiers of each parcel, derived from the reference, and the polygon', async () => {
    const { parcels, loaded } = await loadFixture('parcels.gml');
    expect(loaded).toMatchObject({ records: 3, rows: 3, rejects: 0, duplicates: 0 });
    expect(parcels[2]).toEqual({
      reference: 'Z001_001200.345', belfiore: 'Z001', section: null, sheet: '0012', attachment: '0', development: '0', label: '345',
      gml_id: 'CadastralParcel.IT.AGE.PLA.Z001_001200.345', kind: 'land', made_valid: false, administrative_unit: null, file_belfiore: null,
      area: near(SQUARE), polygons: 1, west: near(14.501), south: near(41.502), srid: 4326, valid: true,
    });
    expect(warnings).toEqual(['ade_cadastre: expected: the sheet of every parcel is in the list of sheets. Violating rows: 2']);
  });

  it('keep holes, and polygons with several parts', async () => {
    const { parcels } = await loadFixture('multisurface-with-one-polygon-and-hole.gml');
    expect(parcels.map(({ area, polygons }) => ({ area, polygons }))).toEqual([
      { area: near(SQUARE - 0.0002 ** 2), polygons: 1 },
      { area: near(2 * SQUARE - 0.0002 ** 2), polygons: 2 },
      { area: near(SQUARE), polygons: 1 },
    ]);
  });

  it('distinguish sections, attachments and developments', async () => {
    const sections = await loadFixture('sections-a-and-b.gml');
    expect(sections.parcels.map(({ section, sheet, label }) => ({ section, sheet, label }))).toEqual([
      { section: 'A', sheet: '0001', label: '1' }, { section: 'B', sheet: '0001', label: '1' },
    ]);
    const { parcels } = await loadFixture('attachment-letter.gml');
    expect(parcels.map(({ sheet, attachment, development, label }) => ({ sheet, attachment, development, label }))).toEqual([
      { sheet: '0025', attachment: 'D', development: '0', label: '2365' }, { sheet: '0025', attachment: '0', development: '1', label: '7' },
    ]);
  });

  it('recognise roads and water only by their labels', async () => {
    const { parcels } = await loadFixture('labels-with-letters.gml');
    expect(parcels.map(({ label, kind }) => `${label}: ${kind}`)).toEqual([
      'A: land', '12/A: land', 'STRADA001: road', 'ACQUA005: water', '1.2: land', 'STRADARIO: land', '12 BIS: land',
    ]);
  });

  it('recognise roads and waters with any suffix, such as STRADA001B', async () => {
    const { parcels } = await loadFixture('roads-and-waters-with-suffixes.gml');
    expect(parcels.map(({ label, kind }) => `${label}: ${kind}`)).toEqual([
      'STRADA001B: road', 'STRADA001/B: road', 'STRADA002-BIS: road', 'strada003: road', 'Strada: road', 'STRADAA: road', 'STRADA 004 A: road', 'STRADABIS: road',
      'ACQUA12A: water', 'ACQUA001/B: water', 'acqua005b: water', 'ACQUA: water', 'STRADARIO: land', 'ACQUARIO: land', 'BSTRADA001: land',
    ]);
  });

  it('keep each reference once, count repeated records and reject contradicting records', async () => {
    const { loaded, parcels, refused } = await loadFixture('duplicated-ids.gml');
    expect(loaded).toMatchObject({ records: 5, rows: 2, rejects: 2, duplicates: 1 });
    expect(parcels.map(({ reference, south }) => ({ reference, south }))).toEqual([
      { reference: 'Z001_000100.1', south: near(41.5) }, { reference: 'Z001_000100.2', south: near(41.501) },
    ]);
    expect(refused.map(({ code, raw }) => [code, raw.slice(0, 37)])).toEqual([
      ['reference_conflict', 'Z001_000100.2 SRID=6706;MULTIPOLYGON('], ['reference_conflict', 'Z001_000100.1 SRID=6706;MULTIPOLYGON('],
    ]);
    expect(await database.query('select code, records from ledger.duplicate where release_id = $1', [loaded.releaseId])).toEqual([{ code: 'same_parcel', records: 1 }]);
  });

  it('keep each sheet once if a parcel file contains the map of sheets', async () => {
    const { loaded } = await loadFixture('stray-map-file.zip');
    expect(loaded).toMatchObject({ records: 2, rows: 1, rejects: 0, duplicates: 1 });
    expect(await database.query('select code from ledger.duplicate where release_id = $1', [loaded.releaseId])).toEqual([{ code: 'same_sheet' }]);
  });

  it('repair a polygon that crosses itself, and set made_valid', async () => {
    const { parcels } = await loadFixture('self-intersection.gml');
    // A bow tie: two triangles that meet in the middle of the square.
    expect(parcels.map(({ made_valid, area, polygons }) => ({ made_valid, area, polygons }))).toEqual([
      { made_valid: true, area: near(SQUARE / 2), polygons: 2 }, { made_valid: false, area: near(SQUARE), polygons: 1 },
    ]);
  });

  it('reject a parcel whose outer ring has too few points for an area, and drop holes that have too few points', async () => {
    const { loaded, parcels, refused } = await loadFixture('too-few-points.gml');
    expect(loaded).toMatchObject({ records: 4, rows: 2, rejects: 2, duplicates: 0 });
    expect(refused.map(({ code, raw }) => [code, raw.split(' ')[0]])).toEqual([['geometry_empty', 'Z001_000100.1'], ['geometry_empty', 'Z001_000100.2']]);
    expect(parcels.map(({ reference, made_valid, area }) => ({ reference, made_valid, area }))).toEqual([
      { reference: 'Z001_000100.3', made_valid: true, area: near(SQUARE) }, { reference: 'Z001_000100.4', made_valid: false, area: near(SQUARE) },
    ]);
  });

  it('keep sheets with their dates and scales', async () => {
    const { loaded } = await loadFixture('sheets.gml');
    expect(await database.query(
      `select reference, belfiore, sheet, attachment, development, label, gml_id, begin_date::text, end_date::text, scale_denominator, made_valid
       from layer.cadastral_sheet where release_id = $1 order by position`, [loaded.releaseId],
    )).toEqual([
      { reference: 'Z001_000100', sheet: '0001', attachment: '0', development: '0', label: '1', begin_date: '2026-07-09', scale_denominator: 2000 },
      { reference: 'Z001_0013A0', sheet: '0013', attachment: 'A', development: '0', label: '13A', begin_date: null, scale_denominator: null },
      { reference: 'Z001_0001B0', sheet: '0001', attachment: 'B', development: '0', label: '1B', begin_date: '1985-01-01', scale_denominator: 4000 },
      { reference: 'Z001_1234QU', sheet: '1234', attachment: 'Q', development: 'U', label: '1234Q', begin_date: null, scale_denominator: 2000 },
    ].map((row) => ({ ...row, belfiore: 'Z001', gml_id: `CadastralZoning.IT.AGE.MAP.${row.reference}`, end_date: null, made_valid: false })));
  });

  it('keep a parcel whose comune differs from ADMINISTRATIVEUNIT or from the file name, and warn about the file name', async () => {
    const { parcels } = await loadFixture('file-of-another-comune.zip');
    expect(parcels.map(({ reference, file_belfiore }) => ({ reference, file_belfiore }))).toEqual([
      { reference: 'Z001_000100.1', file_belfiore: 'Z009' }, { reference: 'Z009_000100.1', file_belfiore: null },
    ]);
    expect(warnings).toContain('ade_cadastre: expected: the file name and ADMINISTRATIVEUNIT name the same comune as the reference of the parcel. Violating rows: 1');
    const contradicting = await loadFixture('names-that-contradict.gml');
    expect(contradicting.parcels.map(({ reference, administrative_unit }) => ({ reference, administrative_unit }))).toEqual([{ reference: 'Z001_000100.5', administrative_unit: 'Z009' }]);
  });

  it('reject each parcel outside Italy, and ask whether the axes were swapped only if the swapped position is in Italy', async () => {
    const { loaded, parcels, refused } = await loadFixture('axes-exchanged.gml');
    expect(loaded).toMatchObject({ records: 3, rows: 1, rejects: 2 });
    expect(parcels.map(({ reference }) => reference)).toEqual(['Z001_000100.A']);
    expect(refused.map(({ code, message }) => [code, message.includes('swapped?')])).toEqual([['coordinates_swapped', true], ['outside_italy', false]]);
  });

  it('account for every record of a whole region as a row, a reject or a duplicate', async () => {
    const { loaded, parcels, refused } = await loadFixture('MOLISE.zip');
    expect(loaded).toMatchObject({ records: 12, rows: 10, rejects: 1, duplicates: 1 });
    expect(refused.map(({ code, message }) => [code, message])).toEqual([
      ['xml_malformed', 'expected well-formed XML, found: an ampersand that begins no entity (line 16, column 74)'],
    ]);
    expect(parcels.map(({ reference }) => reference)).toEqual(['Z001_000100.1', 'Z001_000100.STRADA001', 'Z002A000100.1', 'Z002B000100.1', 'Z003_000100.2']);
    expect(warnings).toEqual([]);
  });

  it('reject parcels of the pseudo-comune A000, and keep parcels of other comuni even if no list of comuni is loaded', async () => {
    const { loaded, parcels, refused } = await loadFixture('unknown-comune-a000.gml');
    expect(loaded).toMatchObject({ records: 2, rows: 1, rejects: 1 });
    expect(parcels.map(({ reference }) => reference)).toEqual(['Z001_000100.1']);
    expect(refused.map(({ code, message, raw }) => [code, message, raw.split(' ')[0]])).toEqual([
      ['comune_unknown', 'expected the cadastral code of a comune, found A000', 'A000W000200.STRADA001'],
    ]);
  });
});
