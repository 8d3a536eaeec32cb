import { expect, it } from 'vitest';
import { makeRegion } from '../../../pipelines/synthetic/make-region.ts';
import mef from '../../../sources/mef_income/synthetic.ts';
import omi from '../../../sources/omi_quotations/synthetic.ts';
import postal from '../../../sources/postal_codes/synthetic.ts';
import { describeWorkspace, syntheticFid } from '../../../test/harness/section-workspace.ts';
import { queryRecords } from '../../../test/harness/records.ts';

const region = makeRegion({ parcels: 2_000, seed: 7 });

type Economics = Record<string, unknown> & {
  readonly average_income: number | null;
  readonly level: string;
  readonly income_brackets: Record<string, number | null>;
};

describeWorkspace('the section economics', {
  region,
  sources: ['istat_comuni', 'istat_soppressi', 'omi_quotations', 'mef_income', 'postal_codes'],
  sql: ['sql/migrations/0013_valuation.sql', 'sql/migrations/0014_postal_code.sql', 'sql/migrations/0015_economics.sql', 'sql/migrations/0016_demographics.sql', 'sql/migrations/0018_comune_register.sql', 'sql/migrations/0036_editions.sql', 'sql/migrations/0037_quotations.sql', 'sql/sections/economics/record.sql'],
}, async (workspace) => {
  const files = ['core/comune_register', 'core/quotation_zone', 'core/quotation', 'core/quoted_comune', 'core/declared_income', 'sections/valuation_history/build', 'sections/valuation/build', 'sections/basic/build_postal_code', 'sections/economics/build'];
  for (const file of files) {
    await workspace.run(`sql/${file}.sql`);
    // As in a build, drops the table of the step comune_today.sql after the file that runs the step.
    await workspace.session((session) => session.query('drop table if exists comune_today'));
  }
  await workspace.publish('declared_income', 'core.declared_income');
  await workspace.publish('postal_code', 'section.postal_code');
  await workspace.publish('economics', 'section.economics');
}, (built) => {
  const incomes = mef.truth!(region);
  const prices = omi.truth!(region);
  const codes = postal.truth!(region);
  /** Expected incomes, price and postal code of each parcel, from three sources. The affordability index is computed from incomes and price in its test. */
  const expected = [...region.parcels()].map((parcel) => {
    const { economics } = incomes(parcel) as { economics: Economics | null };
    const price = (prices(parcel) as { economics: { avg_residential_price_m2: number | null } | null }).economics?.avg_residential_price_m2 ?? null;
    const { basic: { cadastral: { postal_code: cap } } } = codes(parcel) as { basic: { cadastral: { postal_code: string | null } } };
    return { parcel, fid: syntheticFid(region, parcel.index), economics, price, cap };
  });

  it('takes the postal code from the comune if the comune has only one, otherwise from the area that contains the parcel\'s point', async () => {
    const rows = await built.database.query<{ fid: number; cap: string | null }>(`select p.fid, c.cap from ${built.workspace.schema}.parcel p left join section.postal_code c using (fid) order by p.fid`);
    expect(rows).toEqual(expected.map(({ fid, cap }) => ({ fid, cap })));
    expect(new Set(expected.map(({ cap }) => cap)).size).toBeGreaterThan(4);
    expect(expected.some(({ cap }) => cap === null)).toBe(true);
  });

  it('matches the synthetic incomes of every parcel, by postal code if the comune has several', async () => {
    const rows = await queryRecords<{ fid: number; json: Record<string, unknown> | null }>(built.database, `select p.fid, (api.section_economics(p.fid, null::core.parcel)).value as json from ${built.workspace.schema}.parcel p order by p.fid`);
    const shown = expected.map(({ fid, economics, price }) => (
      { fid, json: economics === null ? null : { ...economics, avg_residential_price_m2: price, source: null } }
    ));
    const without = rows.map(({ fid, json }) => {
      if (json === null) return { fid, json };
      const { affordability_index: _index, ...rest } = json;
      return { fid, json: rest };
    });
    expect(without).toEqual(shown);
  });

  it('gives the affordability index as the price of 80 m² in years of average income, with four decimals', async () => {
    const rows = await queryRecords<{ fid: number; index: number | null }>(
      built.database,
      `select p.fid, ((api.section_economics(p.fid, null::core.parcel)).value->>'affordability_index')::float8 as index from ${built.workspace.schema}.parcel p order by p.fid`,
    );
    const cents = (euro: number): bigint => BigInt(Math.round(euro * 100));
    const wanted = expected.map(({ fid, economics, price }) => {
      if (economics === null || economics.average_income === null || price === null) return { fid, index: null };
      // Computes 80 · price / income exactly from the rounded price and income of the record, and rounds halves upwards.
      return { fid, index: Number(((2n * 80n * cents(price) * 10_000n) / cents(economics.average_income) + 1n) / 2n) / 10_000 };
    });
    expect(rows).toEqual(wanted);
    expect(rows.filter(({ index }) => index !== null).length).toBeGreaterThan(500);
  });

  it('is tested with a region that has every case', () => {
    const found = expected.flatMap(({ economics }) => (economics === null ? [] : [economics]));
    expect(new Set(found.map(({ level }) => level))).toEqual(new Set(['cap', 'comune']));
    expect(new Set(found.map(({ level, tax_year: year }) => `${level} ${String(year)}`))).toEqual(new Set(['cap 2023', 'comune 2024', 'comune 2023', 'comune 2022']));
    expect(found.some(({ taxpayers }) => taxpayers === null)).toBe(true);
    // A withheld value is null, not zero.
    expect(found.some(({ income_brackets: brackets }) => brackets['lte_zero'] === null)).toBe(true);
    expect(found.some(({ income_brackets: brackets }) => brackets['lte_zero'] === 0)).toBe(true);
    expect(expected.some(({ parcel, economics }) => parcel.kind === 'land' && economics === null)).toBe(true);
    expect(expected.some(({ economics, price }) => economics !== null && price === null)).toBe(true);
  });
});
