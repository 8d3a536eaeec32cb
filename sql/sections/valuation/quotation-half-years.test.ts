/**
 * Tests which half-year and which perimeter determine a parcel's quotations. Compares the results of small and of random tables with the results of a model in
 * TypeScript.
 */
import { readFileSync } from 'node:fs';
import { beforeAll, expect, it } from 'vitest';
import type { Database, Session } from '../../../pipelines/db/index.ts';
import { randomOf } from '../../../pipelines/synthetic/random.ts';
import { describeDatabase } from '../../../test/harness/database.ts';
import { freshContext } from '../../../test/harness/fresh-context.ts';
import { rolledBack } from '../../../test/harness/rolled-back.ts';
import { inAllRegions } from '../../../test/harness/records.ts';

const sql = (file: string): string => readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8');
/** Returns the number of a half-year. For example, `h(2025, 2)` is the number of the second half of 2025. */
const h = (year: number, half: 1 | 2): number => year * 2 + half - 1;
const text = (half: number): string => `${Math.floor(half / 2)}_${(half % 2) + 1}`;
const [FIRST, LAST] = [h(2015, 1), h(2025, 2)];

/** A row of a file ZONE. A `Quotation` is a row of a file VALORI, with the price of civil dwellings. `file` is the number of the file with the row. */
interface Zone {
  readonly half: number;
  readonly belfiore: string;
  readonly zona: string;
  readonly link: string;
  readonly file?: number;
}
interface Quotation extends Zone {
  readonly price: number;
}
/** A perimeter that contains the parcels in some cells. The cells are in a row, and each cell has one parcel. */
interface Perimeter {
  readonly half: number;
  readonly belfiore: string;
  readonly zona: string;
  readonly cells: readonly number[];
}
interface Files {
  readonly zones: readonly Zone[];
  readonly quotations: readonly Quotation[];
  readonly perimeters: readonly Perimeter[];
  /** Comune of the parcel in each cell, by cell number. */
  readonly parcels: readonly string[];
  /** Cadastral codes of the current comuni. */
  readonly listed: readonly string[];
}

/** The valuation is `comune zone price in half-year by half-year of the perimeter, before previous price`. Null: no quotation. */
interface Answer {
  readonly valuation: string | null;
  /** Current zone, and zone and price of each half-year in which the parcel has a zone. Null: no history. */
  readonly history: { readonly current: string; readonly then: Readonly<Record<string, string>> } | null;
}

// --- the model -----------------------------------------------------------------------------------------------------

const newest = (halves: readonly number[]): number | null => (halves.length === 0 ? null : Math.max(...halves));
const inOrder = <T extends { belfiore: string; zona: string }>(a: T, b: T): number => (a.belfiore + a.zona < b.belfiore + b.zona ? -1 : 1);

/** Returns the expected valuation and history of each parcel, computed from the files without SQL. */
function answersOf({ zones, quotations, perimeters, parcels, listed }: Files): Answer[] {
  const rows = [...zones, ...quotations];
  const rowOf = (half: number, belfiore: string, zona: string): Zone | undefined =>
    rows.find((row) => row.half === half && row.belfiore === belfiore && row.zona === zona);
  const rowOfLink = (half: number, link: string): Zone | undefined =>
    rows
      .filter((row) => row.half === half && row.link === link)
      .sort((a, b) => Number(listed.includes(b.belfiore)) - Number(listed.includes(a.belfiore)) || inOrder(a, b))[0];
  const priceOf = (half: number, zone: { belfiore: string; zona: string } | undefined): number | null =>
    quotations.find((each) => zone !== undefined && each.half === half && each.belfiore === zone.belfiore && each.zona === zone.zona)?.price ?? null;
  const quotedIn = (belfiore: string): number | null => newest([
    ...quotations.filter((each) => each.belfiore === belfiore),
    ...zones.filter((zone) => zone.belfiore === belfiore && quotations.some((each) => each.file === zone.file && each.half === zone.half)),
  ].map(({ half }) => half));
  const drawn = (belfiore: string, half: number): boolean => perimeters.some((each) => each.belfiore === belfiore && each.half === half);
  const placedBy = (belfiore: string): number | null => {
    const known = perimeters
      .filter((each) => each.belfiore === belfiore && rows.some((row) => row.belfiore === belfiore && row.half === each.half))
      .map(({ half }) => half);
    const quoted = quotedIn(belfiore);
    return quoted !== null && known.includes(quoted) ? quoted : newest(known);
  };
  return parcels.map((comune, cell) => {
    const around = perimeters.filter(({ cells }) => cells.includes(cell));
    const own = placedBy(comune);
    const quotedFor = (belfiore: string): number | null =>
      belfiore === comune || listed.includes(belfiore) || quotedIn(comune) === null ? quotedIn(belfiore) : quotedIn(comune);
    const [place] = around
      .filter((each) => each.half === placedBy(each.belfiore) && quotedFor(each.belfiore) !== null)
      .filter(
        (each) =>
          each.belfiore === comune || ((own === null || own <= each.half) && !around.some((other) => other.belfiore === comune && other.half >= each.half)),
      )
      .sort((a, b) => Number(a.belfiore !== comune) - Number(b.belfiore !== comune) || b.half - a.half || inOrder(a, b));
    if (place === undefined) return { valuation: null, history: null };
    const half = quotedFor(place.belfiore)!;
    const link = rowOf(place.half, place.belfiore, place.zona)?.link;
    const quoted = half === place.half ? rowOf(half, place.belfiore, place.zona) : link === undefined ? undefined : rowOfLink(half, link);
    const thenIn = (then: number): { belfiore: string; zona: string } | undefined => {
      const [inside] = around
        .filter((each) => each.half === then)
        .sort((a, b) => Number(a.belfiore !== comune) - Number(b.belfiore !== comune) || inOrder(a, b));
      if (inside !== undefined) return inside;
      const same = link === undefined || drawn(comune, then) ? undefined : rowOfLink(then, link);
      return same === undefined || drawn(same.belfiore, then) ? undefined : same;
    };
    const price = priceOf(half, quoted);
    const then: Record<string, string> = {};
    for (let each = FIRST; each <= LAST; each += 1) {
      const zone = thenIn(each);
      if (zone !== undefined) then[text(each)] = `${zone.zona} ${priceOf(each, zone) ?? 'not quoted'}`;
    }
    return {
      valuation: price === null ? null : `${quoted!.belfiore} ${quoted!.zona} ${price} in ${text(half)} by ${text(place.half)}, before ${priceOf(half - 1, thenIn(half - 1)) ?? 'not quoted'}`,
      history: { current: (quoted ?? place).zona, then },
    };
  });
}

// --- the tables ----------------------------------------------------------------------------------------------------

describeDatabase('the selection of a parcel\'s quotations', (engine) => {
  let database: Database;
  beforeAll(async () => {
    ({ database } = await freshContext(engine));
  });

  /** Builds the sections from the tables in the schema `cases`, and runs `work` before the tables are removed. */
  const built = <T>(files: Files, work: (session: Session) => Promise<T>): Promise<T> => rolledBack(database, async (session) => {
    const { zones, quotations, perimeters, parcels, listed } = files;
    const box = (cell: number): string => `st_expand(st_setsrid(st_point(14 + ${cell} * 0.01, 41), 4326), 0.001)`;
    const member = (file: number | undefined): number => (file ?? 1) * 10;
    const values = (rows: readonly string[]): string => (rows.length === 0 ? 'select where false' : `values ${rows.join(', ')}`);
    const insert = (table: string, columns: string, rows: readonly string[]): string => (rows.length === 0 ? '' : `insert into ${table} (${columns}) ${values(rows)};\n`);
    const known = 'release_id, member_id, position, semester, half_year';
    await session.script(`
        create schema cases;
        set search_path to cases, public;
        create view region as select 14::int2 as code, 'Molise'::text as name;
        create table comune_code (belfiore text, region_code int2);
        create table current_member as select n * 10 as member_id, 1 as release_id, n as file_id, n as rank from generate_series(0, 99) as n;
        create table omi_quotation (like layer.omi_quotation);
        create table omi_zone (like layer.omi_zone);
        create table omi_perimeter (like layer.omi_perimeter);
        create table parcel (fid int4, belfiore text, kind text, point geometry(point, 4326));
        create index on parcel using gist (point);
        ${insert('comune_code', 'belfiore, region_code', listed.map((belfiore) => `('${belfiore}', 14)`))}
        ${insert('omi_zone', `${known}, elaborated, region_code, belfiore, comune_name, fascia, zona, link_zona`, zones.map(({ half, belfiore, zona, link, file }, index) =>
          `(1, ${member(file)}, ${index + 3}, '${text(half)}', ${half}, date '2026-04-27', 14, '${belfiore}', 'NOME', '${zona[0]}', '${zona}', '${link}')`))}
        ${insert('omi_quotation', `${known}, elaborated, region_code, belfiore, comune_name, fascia, zona, link_zona, cod_tip, type, stato, stato_prev, purchase_min_eur_m2, purchase_max_eur_m2`, quotations.map(
          ({ half, belfiore, zona, link, file, price }, index) => `(1, ${member(file)}, ${index + 3}, '${text(half)}', ${half}, date '2026-04-27', 14, '${belfiore}', 'NOME', '${zona[0]}', '${zona}', '${link}', 20, 'Abitazioni civili', 'NORMALE', true, ${price}, ${price})`))}
        ${insert('omi_perimeter', `${known}, belfiore, zona, made_valid, geom`, perimeters.map(({ half, belfiore, zona, cells }, index) =>
          `(1, 0, ${index + 1}, '${text(half)}', ${half}, '${belfiore}', '${zona}', false, st_multi(st_union(array[${cells.map(box).join(', ')}])))`))}
        ${insert('parcel', 'fid, belfiore, kind, point', parcels.map((belfiore, cell) => `(${1_400_000_000 + cell}, '${belfiore}', 'land', st_centroid(${box(cell)}))`))}`, 'test');
    for (const file of ['core/quotation_zone', 'core/quotation', 'core/quoted_comune', 'sections/valuation_history/build', 'sections/valuation/build']) await session.script(sql(`sql/${file}.sql`), file);
    return work(session);
  });

  const found = (files: Files): Promise<Answer[]> => built(files, async (session) => {
    for (const table of ['core.quotation_zone', 'core.quotation', 'section.valuation_history', 'section.valuation']) {
      const name = table.split('.')[1]!;
      const columns = (await session.query<{ name: string }>('select attname as name from pg_attribute where attrelid = $1::regclass and attnum > 0 and not attisdropped order by attnum', [table])).map((each) => each.name).join(', ');
      await session.script(`create table ${table}_14 partition of ${table} for values ${table.startsWith('core') ? 'in (14)' : 'from (1400000000) to (1500000000)'};
          insert into ${table}_14 (${columns}) select ${columns} from cases.${name};`, 'test');
    }
    type Answer = { valuation: Record<string, never>[]; history: { zone_current: string; semesters: Record<string, never>[] } | null };
    const answers = await inAllRegions(session, () => session.query<Answer>(
      'select (api.section_valuation(fid, null::core.parcel)).value as valuation, (api.section_valuation_history(fid, null::core.parcel)).value as history from cases.parcel order by fid',
    ));
    return answers.map(({ valuation, history }) => {
      expect(valuation.length).toBeLessThan(2);
      const [first] = valuation as unknown as {
        zone: string;
        municipality: string;
        purchase: { min_eur_m2: number };
        semester: string;
        zone_perimeter_semester: string;
        previous_semester: { purchase: { min_eur_m2: number | null } };
      }[];
      const semesters = (history?.semesters ?? []) as unknown as { semester: string; zone: string | null; purchase: { min_eur_m2: number | null } }[];
      return {
        valuation: first === undefined ? null : `${first.municipality.slice(-5, -1)} ${first.zone} ${first.purchase.min_eur_m2} in ${first.semester} by ${first.zone_perimeter_semester}, before ${first.previous_semester.purchase.min_eur_m2 ?? 'not quoted'}`,
        history: history === null ? null : {
          current: history.zone_current,
          then: Object.fromEntries(semesters.flatMap(({ semester, zone, purchase }) => (zone === null ? [] : [[semester, `${zone} ${purchase.min_eur_m2 ?? 'not quoted'}`]]))),
        },
      };
    });
  });
  const none: Files = { zones: [], quotations: [], perimeters: [], parcels: ['Z001', 'Z002'], listed: ['Z001', 'Z002'] };
  /** Builds the sections from the tables, compares the result with the model, and returns the result. */
  const check = async (files: Partial<Files>): Promise<Answer[]> => {
    const answers = await found({ ...none, ...files });
    expect(answers).toEqual(answersOf({ ...none, ...files }));
    return answers;
  };
  const valuations = async (files: Partial<Files>): Promise<(string | null)[]> => (await check(files)).map(({ valuation }) => valuation);

  const [old, q1, q2] = [h(2018, 2), h(2025, 1), h(2025, 2)];
  const zone = (half: number, belfiore: string, zona: string, link: string, file = 1): Zone => ({ half, belfiore, zona, link, file });
  const quoted = (half: number, belfiore: string, zona: string, link: string, price: number, file = 1): Quotation => ({
    half,
    belfiore,
    zona,
    link,
    price,
    file,
  });
  const bothDrawn = (half: number): Perimeter[] => [{ half, belfiore: 'Z001', zona: 'B1', cells: [0] }, { half, belfiore: 'Z002', zona: 'B1', cells: [1] }];

  it('keeps the valuation of all other comuni if one comune has a newer half-year, even if a newer ZONE contains all comuni', async () => {
    const before = { quotations: [quoted(q1, 'Z001', 'B1', 'IS1', 1000), quoted(q1, 'Z002', 'B1', 'IS2', 2000)], perimeters: bothDrawn(q1) };
    expect(await valuations(before)).toEqual(['Z001 B1 1000 in 2025_1 by 2025_1, before not quoted', 'Z002 B1 2000 in 2025_1 by 2025_1, before not quoted']);
    expect(await valuations({
      ...before, quotations: [...before.quotations, quoted(q2, 'Z002', 'B1', 'IS2', 2100, 5)], zones: [zone(q2, 'Z001', 'B1', 'IS1', 6), zone(q2, 'Z002', 'B1', 'IS2', 6)],
    })).toEqual(['Z001 B1 1000 in 2025_1 by 2025_1, before not quoted', 'Z002 B1 2100 in 2025_2 by 2025_1, before 2000']);
  });

  it('gives no older quotation to a comune that is missing in the newest half-year', async () => {
    expect(await valuations({
      quotations: [quoted(q1, 'Z001', 'B1', 'IS1', 1000), quoted(q1, 'Z002', 'B1', 'IS2', 2000), quoted(q2, 'Z002', 'B1', 'IS2', 2100, 2)],
      zones: [zone(q2, 'Z001', 'B1', 'IS1', 2), zone(q2, 'Z002', 'B1', 'IS2', 2)], perimeters: bothDrawn(q2),
    })).toEqual([null, 'Z002 B1 2100 in 2025_2 by 2025_2, before 2000']);
  });

  it('finds the price for a perimeter of a different half-year only by LinkZona, even if the name of the zone changed', async () => {
    expect(await valuations({
      zones: [zone(old, 'Z001', 'B1', 'IS1'), zone(old, 'Z002', 'B1', 'IS2')], perimeters: bothDrawn(old),
      quotations: [quoted(q2, 'Z001', 'B1', 'IS7', 900, 2), quoted(q2, 'Z001', 'C1', 'IS1', 1000, 2), quoted(q2, 'Z002', 'B1', 'IS8', 2000, 2)],
    })).toEqual(['Z001 C1 1000 in 2025_2 by 2018_2, before not quoted', null]);
  });

  it('ignores a perimeter without loaded zones of its half-year, and uses an older perimeter that has loaded zones', async () => {
    const quotations = [quoted(q2, 'Z001', 'B1', 'IS1', 1000), quoted(q2, 'Z002', 'B1', 'IS2', 2000)];
    expect(await valuations({ quotations, perimeters: bothDrawn(q1) })).toEqual([null, null]);
    expect(await valuations({ quotations, zones: [zone(old, 'Z002', 'D9', 'IS2')], perimeters: [...bothDrawn(q1), { half: old, belfiore: 'Z002', zona: 'D9', cells: [1] }] }))
      .toEqual([null, 'Z002 B1 2000 in 2025_2 by 2018_2, before not quoted']);
  });

  it('finds the zone in the previous half-year by the perimeters of that half-year, or else by LinkZona', async () => {
    const quotations = [
      quoted(q2, 'Z001', 'B1', 'IS1', 1000, 2), quoted(q2, 'Z002', 'B1', 'IS2', 2000, 2),
      quoted(q1, 'Z001', 'B1', 'IS9', 111), quoted(q1, 'Z001', 'D1', 'IS1', 900), quoted(q1, 'Z002', 'B1', 'IS8', 222), quoted(q1, 'Z002', 'E1', 'IS2', 1900),
    ];
    expect(await valuations({ quotations, perimeters: bothDrawn(q2) })).toEqual(['Z001 B1 1000 in 2025_2 by 2025_2, before 900', 'Z002 B1 2000 in 2025_2 by 2025_2, before 1900']);
    expect(await valuations({ quotations, perimeters: [...bothDrawn(q2), { half: q1, belfiore: 'Z002', zona: 'B1', cells: [1] }] }))
      .toEqual(['Z001 B1 1000 in 2025_2 by 2025_2, before 900', 'Z002 B1 2000 in 2025_2 by 2025_2, before 222']);
  });

  it('finds the zone in the previous half-year for a quotation that is older than the history', async () => {
    expect(await valuations({
      quotations: [quoted(h(2013, 2), 'Z001', 'B1', 'IS1', 1000), quoted(h(2013, 1), 'Z001', 'C1', 'IS1', 900, 2), quoted(h(2013, 1), 'Z001', 'B1', 'IS9', 111, 2)], perimeters: bothDrawn(h(2013, 2)),
    })).toEqual(['Z001 B1 1000 in 2013_2 by 2013_2, before 900', null]);
  });

  it('combines ZONE and VALORI of two files, and takes a zone missing in ZONE from VALORI', async () => {
    expect(await valuations({
      zones: [zone(q2, 'Z001', 'B1', 'IS1', 3)], quotations: [quoted(q2, 'Z001', 'B1', 'IS1', 1000, 4), quoted(q2, 'Z002', 'B1', 'IS2', 2000, 4)], perimeters: bothDrawn(q2),
    })).toEqual(['Z001 B1 1000 in 2025_2 by 2025_2, before not quoted', 'Z002 B1 2000 in 2025_2 by 2025_2, before not quoted']);
  });

  it('keeps all other half-years if one half-year has prices but no zones and no perimeters', async () => {
    const files = {
      zones: [zone(q1, 'Z001', 'B1', 'IS1', 1), zone(q1, 'Z002', 'B1', 'IS2', 1)], perimeters: bothDrawn(q1),
      // Z001 keeps its LinkZona, and Z002 has a new LinkZona.
      quotations: [quoted(q1, 'Z001', 'B1', 'IS1', 1000, 1), quoted(q1, 'Z002', 'B1', 'IS2', 2000, 1), quoted(q2, 'Z001', 'B1', 'IS1', 1100, 2), quoted(q2, 'Z002', 'B1', 'IS9', 2100, 2)],
    };
    expect(await valuations(files)).toEqual(['Z001 B1 1100 in 2025_2 by 2025_1, before 1000', null]);
    expect((await check(files)).map(({ history }) => history?.then)).toEqual([{ '2025_1': 'B1 1000', '2025_2': 'B1 1100' }, { '2025_1': 'B1 2000' }]);
  });

  it('finds the quotations of a merged comune by perimeters of the former comune, unless the merged comune has newer perimeters', async () => {
    const files = {
      parcels: ['Z001', 'Z001'], zones: [zone(old, 'Z099', 'B1', 'IS1'), zone(old, 'Z099', 'C1', 'IS3')],
      quotations: [quoted(old, 'Z099', 'B1', 'IS1', 500), quoted(q2, 'Z001', 'B4', 'IS1', 1000, 2)],
      perimeters: [{ half: old, belfiore: 'Z099', zona: 'B1', cells: [0] }, { half: old, belfiore: 'Z099', zona: 'C1', cells: [1] }],
    };
    expect(await valuations(files)).toEqual(['Z001 B4 1000 in 2025_2 by 2018_2, before not quoted', null]);
    expect((await check(files))[0]!.history).toEqual({ current: 'B4', then: { '2018_2': 'B1 500', '2025_2': 'B4 1000' } });
    expect(await valuations({ ...files, perimeters: [...files.perimeters, { half: q2, belfiore: 'Z001', zona: 'B4', cells: [1] }] })).toEqual([null, 'Z001 B4 1000 in 2025_2 by 2025_2, before not quoted']);
  });

  it('explains the zone of an older perimeter by the LinkZona of the perimeter\'s half-year and by the zone of the quoted half-year', async () => {
    const files = {
      ...none, zones: [zone(old, 'Z001', 'B1', 'IS1')], perimeters: [{ half: old, belfiore: 'Z001', zona: 'B1', cells: [0] }],
      quotations: [quoted(q2, 'Z001', 'B1', 'IS7', 900, 2), quoted(q2, 'Z001', 'C1', 'IS1', 1000, 2)],
    };
    const evidence = await built(files, async (session) => {
      await session.script(sql('sql/sections/valuation_history/explain.sql'), 'explain');
      return session.query<{ value: string; rule: string }>("select value, rule from evidence where field = 'zone_current'");
    });
    expect(evidence.map(({ value, rule }) => `${value}: ${rule}`).sort()).toEqual([
      'IS1: LinkZona of the perimeter\'s zone in 2018_2, by which it is found in the half-year that is quoted',
      'Z001 B1 2018_2: perimeter of 2018_2 that contains the representative point',
      'Z001 C1 2025_2: zone in 2025_2 with the LinkZona of the perimeter\'s zone',
    ]);
  });

  it('gives the same quotations as the model for random half-years, files, zones and perimeters', async () => {
    const random = randomOf('quotation half-years');
    const halves = [h(2018, 2), h(2023, 1), h(2024, 2), h(2025, 1), h(2025, 2)];
    let [quotedParcels, byLink, without] = [0, 0, 0];
    for (let round = 0; round < 16; round += 1) {
      const parcels = ['Z001', 'Z001', 'Z001', 'Z002', 'Z002', 'Z003'];
      const files = { zones: [] as Zone[], quotations: [] as Quotation[], perimeters: [] as Perimeter[] };
      for (const half of halves) {
        for (const [index, belfiore] of ['Z001', 'Z002', 'Z099'].entries()) {
          // In a half-year, each LinkZona identifies one zone. The zone may have a different name in each half-year.
          const links = new Map(['B1', 'C1', 'D1'].map((zona, number) => [zona, `IS${index}${(number + (random.below(3) === 0 ? 1 : 0)) % 3}`]));
          if (new Set(links.values()).size < 3) for (const [number, zona] of ['B1', 'C1', 'D1'].entries()) links.set(zona, `IS${index}${number}`);
          const [zoneFile, valoriFile] = random.below(2) === 0 ? [half, half] : [random.below(4) + 90, random.below(4) + 95];
          const file = (number: number): number => number % 90;
          const [hasZone, hasValori, hasPerimeters] = [random.below(3) > 0, random.below(3) > 0, random.below(2) === 0];
          for (const [zona, link] of links) {
            if (hasZone && random.below(8) > 0) files.zones.push(zone(half, belfiore, zona, link, file(zoneFile)));
            if (hasValori && random.below(6) > 0) files.quotations.push(quoted(half, belfiore, zona, link, 1000 + files.quotations.length, file(valoriFile)));
            const cells = parcels.flatMap((_comune, cell) => (random.below(4) === 0 ? [cell] : []));
            if (hasPerimeters && cells.length > 0) files.perimeters.push({ half, belfiore, zona, cells });
          }
        }
      }
      const answers = await check({ ...files, parcels, listed: random.below(4) === 0 ? ['Z001', 'Z002', 'Z003', 'Z099'] : ['Z001', 'Z002', 'Z003'] });
      quotedParcels += answers.filter(({ valuation }) => valuation !== null).length;
      byLink += answers.filter(({ valuation }) => valuation !== null && !/in (\S+) by \1,/.test(valuation)).length;
      without += answers.filter(({ valuation, history }) => valuation === null && history !== null).length;
    }
    // Checks that the random tables have every case.
    expect([quotedParcels, byLink, without].every((count) => count > 5), `${quotedParcels} quoted, ${byLink} by link, ${without} not`).toBe(true);
  });
});
