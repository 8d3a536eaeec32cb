/** Tests pairs of comuni from the published list. A query that names two comuni must never find the second comune. */
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { comuneKey } from '../../pipelines/address/normalise.ts';
import { parseQuery, type ComuneHit, type Names } from '../../pipelines/address/parse-query.ts';
import type { Database } from '../../pipelines/db/index.ts';
import { randomOf } from '../../pipelines/synthetic/random.ts';
import { describeDatabase } from '../harness/database.ts';
import { createTables } from '../harness/functions.ts';
import { realData } from '../harness/real-data.ts';

const FILE = realData('istat-admin/codes/Elenco-comuni-italiani_2023.csv');

interface Listed {
  readonly code: string;
  readonly name: string;
  readonly other: string;
  readonly region: string;
  readonly province: string;
  readonly sigla: string;
  readonly codes: readonly string[];
  readonly belfiore: string;
}

/** Reads the rows of the list without using the project's reader. */
function listed(path: string): Listed[] {
  const text = readFileSync(path, 'latin1').replace(/"[^"]*"/g, 'quoted');
  return text.split('\r\n').map((line) => line.split(';')).filter((cells) => /^[A-Z]\d{3}$/.test(cells[19] ?? '')).map((cells) => ({
    code: cells[4]!.trim(), name: cells[6]!, other: cells[7]!, region: cells[10]!, province: cells[11]!, sigla: cells[14]!,
    codes: cells.slice(16, 19).map((cell) => cell.trim().padStart(6, '0')), belfiore: cells[19]!,
  }));
}

/** Maps province codes to plates that no comune of the list has today. Two of these provinces still exist under a different plate. */
const OLD_PLATES: Readonly<Record<string, string>> = { 104: 'OT', 105: 'OG', 106: 'VS', 107: 'CI', '041': 'PS', '040': 'FO' };

describe.skipIf(FILE === null)('the address search', () => {
  describeDatabase('with the published list of comuni', (engine) => {
    const comuni = FILE === null ? [] : listed(FILE);
    const plates = new Map(comuni.map(({ code, sigla }) => [code.slice(0, 3), sigla]));
    const random = randomOf('pairs of the list');
    let database: Database;

    beforeAll(async () => {
      database = await engine.openDatabase();
      await database.session(async (session) => {
        await createTables(session);
        await session.query('set check_function_bodies to off');
        await session.script(readFileSync(new URL('../../sql/api/geocode_comune.sql', import.meta.url), 'utf8'), 'geocode_comune');
        await session.script('create schema listed', 'test');
        await session.query('set search_path to listed, public');
        await session.script(
          `create table comune_code (belfiore text, istat_code text, name text, name_other text, province_code text, province_name text, sigla text, region_name text,
             code_107_2017 text, code_110 text, code_107 text, code_103 text);
           create table comune_suppressed (istat_code text, name text, event_date date, successor_istat_code text, divided bool)`, 'test',
        );
        await session.query(
          `insert into comune_code select x.belfiore, x.code, x.name, nullif(x.other, ''), left(x.code, 3), x.province, x.sigla, x.region, null, x.codes ->> 0, x.codes ->> 1, x.codes ->> 2
           from jsonb_to_recordset($1::jsonb) as x (belfiore text, code text, name text, other text, province text, sigla text, region text, codes jsonb)`, [JSON.stringify(comuni)],
        );
        await session.script(readFileSync(new URL('../../sql/core/place_name.sql', import.meta.url), 'utf8'), 'place_name');
        await session.script(
          `insert into core.place_name select key, kind, code from place_name;
           insert into core.province select province_code, min(province_name), min(sigla), min(0) from comune_code group by 1;
           insert into core.comune (belfiore, istat_code, name, province_code, province_name, sigla, region_code)
           select belfiore, istat_code, name, province_code, province_name, sigla, 0 from comune_code`, 'test',
        );
        await session.query('analyze');
      });
    });

    const find = async (keys: readonly string[], names: Names): Promise<ComuneHit[]> => {
      const [row] = await database.query<{ hits: ComuneHit[] }>('select api.geocode_comune($1, $2) as hits', [keys, names === 'similar']);
      return row!.hits;
    };
    const comuniOf = async (query: string): Promise<string[]> => [...new Set((await parseQuery(query, null, find)).readings.flatMap(({ comuni: codes }) => codes ?? ['anywhere']))].sort();
    const pasts = ({ codes, code }: Listed): string[] => codes.filter((each) => each.slice(0, 3) !== code.slice(0, 3)).map((each) => each.slice(0, 3));
    const plateOf = (code: string): string => OLD_PLATES[code] ?? plates.get(code)!;

    it('finds only the first comune, or no comune, if a query names two comuni', async () => {
      for (let index = 0; index < 120; index += 1) {
        const [a, b] = [random.pick(comuni), random.pick(comuni)];
        const query = [`Via Milanesi 3, ${a.name}, ${b.name}`, `Via Milanesi 3 ${a.name} ${b.name}`, `Via Milanesi 3, 20999 ${a.name}, 20998 ${b.name} (${b.sigla})`][index % 3]!;
        const homonyms = comuni.filter(({ name }) => comuneKey(name) === comuneKey(a.name)).map(({ belfiore }) => belfiore);
        expect((await comuniOf(query)).filter((code) => !homonyms.includes(code)), query).toEqual([]);
      }
    });

    it('finds a comune if its present province, or any earlier province, follows in the query', async () => {
      const moved = comuni.filter((each) => pasts(each).length > 0);
      for (let index = 0; index < 60; index += 1) {
        const comune = random.pick(moved);
        const code = random.pick(pasts(comune));
        for (const query of [`Via Milanesi 3, ${comune.name} (${plateOf(code)})`, `Via Milanesi 3 ${comune.name} ${plateOf(code)}`, `Via Milanesi 3, ${comune.name}, ${comune.province}`]) {
          expect(await comuniOf(query), query).toContain(comune.belfiore);
        }
        const province = comuni.find((each) => each.code.startsWith(code))?.province;
        if (province !== undefined) expect(await comuniOf(`Via Milanesi 3, ${comune.name}, ${province}`), `${comune.name}, ${province}`).toEqual([comune.belfiore]);
      }
    });

    it('finds no comune if a province follows to which the comune never belonged', async () => {
      for (let index = 0; index < 60; index += 1) {
        const [comune, other] = [random.pick(comuni), random.pick(comuni)];
        const namesakes = comuni.filter(({ name }) => comuneKey(name) === comuneKey(comune.name));
        const isOfOther = (code: string): boolean => plateOf(code.slice(0, 3)) === other.sigla || code.startsWith(other.code.slice(0, 3));
        const never = namesakes.every((each) => ![each.code, ...each.codes].some(isOfOther));
        const isOf1992 = ['096', '097', '098', '099', '100', '101', '102', '103'].some((code) => comune.code.startsWith(code));
        if (never && !isOf1992) expect(await comuniOf(`Via Milanesi 3, ${comune.name} (${other.sigla})`), `${comune.name} (${other.sigla})`).toEqual([]);
      }
    });

    it('finds cities by their names in other languages', async () => {
      const names = [['Naples', 'Napoli'], ['Mailand', 'Milano'], ['Turijn', 'Torino'], ['Gênes', 'Genova'], ['Venecia', 'Venezia'], ['Padua', 'Padova'], ['Syracuse', 'Siracusa']] as const;
      for (const [foreign, name] of names) expect(await comuniOf(`Via Milanesi 3, ${foreign}`), foreign).toEqual(comuni.filter((each) => each.name === name).map(({ belfiore }) => belfiore));
      const [row] = await database.query<{ n: number }>("select count(distinct key)::int as n from core.place_name where kind = 'foreign'");
      expect(row!.n).toBeGreaterThan(100);
    });
  });
});
