/** Tests the coverage of hazard maps with partial files, maps of Italy, and several files. All comuni and areas are rectangles. */
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { ROOT } from '../../../pipelines/config.ts';
import { readSqlFile } from '../../../pipelines/contract/sql-files.ts';
import type { Database } from '../../../pipelines/db/index.ts';
import { randomOf } from '../../../pipelines/synthetic/random.ts';
import { describeDatabase } from '../../../test/harness/database.ts';
import { createFunctions } from '../../../test/harness/functions.ts';
import { rolledBack } from '../../../test/harness/rolled-back.ts';

const COVERAGE = readSqlFile(join(ROOT, 'sql/core/coverage.sql')).text;

/**
 * Six comuni in a row from 14° E 41° N. Each comune is a square of 0.1 degree with a parcel in the middle and a parcel in a corner. Z006 is not in the list of
 * comuni.
 */
const COMUNI = ['Z001', 'Z002', 'Z003', 'Z004', 'Z005', 'Z006'] as const;
type Comune = (typeof COMUNI)[number];
const westOf = (comune: Comune): number => 14 + COMUNI.indexOf(comune) / 10;

const SETUP = `
  create schema cases;
  set search_path to cases, public;
  create table region as select 14::int2 as code, 'Molise' as name;
  create table current_member (member_id int4, release_id int4, file_id int4, rank int4, may_be_cut bool default false);
  create table parcel (fid int4, belfiore text, area_m2 float8, point geometry(point, 4326), geom geometry(multipolygon, 4326));
  create table comune_code (belfiore text, istat_code text, province_historic_code text, region_code int2);
  create table comune_register (belfiore text, old_istat_code text, istat_code text, divided bool);
  create table boundary (member_id int4, position int8, kind text, code text, belfiore text, geom geometry(multipolygon, 4326), release_id int4, area_m2 float8);
  create table flood_coverage (release_id int4, member_id int4, position int8, class text, missing_provinces text[], regions int2[]);
  create table flood_hazard_piece (member_id int4, position int8, class text, geom geometry(polygon, 4326));
  create table landslide_coverage (release_id int4, member_id int4, position int8, regions int2[]);
  create table landslide_hazard_piece (member_id int4, position int8, class text, geom geometry(polygon, 4326));
  create table shoreline_coverage (release_id int4, member_id int4, position int8, regions int2[]);
  create table shoreline_segment (release_id int4, member_id int4, position int8, dynamic text, avg_change_m_year float8, geom geometry(multilinestring, 4326));
  create index on parcel using gist (geom);
  create index on parcel using gist (point);

  create view ground as
  select name as belfiore, 14 + (n - 1) / 10.0 as west
  from unnest(array['${COMUNI.join("', '")}']) with ordinality as comune (name, n);
  insert into parcel
  select 1400000000 + row_number() over (), belfiore, 400, st_pointonsurface(square), st_multi(square)
  from ground
  cross join (values (0.05, 0.05), (0.001, 0.099)) as place (x, y)
  cross join lateral (select st_makeenvelope(west + x, 41 + y, west + x + 0.0002, 41 + y + 0.0002, 4326) as square) as drawn;
  insert into comune_code
  select belfiore, case when belfiore < 'Z004' then '094' else '070' end || '90' || right(belfiore, 1), case when belfiore < 'Z004' then '094' else '070' end, 14
  from ground where belfiore <> 'Z006';
  insert into comune_register select belfiore, istat_code, istat_code, false from comune_code;
`;

/**
 * Returns statements that insert the boundaries of the given comuni as rows of one separate file. The boundaries have current ISTAT codes, except the boundary
 * of Z006, which names its comune.
 */
function boundaries(comuni: readonly Comune[]): string {
  return `insert into current_member values (90, 9, 90, 1);
    insert into boundary select 90, row_number() over (), 'comune', coalesce(istat_code, '070999'), case when istat_code is null then belfiore end, st_multi(st_makeenvelope(west, 41, west + 0.1, 41.1, 4326))
    from ground left join comune_code using (belfiore) where belfiore = any ('{${comuni.join(', ')}}');`;
}

type Theme = 'flood_P1' | 'flood_P2' | 'flood_P3' | 'landslide';
const THEMES: readonly Theme[] = ['flood_P1', 'flood_P2', 'flood_P3', 'landslide'];

interface Area {
  readonly theme: Theme;
  readonly comune: Comune;
  /** West, south, east and north, in thousandths of the side of the comune. */
  readonly box?: readonly [number, number, number, number];
}

/** A file of hazard maps. The newest file has rank 1. */
interface File {
  readonly rank: number;
  readonly areas: readonly Area[];
  /** Codes of the regions that the file reaches. By default, Lazio, Abruzzo, Molise and Campania. */
  readonly regions?: readonly number[];
  /** Historic codes of the provinces that are missing in the areas of class P3. By default, none. */
  readonly missing?: readonly string[];
}

const ITALY = Array.from({ length: 15 }, (_, i) => i + 1);
const WHOLE = [0, 0, 1000, 1000] as const;

/** Returns statements that load the files. Member numbers decrease, because results must not depend on these numbers. */
function written(files: readonly File[]): string {
  return files.map(({ rank, areas, regions = [12, 13, 14, 15], missing = [] }, index) => {
    const member = 50 - 3 * index;
    const lines = [`insert into current_member values (${member}, ${member}, ${200 - index}, ${rank});`];
    for (const theme of new Set(areas.map((area) => area.theme))) {
      const [table, level] = theme === 'landslide' ? ['landslide', "'P2'"] : ['flood', `'${theme.slice(-2)}'`];
      const first = areas.findIndex((area) => area.theme === theme) + 1;
      lines.push(table === 'flood'
        ? `insert into flood_coverage values (${member}, ${member}, ${first}, ${level}, '{${theme === 'flood_P3' ? missing.join() : ''}}', '{${regions.join()}}');`
        : `insert into landslide_coverage values (${member}, ${member}, ${first}, '{${regions.join()}}');`);
      areas.forEach((area, position) => {
        if (area.theme !== theme) return;
        const [west, south, east, north] = (area.box ?? WHOLE).map((n) => n / 10_000) as [number, number, number, number];
        const x = westOf(area.comune);
        lines.push(`insert into ${table}_hazard_piece values (${member}, ${position + 1}, ${level}, st_makeenvelope(${x + west}, ${41 + south}, ${x + east}, ${41 + north}, 4326));`);
      });
    }
    return lines.join('\n');
  }).join('\n');
}

/** Index of the file that covers each comune and theme, with `theme comune` as the key. */
type Verdict = Record<string, number>;

describeDatabase('the coverage of hazard maps', (engine) => {
  let database: Database;
  beforeAll(async () => {
    database = await engine.openDatabase();
    await database.session(createFunctions);
  });

  const inCase = <T>(statements: string, work: (query: <R extends Record<string, unknown>>(text: string) => Promise<R[]>) => Promise<T>): Promise<T> =>
    rolledBack(database, async (session) => {
      await session.script(SETUP, 'setup');
      await session.script(statements, 'test');
      return await work((text) => session.query(text));
    });

  const build = (files: readonly File[], statements: string): Promise<Verdict> => inCase(`${statements}\n${written(files)}\n${COVERAGE}`, async (query) => {
    const rows = await query<{ theme: string; belfiore: string; mapped: boolean; member_id: number | null; position: number | null }>('select theme, belfiore, mapped, member_id, position from coverage');
    const themes = new Set(files.flatMap(({ areas }) => areas.map(({ theme }) => theme)));
    // Every loaded theme has a row for every comune. Themes that are not loaded have no row.
    expect(rows).toHaveLength(themes.size * COMUNI.length);
    for (const { mapped, member_id: member, position } of rows) expect([member === null, position === null]).toEqual([!mapped, !mapped]);
    return Object.fromEntries(rows.filter(({ mapped }) => mapped).map(({ theme, belfiore, member_id: member }) => [`${theme} ${belfiore}`, (50 - member!) / 3]));
  });

  const areas = (themes: readonly Theme[], comuni: readonly Comune[], box?: Area['box']): Area[] => themes.flatMap((theme) => comuni.map((comune) => ({ theme, comune, ...(box === undefined ? {} : { box }) })));

  it('reports only one comune as mapped if the hazard files have areas only in that comune, with and without boundaries', async () => {
    for (const drawn of [COMUNI, []]) {
      expect(await build([{ rank: 1, areas: areas(THEMES, ['Z002']) }], boundaries(drawn))).toEqual({ 'flood_P1 Z002': 0, 'flood_P2 Z002': 0, 'flood_P3 Z002': 0, 'landslide Z002': 0 });
    }
  });

  it('treats the scenarios P1 and P3 as separate maps', async () => {
    expect(await build([{ rank: 1, areas: areas(['flood_P1'], ['Z001', 'Z003']) }], boundaries(COMUNI))).toEqual({ 'flood_P1 Z001': 0, 'flood_P1 Z003': 0 });
    expect(await build([{ rank: 1, areas: areas(['flood_P3'], ['Z001']) }], boundaries(COMUNI))).toEqual({ 'flood_P3 Z001': 0 });
  });

  it('covers all Italy except listed provinces for a map of 15 regions, and only the comuni with areas for a map of 14 regions', async () => {
    const everywhere = (themes: readonly Theme[], comuni: readonly Comune[] = COMUNI): Verdict => Object.fromEntries(themes.flatMap((theme) => comuni.map((comune) => [`${theme} ${comune}`, 0])));
    // The file has areas in only one comune of the region.
    const italy: File = { rank: 1, areas: areas(['flood_P1', 'flood_P3'], ['Z001']), regions: ITALY };
    expect(await build([italy], boundaries(COMUNI))).toEqual(everywhere(['flood_P1', 'flood_P3']));
    expect(await build([{ ...italy, missing: ['094', '021'] }], boundaries(COMUNI))).toEqual({
      ...everywhere(['flood_P1']),
      // Z006 is not in the list of comuni, so it may be in a missing province.
      ...everywhere(['flood_P3'], ['Z004', 'Z005']),
    });
    // The missing provinces are in other regions.
    expect(await build([{ ...italy, missing: ['021', '041'] }], boundaries(COMUNI))).toEqual(everywhere(['flood_P1', 'flood_P3']));
    // If the list of comuni is not loaded, the comuni of the missing provinces are unknown.
    expect(await build([{ ...italy, missing: ['021'] }], 'delete from comune_code; delete from comune_register;')).toEqual(everywhere(['flood_P1']));
    expect(await build([{ ...italy, regions: ITALY.slice(1) }], boundaries(COMUNI))).toEqual({ 'flood_P1 Z001': 0, 'flood_P3 Z001': 0 });
  });

  it('uses a newer partial file for each class in the comuni where the file has areas, and ignores an older partial file', async () => {
    const italy: File = { rank: 2, areas: areas(THEMES, ['Z005']), regions: ITALY };
    const part: File = { rank: 1, areas: [...areas(['flood_P1'], ['Z001', 'Z002']), ...areas(['landslide'], ['Z002'])] };
    const verdict = await build([italy, part], boundaries(COMUNI));
    for (const theme of THEMES) {
      for (const comune of COMUNI) expect(verdict[`${theme} ${comune}`], `${theme} ${comune}`).toBe((theme === 'flood_P1' && comune <= 'Z002') || (theme === 'landslide' && comune === 'Z002') ? 1 : 0);
    }
    expect(new Set(Object.values(await build([{ ...italy, rank: 1 }, { ...part, rank: 2 }], boundaries(COMUNI))))).toEqual(new Set([0]));
  });

  it('counts an area whose pieces share at least 1 m² with the comune in total, and ignores a common border', async () => {
    // A box whose sides are a thousandth of the comune's sides is 8 m by 11 m.
    const sliver = (width: number): Area['box'] => [1000 - 1, 0, 1000 + width, 1];
    const reached = async (...boxes: Area['box'][]): Promise<string[]> => Object.keys(await build([{ rank: 1, areas: boxes.map((box) => ({ theme: 'landslide', comune: 'Z001', ...(box === undefined ? {} : { box }) })) }], boundaries(COMUNI)));
    expect(await reached(sliver(0))).toEqual(['landslide Z001']);
    // Two areas overlap the neighbour by 0.8 m² each. Only an area of at least 1 m² counts.
    expect(await reached(sliver(0.009), sliver(0.009))).toEqual(['landslide Z001']);
    expect(await reached(sliver(0.02))).toEqual(['landslide Z001', 'landslide Z002']);
    const pieces = await inCase(`${boundaries(COMUNI)} ${written([{ rank: 1, areas: [{ theme: 'landslide', comune: 'Z001', box: sliver(0.009)! }] }])}
      insert into landslide_hazard_piece select member_id, position, class, st_translate(geom, 0, 0.01) from landslide_hazard_piece;
      ${COVERAGE}`, (query) => query<{ belfiore: string }>('select belfiore from coverage where mapped order by 1'));
    expect(pieces.map(({ belfiore }) => belfiore)).toEqual(['Z001', 'Z002']);
  });

  it('finds the boundary of a merged comune by any former code, and finds no boundary of a divided comune', async () => {
    const statements = (register: string): string => `
      ${boundaries(['Z001', 'Z002', 'Z003'])}
      update boundary set code = '094801' where code = '094901';
      update boundary set code = '094802' where code = '094902';
      delete from comune_register where belfiore in ('Z001', 'Z002');
      ${register}`;
    // Z001 and Z002 merged into Z001.
    expect(await build([{ rank: 1, areas: areas(['landslide'], ['Z002']) }], statements(`
      delete from comune_code where belfiore = 'Z002'; update parcel set belfiore = 'Z001' where belfiore = 'Z002';
      insert into comune_register values ('Z001', '094801', '094901', false), ('Z001', '094802', '094901', false), ('Z002', '094999', '094902', true);`))).toEqual({ 'landslide Z001': 0 });
    // The comune 094801 was divided between both comuni. The border between the two parts is unknown, so each part is located by its parcels.
    expect(await build([{ rank: 1, areas: areas(['landslide'], ['Z001'], [0, 0, 300, 300]) }], statements(`
      insert into comune_register values ('Z001', '094801', '094901', true), ('Z002', '094801', '094902', true);`))).toEqual({});
    expect(await build([{ rank: 1, areas: areas(['landslide'], ['Z001'], [400, 400, 600, 600]) }], statements(`
      insert into comune_register values ('Z001', '094801', '094901', true), ('Z002', '094801', '094902', true);`))).toEqual({ 'landslide Z001': 0 });
  });

  it('uses for each comune the newer of two files of boundaries', async () => {
    const older = `insert into current_member values (91, 8, 91, 2);
      insert into boundary select 91, position, kind, code, belfiore, st_translate(geom, 0, 1) from boundary;
      insert into boundary select 91, 7, 'comune', '094903', null, st_multi(st_makeenvelope(14.2, 41, 14.3, 41.1, 4326));`;
    expect(await build([{ rank: 1, areas: areas(['landslide'], ['Z001', 'Z003']) }], `${boundaries(['Z001', 'Z002'])} ${older}`)).toEqual({ 'landslide Z001': 0, 'landslide Z003': 0 });
  });

  it('locates a comune that is not in the list of comuni by the boundary that names the comune, or by its parcels', async () => {
    for (const drawn of [COMUNI, COMUNI.slice(0, 5)]) expect(await build([{ rank: 1, areas: areas(['landslide'], ['Z006']) }], boundaries(drawn))).toEqual({ 'landslide Z006': 0 });
  });

  it('uses for each comune the newest file with areas there, for random files, comuni and boundaries', async () => {
    const random = randomOf(20, 'coverage');
    for (let round = 0; round < 25; round += 1) {
      const drawn = COMUNI.filter(() => random.below(3) > 0);
      const count = 1 + random.below(3);
      const ranks = Array.from({ length: count }, (_, i) => i + 1);
      for (let i = ranks.length - 1; i > 0; i -= 1) {
        const j = random.below(i + 1);
        [ranks[i], ranks[j]] = [ranks[j]!, ranks[i]!];
      }
      const files = ranks.map((rank): File => ({
        rank,
        // Each area contains the parcel in the middle, so boundaries and parcels give the same result.
        areas: THEMES.flatMap((theme) =>
          random.below(4) === 0
            ? []
            : COMUNI.filter(() => random.below(2) === 0).map((comune): Area => ({ theme, comune, box: [200 + random.below(200), 300, 700, 800] })),
        ),
        ...(random.below(4) === 0 ? { regions: ITALY } : {}),
      }));
      const expected: Verdict = {};
      for (const theme of THEMES) {
        for (const comune of COMUNI) {
          const speaking = files.filter(({ areas: own, regions }) => own.some((area) => area.theme === theme && (regions === ITALY || area.comune === comune)));
          if (speaking.length > 0) expected[`${theme} ${comune}`] = files.indexOf(speaking.reduce((a, b) => (a.rank < b.rank ? a : b)));
        }
      }
      expect(await build(files, boundaries(drawn)), `round ${round}`).toEqual(expected);
    }
  });
});
