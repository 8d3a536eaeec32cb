import { beforeAll, describe, expect, it } from 'vitest';
import { BRACKET_NAMES } from '../../sources/mef_income/schema.ts';
import source from '../../sources/mef_income/source.ts';
import { describeDatabase } from '../harness/database.ts';
import { createFunctions } from '../harness/functions.ts';
import { realData } from '../harness/real-data.ts';
import { trial } from '../harness/trial.ts';

const absent = realData('mef') === null;
const path = (level: string, year: number): string => realData(`mef/Redditi_e_principali_variabili_IRPEF_su_base_${level}_CSV_${year}.csv`)!;

interface Income extends Record<string, unknown> {
  readonly level: string;
  readonly belfiore: string | null;
  readonly cap: string | null;
  readonly taxpayers: number | null;
  readonly total_income_n: number | null;
  readonly total_income_eur: number | null;
}

async function rows(level: string, year: number): Promise<Income[]> {
  const { collected } = await trial(source, path(level, year));
  expect(collected!.members[0]!.rejects).toEqual([]);
  return collected!.rows['raw_income'] as Income[];
}

const counts = (row: Income): (number | null)[] => BRACKET_NAMES.map((name) => row[`${name}_n`] as number | null);
const amounts = (row: Income): (number | null)[] => BRACKET_NAMES.map((name) => row[`${name}_eur`] as number | null);

describe('the real files of the MEF', () => {
  it.skipIf(absent)('have 7,896 comuni and one row of taxpayers without a comune in 2023', async () => {
    const found = await rows('comunale', 2023);
    expect(found).toHaveLength(7_897);
    expect(found.filter(({ level }) => level === 'comune')).toHaveLength(7_896);
    expect(found.filter(({ level }) => level === 'unplaced').map(({ belfiore, taxpayers }) => [belfiore, taxpayers])).toEqual([[null, 5_722]]);
    expect((await trial(source, path('comunale', 2023))).recognition).toMatchObject({ role: 'comunale', vintage: '2023', complete: true });
  });

  it.skipIf(absent)('never withhold exactly one bracket in 2023, and add up to the total if no bracket is withheld', async () => {
    const found = (await rows('comunale', 2023)).filter(({ level }) => level === 'comune');
    const withheld = new Map<number, number>();
    for (const row of found) {
      const missing = counts(row).filter((n) => n === null).length;
      withheld.set(missing, (withheld.get(missing) ?? 0) + 1);
      if (missing > 0) continue;
      expect(counts(row).reduce((sum: number, n) => sum + n!, 0)).toBe(row.total_income_n);
      expect(amounts(row).reduce((sum: number, euro) => sum + euro!, 0)).toBe(row.total_income_eur);
    }
    expect([...withheld.keys()].sort()).toEqual([0, 2, 3, 4]);
    expect(found.some((row) => counts(row).includes(0))).toBe(true);
  });

  it.skipIf(absent)('have 606 postal codes of 41 comuni in 2023, and 608 in 2021, each of one comune', async () => {
    const of2023 = await rows('subcomunale', 2023);
    expect(of2023).toHaveLength(606);
    expect(new Set(of2023.map(({ belfiore }) => belfiore)).size).toBe(41);
    expect(new Set(of2023.map(({ cap }) => cap)).size).toBe(606);
    expect(of2023.every(({ cap, level }) => /^\d{5}$/.test(cap!) && level === 'cap')).toBe(true);
    const of2021 = await rows('subcomunale', 2021);
    expect(of2021).toHaveLength(608);
    expect(of2021.every(({ total_income_n: total }) => total === null)).toBe(true);
  });
});

describeDatabase('the Gini index of real comuni', (engine) => {
  let gini: (row: Income) => Promise<number | null>;

  beforeAll(async () => {
    const database = await engine.openDatabase();
    await database.session(createFunctions);
    gini = async (row) => {
      const [found] = await database.query<{ g: number | null }>('select core.gini($1::int8[], $2::int8[], $3::int8, $4::int8)::float8 as g', [counts(row), amounts(row), row.total_income_n, row.total_income_eur]);
      return found!.g;
    };
  });

  // Reference values of 2023, which a different program computed from the published file.
  it.skipIf(absent).each([
    ['Roma', 'H501', 0.4829], ['Milano', 'F205', 0.5464], ['Napoli', 'F839', 0.484], ['Lamezia Terme', 'M208', 0.4298], ['Abano Terme', 'A001', 0.4285],
    ['Aosta', 'A326', 0.4063], ['Gorizia', 'E098', 0.3766], ['Allein', 'A205', 0.3148], ['Basiglio', 'A699', 0.5326],
  ])('equals the reference value for %s', async (_name, belfiore, expected) => {
    const found = (await rows('comunale', 2023)).find((row) => row.belfiore === belfiore)!;
    expect(await gini(found)).toBe(expected);
  });

  it.skipIf(absent)('is between 0.1 and 0.75 for every postal code of both years', async () => {
    for (const year of [2021, 2023]) {
      for (const row of await rows('subcomunale', year)) {
        const value = await gini(row);
        if (value !== null) expect(value, `${year} ${row.cap}`).toBeGreaterThan(0.1);
        if (value !== null) expect(value, `${year} ${row.cap}`).toBeLessThan(0.75);
      }
    }
  });
});
