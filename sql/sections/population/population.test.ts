import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { makeRegion } from '../../../pipelines/synthetic/make-region.ts';
import { loadSynthetic } from '../../../pipelines/synthetic/synthetic.ts';
import { rolledBack } from '../../../test/harness/rolled-back.ts';
import { describeWorkspace, syntheticFid } from '../../../test/harness/section-workspace.ts';

const region = makeRegion({ parcels: 4_400, seed: 5 });
const SOURCES = ['istat_comuni', 'istat_soppressi', 'istat_boundaries', 'istat_census', 'dpc_buildings', 'igm_dbsn', 'trento_cadastre', 'bolzano_cadastre'];
const FILES = [
  'sql/core/comune_register.sql', 'sql/core/comune_catastale.sql', 'sql/core/census_figures.sql', 'sql/core/building_coverage.sql', 'sql/sections/demographics/build.sql', 'sql/sections/buildings/build.sql',
];
const BUILD = 'sql/sections/population/build.sql';
const SQL = readFileSync(new URL('build.sql', import.meta.url), 'utf8');

type Row = Record<string, string | number | null> & { readonly fid: number };

describeWorkspace('the section population', { region, sources: SOURCES, sql: [] }, async (workspace) => {
  for (const file of [...FILES, BUILD]) await workspace.run(file);
}, (built) => {
  it('gives every synthetic parcel its expected values, to 0.01 for the estimates and exactly for the residents of the comune', async () => {
    const truth = (await loadSynthetic('istat_census')).truth!(region);
    const rows = new Map((await built.workspace.session((session) => session.query<Row>('select * from population'))).map((row) => [row.fid, row]));
    const wrong: string[] = [];
    const seen = { dasymetric: 0, areal: 0, empty: 0, nobody: 0 };
    for (const parcel of region.parcels()) {
      const { population: wanted } = truth(parcel) as { population: Record<string, string | number | null> | null };
      const row = rows.get(syntheticFid(region, parcel.index));
      if (wanted === null || row === undefined) {
        if ((wanted === null) !== (row === undefined)) wrong.push(`${parcel.reference}: expected ${JSON.stringify(wanted)}, found ${JSON.stringify(row)}`);
        continue;
      }
      const holds = Object.entries(wanted).every(([field, value]) => {
        const found = row[field];
        return typeof value === 'number' && typeof found === 'number' ? Math.abs(value - found) <= (field === 'municipality_total' ? 0 : 0.0101) : value === found;
      });
      if (!holds) wrong.push(`${parcel.reference}: expected ${JSON.stringify(wanted)}, found ${JSON.stringify(row)}`);
      if (wanted['estimation_method'] === 'dasymetric') seen.dasymetric += 1;
      else seen.areal += 1;
      if (wanted['dasymetric'] === 0) seen.empty += 1;
      if (wanted['estimation_confidence'] === null) seen.nobody += 1;
    }
    expect(wrong.slice(0, 5)).toEqual([]);
    for (const [what, count] of Object.entries(seen)) expect(count, what).toBeGreaterThan(50);
  });

  it('distributes exactly the residents of each census section, with both methods', async () => {
    const rows = await built.workspace.session((session) => session.query(`
      select section_id from population join census_figures using (section_id) group by section_id, population_total
      having sum(areal::numeric) <> population_total or sum(dasymetric::numeric) <> population_total or sum(estimated::numeric) <> population_total`));
    expect(rows).toEqual([]);
    const [sections] = await built.workspace.session((session) => session.query<{ n: number }>('select count(distinct section_id) as n from population'));
    expect(sections!.n).toBeGreaterThan(30);
  });

  it('distributes random numbers of residents completely, and prefers smaller fids if the parcels have equal weights', async () => {
    const random = region.random('population');
    for (let round = 0; round < 30; round += 1) {
      const residents = random.below(4) === 0 ? random.below(3) : random.below(500);
      const equal = random.below(3) === 0;
      const rows = await rolledBack(built.database, async (session) => {
        await session.script(`set local search_path to ${built.workspace.schema}, public; drop table census_comune, comune_total, comune_household, parcel_weight, tract, population`, 'test');
        const [section] = await session.query<{ section_id: string }>(
          'select section_id from demographics group by 1 having count(*) > 5 order by md5(section_id || $1) limit 1', [String(round)],
        );
        await session.query('update census_figures set population_total = $2 where section_id = $1', [section!.section_id, residents]);
        if (equal) await session.query('update parcel set area_m2 = 100 where fid in (select fid from demographics where section_id = $1)', [section!.section_id]);
        await session.script(SQL, BUILD);
        return session.query<{ fid: number; areal: number; dasymetric: number | null }>(
          'select fid, areal, dasymetric from population where section_id = $1 order by fid', [section!.section_id],
        );
      });
      const hundredths = (values: readonly (number | null)[]): number => values.reduce<number>((sum, value) => sum + Math.round(value! * 100), 0);
      expect(hundredths(rows.map(({ areal }) => areal))).toBe(residents * 100);
      if (rows[0]!.dasymetric !== null) expect(hundredths(rows.map(({ dasymetric }) => dasymetric))).toBe(residents * 100);
      // With equal weights, no parcel has more residents than the parcel with the next smaller fid.
      if (equal) for (const [index, { areal }] of rows.slice(1).entries()) expect(areal).toBeLessThanOrEqual(rows[index]!.areal);
    }
  });
});
