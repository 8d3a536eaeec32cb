/** Tests, with small tables, which year the statistics of a census section come from. */
import { readFileSync } from 'node:fs';
import { beforeAll, expect, it } from 'vitest';
import type { Database } from '../../../pipelines/db/index.ts';
import { describeDatabase } from '../../../test/harness/database.ts';
import { freshContext } from '../../../test/harness/fresh-context.ts';
import { rolledBack } from '../../../test/harness/rolled-back.ts';

const sql = (file: string): string => readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8');

/** Two comuni with three sections each, and one comune with a single section, as in the base file. */
const SECTIONS = ['940010000001', '940010000002', '940010000003', '940020000001', '940020000002', '940020000003', '940030000001'] as const;

interface Figures {
  readonly year: number;
  readonly section: string;
  readonly residents: number;
  /** Code of the comune in this edition. If absent, the code of the comune in the base file. */
  readonly istat?: string;
  /** Rank of the file among the files of one kind, from the newest (1). */
  readonly file?: number;
}

describeDatabase('the table census_figures', (engine) => {
  let database: Database;
  beforeAll(async () => {
    ({ database } = await freshContext(engine));
  });

  /** @returns Year and residents of each census section that has statistics, as `2021: 5` */
  const figures = (truthful: readonly Figures[], residentsOfBases: Readonly<Record<string, number>> = {}): Promise<Record<string, string>> =>
    rolledBack(database, async (session) => {
      await session.script(
        `
        create schema cases;
        set search_path to cases, public;
        create view region as select 14::int2 as code, 'Molise'::text as name;
        create table census_section (like layer.census_section);
        create table census_indicator (like layer.census_indicator);
        create table current_member as select n as member_id, n as rank from generate_series(1, 2) as n;`,
        'test',
      );
      for (const [index, section] of SECTIONS.entries()) {
        await session.query(
          `insert into census_section (release_id, member_id, position, section_id, region_code, istat_code, population, fictitious, made_valid, geom)
           values (1, 1, $1, $2, 14, $3, $4, false, false, st_multi(st_makeenvelope(14, 41, 14.01, 41.01, 4326)))`,
          [index, section, `0${section.slice(0, 5)}`, residentsOfBases[section] ?? 0],
        );
      }
      const columns = await session.query<{ name: string }>(
        "select attname as name from pg_attribute where attrelid = 'layer.census_indicator'::regclass and attnum > 8 and not attisdropped order by attnum",
      );
      for (const [index, { year, section, residents, istat, file }] of truthful.entries()) {
        await session.query(
          `insert into census_indicator (release_id, member_id, position, section_id, region_code, istat_code, reference_year, population_total, ${columns.map(({ name }) => name).join(', ')})
           values (1, $6, $1, $2, 14, $3, $4, $5, ${columns.map(() => 0).join(', ')})`,
          [index, section, istat ?? `0${section.slice(0, 5)}`, year, residents, file ?? 1],
        );
      }
      await session.script(sql('sql/core/census_figures.sql'), 'sql/core/census_figures.sql');
      const rows = await session.query<{ section: string; said: string }>(
        "select section_id as section, reference_year || ': ' || population_total as said from census_figures order by section_id",
      );
      return Object.fromEntries(rows.map(({ section, said }) => [section, said]));
    });
  const [a1, a2, a3, b1, b2, b3] = SECTIONS;

  it('uses the edition of 2023 for a comune that this edition contains, and the edition of 2021 for all other comuni', async () => {
    expect(
      await figures([
        { year: 2021, section: a1, residents: 5 },
        { year: 2021, section: b1, residents: 7 },
        { year: 2023, section: b1, residents: 8 },
        { year: 2023, section: b2, residents: 0 },
      ]),
    ).toEqual({ [a1]: '2021: 5', [a2]: '2021: 0', [a3]: '2021: 0', [b1]: '2023: 8', [b2]: '2023: 0' });
  });

  it('keeps the numbers of 2021 for a comune that the edition of 2023 withholds, and has no row for a missing section that has residents in the base file', async () => {
    expect(
      await figures(
        [
          { year: 2021, section: a1, residents: 5 },
          { year: 2021, section: b1, residents: 7 },
          { year: 2021, section: b2, residents: 7 },
          { year: 2023, section: a1, residents: 6 },
        ],
        { [b3]: 3 },
      ),
    ).toEqual({ [a1]: '2023: 6', [b1]: '2021: 7', [b2]: '2021: 7' });
  });

  it('has no rows for a comune without indicators, because missing rows do not mean that the comune has no residents', async () => {
    expect(await figures([{ year: 2021, section: a1, residents: 5 }])).toEqual({ [a1]: '2021: 5', [a2]: '2021: 0', [a3]: '2021: 0' });
  });

  it('uses one year for all sections of a comune of the base file, even if the later edition has the code of the merged comune', async () => {
    expect(await figures([
      { year: 2021, section: a1, residents: 5 }, { year: 2021, section: b1, residents: 7 }, { year: 2021, section: b2, residents: 2 }, { year: 2023, section: b1, residents: 8, istat: '094001' },
    ])).toEqual({ [a1]: '2021: 5', [a2]: '2021: 0', [a3]: '2021: 0', [b1]: '2023: 8' });
  });

  it('uses the newer file if two files have a section under two codes of the comune', async () => {
    expect(await figures([{ year: 2023, section: a1, residents: 5, file: 2 }, { year: 2023, section: a1, residents: 6, istat: '094002', file: 1 }])).toEqual({ [a1]: '2023: 6' });
  });
});
