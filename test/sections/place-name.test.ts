/** Tests the names of places in the address search: former provinces of comuni, and cities in other languages. */
import { readFileSync } from 'node:fs';
import { beforeAll, expect, it } from 'vitest';
import type { Database } from '../../pipelines/db/index.ts';
import { randomOf } from '../../pipelines/synthetic/random.ts';
import { describeDatabase } from '../harness/database.ts';
import { createFunctions } from '../harness/functions.ts';
import { rolledBack } from '../harness/rolled-back.ts';

const SQL = readFileSync(new URL('../../sql/core/place_name.sql', import.meta.url), 'utf8');
const random = randomOf('place names');

/** First three digits of codes with the plates of their province, including renamed and abolished provinces. */
const PLATES: readonly (readonly [string, readonly string[]])[] = [
  ['001', ['TO']], ['015', ['MI']], ['016', ['BG']], ['025', ['BL']], ['030', ['UD']], ['034', ['PR']], ['041', ['PU', 'PS']], ['044', ['AP']], ['048', ['FI']], ['058', ['RM']], ['063', ['NA']],
  ['071', ['FG']], ['072', ['BA']], ['079', ['CZ']], ['087', ['CT']], ['090', ['SS']], ['091', ['NU']], ['092', ['CA']], ['095', ['OR']], ['104', ['OT']], ['105', ['OG']], ['106', ['VS', 'MD']],
  ['107', ['CI']], ['108', ['MB']], ['109', ['FM']], ['110', ['BT']], ['111', ['SU']],
];
/** Provinces of 1992: code, plate, and the plates of the provinces from which they were created. */
const FOUNDED: readonly (readonly [string, string, readonly string[]])[] = [
  ['096', 'BI', ['VC']], ['097', 'LC', ['CO', 'BG']], ['098', 'LO', ['MI']], ['099', 'RN', ['FO', 'FC']], ['100', 'PO', ['FI']], ['101', 'KR', ['CZ']], ['102', 'VV', ['CZ']], ['103', 'VB', ['NO']],
];

interface Made {
  readonly belfiore: string;
  readonly name: string;
  readonly sigla: string;
  readonly codes: readonly string[];
}

const literal = (text: string | null): string => (text === null ? 'null' : `'${text.replaceAll("'", "''")}'`);

describeDatabase('the names of places', (engine) => {
  let database: Database;
  beforeAll(async () => {
    database = await engine.openDatabase();
    await database.session(createFunctions);
  });

  type Suppressed = readonly [code: string, name: string, day: string, heir: string, divided?: string];
  /** Returns the rows that the SQL creates: key, kind, code. */
  const rowsOf = (comuni: readonly Made[], suppressed: readonly Suppressed[]): Promise<string[]> =>
    rolledBack(database, async (session) => {
      await session.script(
        `create schema places; set search_path to places, public;
         create table comune_code (belfiore text, istat_code text, name text, name_other text, province_code text, province_name text, sigla text, code_107_2017 text, code_110 text, code_107 text, code_103 text);
         create table comune_suppressed (istat_code text, name text, event_date date, successor_istat_code text, divided bool);
         insert into comune_code values ${comuni.map(({ belfiore, name, sigla, codes: [now, ...before] }) => `(${[belfiore, now!, name, null, now!.slice(0, 3), `Provincia ${sigla}`, sigla, ...before].map(literal).join()})`).join()};
         ${suppressed.map((row) => `insert into comune_suppressed values (${row.slice(0, 4).map((value) => literal(value ?? null)).join()}, ${row[4] ?? 'false'});`).join('')}
         ${SQL}`, 'sql/core/place_name.sql',
      );
      return (await session.query<{ row: string }>("select concat_ws('|', key, kind, code) as row from place_name order by 1")).map(({ row }) => row);
    });
  const made = (index: number, sigla: string, codes: readonly string[], name = `Inventopoli ${'abcdefghijklmnopqrstuvwxyz'[index] ?? index}`): Made => ({ belfiore: `Q${String(index).padStart(3, '0')}`, name, sigla, codes });
  const platesOf = (rows: readonly string[], belfiore: string): string[] =>
    rows.map((row) => row.split('|')).filter(([key, kind, code]) => kind === 'past_province' && code === belfiore && key!.length === 2).map(([key]) => key!.toUpperCase()).sort();

  it('contain the plates of all former provinces of a comune, according to its former codes', async () => {
    const comuni = Array.from({ length: 20 }, (_, index) => {
      const codes = Array.from({ length: 5 }, () => `${random.pick(PLATES)[0]}${String(100 + index)}`);
      return made(index, PLATES.find(([code]) => codes[0]!.startsWith(code))![1][0]!, codes);
    });
    const rows = await rowsOf(comuni, []);
    for (const { belfiore, sigla, codes } of comuni) {
      const expected = new Set(codes.flatMap((code) => PLATES.find(([first]) => code.startsWith(first))![1]).filter((plate) => plate !== sigla));
      expect(platesOf(rows, belfiore), codes.join()).toEqual([...expected].sort());
    }
  });

  it('contain the plates of the provinces that a province of 1992 was created from, but only for comuni that joined the new province at its creation', async () => {
    const comuni = FOUNDED.map(([code, sigla], index) => made(index, sigla, Array.from({ length: 5 }, () => `${code}${String(200 + index)}`)));
    const late = made(20, FOUNDED[0]![1], [`${FOUNDED[0]![0]}300`, '001300', '001300', '001300', '001300']);
    const rows = await rowsOf([...comuni, late], []);
    expect(comuni.map(({ belfiore }) => platesOf(rows, belfiore))).toEqual(FOUNDED.map(([, , plates]) => [...plates].sort()));
    expect(platesOf(rows, late.belfiore)).toEqual(['TO']);
  });

  it('map a suppressed comune through later suppressions to the current comune, which gets the former comune\'s province', async () => {
    const [first, second] = [made(0, 'TO', Array.from({ length: 5 }, () => '001001')), made(1, 'MB', ['108002', '108002', '108002', '108002', '015002'])];
    const rows = await rowsOf([first, second], [['041901', 'Scomparsa', '1920-01-01', '058902'], ['058902', 'Intermedia', '1930-01-01', '015002'], ['063903', 'Perduta', '1930-01-01', '063904'],
      ['044904', 'Divisa', '1940-01-01', '001001', 'true'], ['044904', 'Divisa', '1940-01-01', '015002', 'true']]);
    expect(rows).toEqual(expect.arrayContaining(['scomparsa|former|Q001', 'intermedia|former|Q001', 'perduta|former|063903', 'divisa|former|Q000', 'divisa|former|Q001']));
    expect(platesOf(rows, 'Q001')).toEqual(['MI', 'PS', 'PU', 'RM']);
    expect(platesOf(rows, 'Q000')).toEqual([]);
  });

  it('contain foreign names of cities, unless an Italian place has the foreign name or two comuni have the Italian name', async () => {
    const foreign = [...SQL.matchAll(/^ {4}\('((?:[^']|'')+)', '((?:[^']|'')+)', '([a-z]{2}(?: [a-z]{2})*)'\)/gm)].map(([, city, name, languages]) => [city!.replaceAll("''", "'"), name!.replaceAll("''", "'"), languages!] as const);
    const cities = [...new Set(foreign.map(([city]) => city))];
    const comuni = cities.map((name, index) => made(index, 'TO', Array.from({ length: 5 }, () => `001${String(index).padStart(3, '0')}`), name));
    const rows = await rowsOf(comuni, []);
    expect(rows.filter((row) => row.includes('|foreign|')).length).toBeGreaterThan(100);
    expect(new Set(foreign.flatMap(([, , languages]) => languages.split(' '))).size).toBeGreaterThan(10);
    for (const { belfiore } of comuni) expect(rows.some((row) => row.endsWith(`|foreign|${belfiore}`)), belfiore).toBe(true);
    // Adds a comune with the foreign name. Then, instead, adds a second comune with the Italian name.
    const [city, name] = random.pick(foreign.filter(([each]) => foreign.filter(([other]) => other === each).length === 1));
    const taken = made(900, 'TO', Array.from({ length: 5 }, () => '001900'), name);
    const belfiore = comuni.find((each) => each.name === city)!.belfiore;
    expect((await rowsOf([...comuni, taken], [])).filter((row) => row.endsWith(`|foreign|${belfiore}`)), name).toEqual([]);
    expect((await rowsOf([...comuni, { ...taken, name: city }], [])).filter((row) => /\|foreign\|/.test(row) && row.endsWith(belfiore)), city).toEqual([]);
  });
});
