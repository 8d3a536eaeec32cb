/** Tests which year a parcel's incomes come from, with small tables, and with random tables and a model in TypeScript. */
import { beforeAll, expect, it } from 'vitest';
import type { Database } from '../../../pipelines/db/index.ts';
import { randomOf } from '../../../pipelines/synthetic/random.ts';
import { describeDatabase } from '../../../test/harness/database.ts';
import { freshContext } from '../../../test/harness/fresh-context.ts';
import { rolledBack } from '../../../test/harness/rolled-back.ts';
import { inAllRegions } from '../../../test/harness/records.ts';
import { NO_MERGERS, sqlOf } from '../../../test/harness/sql.ts';

/** A row of the ministry's tables, for a comune or for one of its postal codes. */
interface Income {
  readonly year: number;
  readonly belfiore: string;
  readonly cap: string | null;
  /** Taxpayers by bracket, 10 in each by default. The total income of bracket n (from 1) is n × 1,000 euro per taxpayer. Null: withheld. */
  readonly brackets?: readonly (number | null)[];
  /** Published number of earners. The ministry publishes this number from 2023 on. */
  readonly total?: number;
}

interface Parcel {
  readonly belfiore: string;
  readonly cap: string | null;
}

interface Found extends Record<string, unknown> {
  readonly tax_year: number;
  readonly level: string;
  readonly taxpayers: number | null;
  readonly earners: number | null;
  readonly total_income: number | null;
  readonly average_income: number | null;
}

describeDatabase('the selection of a parcel\'s incomes', (engine) => {
  let database: Database;
  beforeAll(async () => {
    ({ database } = await freshContext(engine));
  });

  /** Builds the section from the given rows and returns the section of each parcel, in the order of the parcels. Rolls back all changes. */
  const sections = (incomes: readonly Income[], parcels: readonly Parcel[]): Promise<(Found | null)[]> => rolledBack(database, async (session) => {
    await session.script(`
        create schema cases;
        set search_path to cases, public;
        create view region as select 14::int2 as code, 'Molise'::text as name;
        ${NO_MERGERS}
        create table current_member (member_id int4, file_id int4, rank int4);
        create table comune_register (old_istat_code text, istat_code text, belfiore text, divided bool);
        create table comune_code (belfiore text, region_code int2);
        insert into comune_code values ('Z001', 14), ('Z002', 14), ('Z003', 14);
        create table income (like layer.income);
        create table parcel (fid int4, belfiore text, kind text);
        create table postal_code (fid int4, cap text);
        create table valuation (fid int4, belfiore text, zona text, half_year int2);
        create table quotation (belfiore text, zona text, half_year int2, cod_tip int2, stato_prev bool, purchase_min_eur_m2 int4, purchase_max_eur_m2 int4);`, 'test');
    for (const [index, { year, belfiore, cap, brackets, total }] of incomes.entries()) {
      const names = ['lte_zero', 'from_0_to_10k', 'from_10k_to_15k', 'from_15k_to_26k', 'from_26k_to_55k', 'from_55k_to_75k', 'from_75k_to_120k', 'over_120k'];
      const numbers = brackets ?? names.map(() => 10);
      await session.query(
        `insert into income (release_id, member_id, position, tax_year, level, belfiore, istat_code, cap, region_code, taxpayers, total_income_n, total_income_eur,
             ${names.map((name) => `${name}_n, ${name}_eur`).join(', ')})
           values (1, 1, $1, $2, $3, $4, '094001', $5, 14, $6, $7, $8, ${numbers.flatMap((n, bracket) => [n ?? 'null', n === null ? 'null' : n * 1000 * (bracket + 1)]).join(', ')})`,
        [index + 2, year, cap === null ? 'comune' : 'cap', belfiore, cap, 100 + index, total ?? null, total === undefined ? null : total * 5000],
      );
    }
    for (const [index, { belfiore, cap }] of parcels.entries()) {
      await session.query("insert into parcel values ($1, $2, 'land')", [1_400_000_000 + index, belfiore]);
      if (cap !== null) await session.query('insert into postal_code values ($1, $2)', [1_400_000_000 + index, cap]);
    }
    for (const file of ['sql/core/declared_income.sql', 'sql/sections/economics/build.sql']) await session.script(sqlOf(file), file);
    await session.script(`
        create table core.declared_income_14 partition of core.declared_income for values in (14);
        create table section.economics_14 partition of section.economics for values from (1400000000) to (1500000000);
        insert into core.declared_income_14 select * from declared_income;
        insert into section.economics_14 select * from economics;`, 'test');
    const rows = await inAllRegions(session, () => session.query<{ json: Found | null }>('select (api.section_economics(fid, null::core.parcel)).value as json from cases.parcel order by fid'));
    return rows.map(({ json }) => json);
  });
  const said = (found: (Found | null)[]): (string | null)[] => found.map((each) => (each === null ? null : `${each.level} ${each.tax_year}`));

  it('uses the newest year of each comune, and returns null for a comune without incomes', async () => {
    expect(said(await sections(
      [{ year: 2023, belfiore: 'Z001', cap: null }, { year: 2022, belfiore: 'Z001', cap: null }, { year: 2022, belfiore: 'Z002', cap: null }],
      [{ belfiore: 'Z001', cap: null }, { belfiore: 'Z002', cap: null }, { belfiore: 'Z003', cap: null }],
    ))).toEqual(['comune 2023', 'comune 2022', null]);
  });

  it('uses 2021 for a parcel with a postal code if 2021 is the last year by postal code, and the newest row of the comune for other parcels', async () => {
    expect(said(await sections(
      [{ year: 2021, belfiore: 'Z001', cap: '86001' }, { year: 2020, belfiore: 'Z001', cap: '86001' }, { year: 2024, belfiore: 'Z001', cap: null }, { year: 2024, belfiore: 'Z002', cap: '86009' }],
      [{ belfiore: 'Z001', cap: '86001' }, { belfiore: 'Z001', cap: null }],
    ))).toEqual(['cap 2021', 'comune 2024']);
  });

  it('uses the newest row of the comune instead of an older row of the postal code, if the newest year lacks the postal code', async () => {
    expect(said(await sections(
      [{ year: 2023, belfiore: 'Z001', cap: '86001' }, { year: 2022, belfiore: 'Z001', cap: '86002' }, { year: 2022, belfiore: 'Z001', cap: null }],
      [{ belfiore: 'Z001', cap: '86001' }, { belfiore: 'Z001', cap: '86002' }, { belfiore: 'Z002', cap: '86001' }],
    ))).toEqual(['cap 2023', 'comune 2022', null]);
  });

  it('gives no incomes to a parcel without a postal code if its comune is published only by postal code', async () => {
    expect(said(await sections([{ year: 2023, belfiore: 'Z001', cap: '86001' }], [{ belfiore: 'Z001', cap: '86001' }, { belfiore: 'Z001', cap: null }]))).toEqual(['cap 2023', null]);
  });

  it('gives the published number of earners from 2023 on, and the sum of the brackets before 2023, null if a bracket is withheld', async () => {
    const [published, summed, withheld] = await sections(
      [
        { year: 2023, belfiore: 'Z001', cap: null, total: 90, brackets: [null, 10, 10, 10, 10, 10, 10, null] },
        { year: 2022, belfiore: 'Z002', cap: null, brackets: [0, 2, 3, 0, 0, 0, 0, 5] },
        { year: 2022, belfiore: 'Z003', cap: null, brackets: [null, 2, 3, 0, 0, 0, 0, 5] },
      ],
      [{ belfiore: 'Z001', cap: null }, { belfiore: 'Z002', cap: null }, { belfiore: 'Z003', cap: null }],
    );
    expect(published).toMatchObject({ taxpayers: 100, earners: 90, total_income: 450_000, average_income: 5000 });
    expect(summed).toMatchObject({ taxpayers: 101, earners: 10, total_income: 53_000, average_income: 5300 });
    expect(withheld).toMatchObject({ taxpayers: 102, earners: null, total_income: null, average_income: null });
  });

  it('uses the level and tax year of the model for random years, levels and comuni', async () => {
    const random = randomOf('income years');
    for (let round = 0; round < 20; round += 1) {
      const incomes = new Map<string, Income>();
      for (let n = random.below(14); n > 0; n -= 1) {
        const income = { year: 2019 + random.below(6), belfiore: random.pick(['Z001', 'Z002', 'Z009']), cap: random.pick([null, null, '86001', '86002']) };
        incomes.set(`${income.year} ${income.belfiore} ${income.cap}`, income);
      }
      const parcels = ['Z001', 'Z002', 'Z003', 'Z009'].flatMap((belfiore) => [null, '86001', '86002', '86003'].map((cap) => ({ belfiore, cap })));
      // Computes the expected level and tax year of each parcel.
      const expected = parcels.map(({ belfiore, cap }) => {
        const mine = [...incomes.values()].filter((income) => income.belfiore === belfiore);
        const newest = (rows: readonly Income[]): number => Math.max(...rows.map(({ year }) => year));
        const byCode = mine.filter((income) => income.cap !== null);
        if (cap !== null && byCode.some((income) => income.cap === cap && income.year === newest(byCode))) return `cap ${newest(byCode)}`;
        const whole = mine.filter((income) => income.cap === null);
        return whole.length === 0 ? null : `comune ${newest(whole)}`;
      });
      expect(said(await sections([...incomes.values()], parcels)), JSON.stringify([...incomes.keys()])).toEqual(expected);
    }
  });
});
