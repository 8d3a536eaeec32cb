import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { makeRegion } from '../../../pipelines/synthetic/make-region.ts';
import synthetic from '../../../sources/omi_quotations/synthetic.ts';
import { describeWorkspace, syntheticFid } from '../../../test/harness/section-workspace.ts';
import { queryRecords } from '../../../test/harness/records.ts';

const region = makeRegion({ parcels: 2_400, seed: 5, comuni: 6 });

interface Semester {
  readonly semester: string;
  readonly zone: string | null;
  readonly purchase: { readonly mid_eur_m2: number | null };
  readonly gross_yield_pct: number | null;
}

interface Truth {
  readonly valuation: readonly {
    readonly zone: string;
    readonly condition: string | null;
    readonly zone_perimeter_semester: string;
    readonly purchase: { readonly min_eur_m2: number | null };
    readonly previous_semester: { readonly rental: { readonly min_eur_m2: number | null } };
  }[];
  readonly valuation_history: { readonly zone_current: string; readonly semesters: readonly Semester[] } | null;
}

describeWorkspace('the sections valuation and valuation_history', {
  region,
  sources: ['istat_comuni', 'omi_quotations'],
  sql: ['sql/migrations/0013_valuation.sql', 'sql/migrations/0037_quotations.sql', 'sql/sections/valuation/record.sql', 'sql/sections/valuation_history/record.sql'],
}, async (workspace) => {
  for (const file of ['core/quotation_zone', 'core/quotation', 'core/quoted_comune', 'sections/valuation_history/build', 'sections/valuation/build']) await workspace.run(`sql/${file}.sql`);
  await workspace.publish('quotation_zone', 'core.quotation_zone');
  await workspace.publish('quotation', 'core.quotation');
  await workspace.publish('valuation_history', 'section.valuation_history');
  await workspace.publish('valuation', 'section.valuation');
}, (built) => {
  const truthOf = synthetic.truth!(region);
  const expected = [...region.parcels()].map((parcel) => ({ parcel, fid: syntheticFid(region, parcel.index), truth: truthOf(parcel) as unknown as Truth }));

  it('give every synthetic parcel its expected quotations', async () => {
    const rows = await queryRecords<{ fid: number; json: unknown }>(built.database, `select p.fid, x.value as json from ${built.workspace.schema}.parcel p cross join lateral api.section_valuation(p.fid, null::core.parcel) x order by p.fid`);
    expect(rows).toEqual(expected.map(({ fid, truth }) => ({ fid, json: truth.valuation })));
  });

  it('give every synthetic parcel its expected history over 22 half-years with two changes of zones', async () => {
    const rows = await queryRecords<{ fid: number; json: unknown }>(built.database, `select p.fid, x.value as json from ${built.workspace.schema}.parcel p cross join lateral api.section_valuation_history(p.fid, null::core.parcel) x order by p.fid`);
    expect(rows).toEqual(expected.map(({ fid, truth: { valuation_history: all } }) => ({ fid, json: all === null ? null : { ...all, source: null } })));
  });

  it('are tested with a region that has every case', () => {
    const histories = expected.flatMap(({ truth }) => (truth.valuation_history === null ? [] : [truth.valuation_history]));
    const elements = expected.flatMap(({ truth }) => truth.valuation);
    expect(histories.every(({ semesters }) => semesters.length === 22 && semesters[0]!.semester === '2015_1' && semesters[21]!.semester === '2025_2')).toBe(true);
    // The region has parcels that were in a different zone, in no zone or without a quotation in an earlier half-year. Some parcels have no zone in any
    // half-year.
    expect(histories.some(({ zone_current: now, semesters }) => semesters.some(({ zone }) => zone !== null && zone !== now))).toBe(true);
    expect(histories.some(({ semesters }) => semesters.some(({ zone }) => zone === null))).toBe(true);
    expect(histories.some(({ semesters }) => semesters.some(({ zone, gross_yield_pct: yields }) => zone !== null && yields === null))).toBe(true);
    expect(expected.some(({ parcel, truth }) => parcel.kind === 'land' && truth.valuation_history === null)).toBe(true);
    // Some parcels are in a zone without a current quotation.
    expect(expected.some(({ truth }) => truth.valuation_history !== null && truth.valuation.length === 0)).toBe(true);
    expect(new Set(elements.map(({ condition }) => condition))).toEqual(new Set(['NORMALE', 'OTTIMO', 'SCADENTE', null]));
    expect(elements.some(({ purchase }) => purchase.min_eur_m2 === null)).toBe(true);
    // Some parcels are in a perimeter of 2018. The zone of the perimeter has kept its name, has a different name, or no longer exists.
    const fifth = expected.filter(({ parcel, truth }) => parcel.comune.index === 4 && truth.valuation_history !== null);
    expect(new Set(fifth.flatMap(({ truth }) => truth.valuation.map((element) => `${element.zone} ${element.zone_perimeter_semester}`)))).toEqual(new Set(['B1 2018_2', 'E1 2018_2']));
    expect(new Set(fifth.filter(({ truth }) => truth.valuation.length === 0).map(({ truth }) => truth.valuation_history!.zone_current))).toEqual(new Set(['C1', 'R1']));
    // The comune that changed its code has a history from before the change, found by LinkZona.
    const merged = expected
      .filter(({ parcel }) => parcel.comune.index === 5)
      .flatMap(({ truth }) => (truth.valuation_history === null ? [] : [truth.valuation_history]));
    expect(merged.some(({ semesters }) => semesters.slice(0, 5).some(({ zone }) => zone !== null))).toBe(true);
    expect(elements.some(({ previous_semester: before }) => before.rental.min_eur_m2 !== null && before.rental.min_eur_m2 < 1)).toBe(true);
  });

  it('use the newer elaboration if two files have the same half-year, and ignore the older elaboration', async () => {
    const [found] = await built.workspace.session((session) => session.query<{ seen: number; held: number; twice: number; older: number; newer: number }>(
      `select (select count(*) from omi_quotation)::int4 as seen, (select count(*) from layer.omi_quotation)::int4 as held,
         (select count(*) from (select from omi_quotation group by half_year, link_zona, cod_tip, stato having count(*) > 1) t)::int4 as twice,
         (select count(*) from omi_quotation q where exists (
            select from layer.omi_quotation l where (l.half_year, l.belfiore) = (q.half_year, q.belfiore) and l.elaborated > q.elaborated
          ))::int4 as older,
         (select count(*) from omi_quotation q where exists (
            select from layer.omi_quotation l where (l.half_year, l.belfiore) = (q.half_year, q.belfiore) and l.elaborated < q.elaborated
          ))::int4 as newer`,
    ));
    expect(found!.held - found!.seen).toBeGreaterThan(10);
    expect([found!.twice, found!.older]).toEqual([0, 0]);
    expect(found!.newer).toBeGreaterThan(10);
    const duplicates = await built.database.query<{ code: string; records: number }>('select code, sum(records)::int4 as records from ledger.duplicate group by code order by code');
    const codes = new Map(duplicates.map(({ code, records }) => [code, records]));
    // One quotation is twice in the file of 2017/1.
    expect(codes.get('quotation_repeated')).toBeGreaterThanOrEqual(1);
  });

  it('are built from files whose unusable rows and unusable parts of perimeters are rejected', async () => {
    const rejects = await built.database.query<{ vintage: string; code: string; n: number }>(
      'select r.vintage, j.code, count(*)::int4 as n from ledger.reject j join ledger.release r using (release_id) group by r.vintage, j.code order by r.vintage, j.code',
    );
    expect(rejects).toEqual([
      { vintage: '2013_2', code: 'part_outside_italy', n: 1 },
      { vintage: '2013_2', code: 'ring_too_short', n: 1 },
      { vintage: '2017_1', code: 'cell_count', n: 1 },
      { vintage: '2017_1', code: 'condition_unknown', n: 1 },
      { vintage: '2017_1', code: 'price_malformed', n: 1 },
      { vintage: '2017_1', code: 'type_unknown', n: 1 },
      // The first comune has a ring of two points. The second comune, which is in the files of both provinces, has a part near Africa and a hole of two points.
      { vintage: '2018_2', code: 'part_outside_italy', n: 2 },
      { vintage: '2018_2', code: 'ring_too_short', n: 3 },
      { vintage: '2021_1', code: 'ring_too_short', n: 1 },
      { vintage: '2025_2', code: 'part_outside_italy', n: 1 },
      { vintage: '2025_2', code: 'ring_too_short', n: 2 },
    ]);
  });

  it('are built from perimeters that are repaired only if they intersect themselves', async () => {
    const repaired = await built.database.query<{ belfiore: string; half_year: number; valid: boolean }>(
      // In 2018/2, the files of both provinces contain the comune.
      'select distinct belfiore, half_year, st_isvalid(geom) as valid from layer.omi_perimeter where made_valid order by half_year',
    );
    expect(repaired).toEqual(
      [2013 * 2 + 1, 2018 * 2 + 1, 2025 * 2 + 1].map((halfYear) => ({ belfiore: region.comuni[1].belfiore, half_year: halfYear, valid: true })),
    );
  });

  it('join pieces of perimeters with parcels by an index of the parcels\' points', async () => {
    const plan = await built.workspace.session(async (session) => {
      const file = readFileSync(new URL('../../../sql/sections/valuation_history/build.sql', import.meta.url), 'utf8');
      // Runs the file up to the join of pieces with parcels, and explains this join instead of running it.
      const upTo = file.indexOf('-- Lists the shapes that contain each parcel');
      await session.script(file.slice(0, upTo).replace(/create (?:unlogged )?table /g, 'create temporary table '), 'valuation_history.sql');
      const join = /create unlogged table parcel_shapes as([\s\S]*?);\n/.exec(file)![1]!;
      return (await session.query<{ 'QUERY PLAN': string }>(`explain ${join}`)).map((line) => line['QUERY PLAN']).join('\n');
    });
    expect(plan).toMatch(/Nested Loop[\s\S]*Seq Scan on perimeter_piece[\s\S]*Index Scan using \w*point\w* on parcel/);
  });
});
