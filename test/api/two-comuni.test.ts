/**
 * Tests queries with two comuni. A query finds the first comune if the second name is a name, the region or the current or a former province of the first
 * comune. The query finds the second comune if the first name is a locality of the second. Otherwise the query finds nothing.
 */
import { beforeAll, expect, it } from 'vitest';
import { comuneKey } from '../../pipelines/address/normalise.ts';
import { parseQuery } from '../../pipelines/address/parse-query.ts';
import type { Database } from '../../pipelines/db/index.ts';
import { makeRegion } from '../../pipelines/synthetic/make-region.ts';
import { randomOf } from '../../pipelines/synthetic/random.ts';
import { ADDRESS_SOURCES, ADDRESS_SQL, buildAddresses } from '../harness/address-workspace.ts';
import { describeEngines } from '../harness/database.ts';
import { addStreets } from '../harness/made-streets.ts';
import { allOf } from '../harness/phrasings.ts';
import { sectionWorkspace } from '../harness/section-workspace.ts';

interface Comune {
  readonly belfiore: string;
  /** Names of the comune, in one or two languages. */
  readonly names: readonly string[];
  readonly province: string;
  readonly sigla: string;
  readonly past: readonly string[];
  readonly isLoaded: boolean;
}

const region = makeRegion({ parcels: 2_000, seed: 11 });
const random = randomOf('two comuni');
const STREET = 'Via Roma';
const NUMBER = 112;

const LOADED: readonly Comune[] = region.comuni.map(({ belfiore, italianName, otherName, province: { name, sigla } }) => ({
  belfiore, names: otherName === null ? [italianName] : [italianName, otherName], province: name, sigla, past: ['QQ', 'Antica Contea'], isLoaded: true,
}));
/** Comuni in a region that is not loaded. The first comune is the capital of the province. */
const ABROAD: readonly Comune[] = ['Vallescura', 'Montelungo Nuovo', 'San Fittizio a Mare', "Terra d'Ombra"].map((name, index) => ({
  belfiore: `Y00${index}`, names: [name, `Alt${name.toLowerCase().replace(/[^a-z]/g, '')}`], province: 'Vallescura', sigla: 'VX', past: ['QQ', 'Antica Contea'], isLoaded: false,
}));
const ALL = [...LOADED, ...ABROAD];

const FORMS: readonly ((a: string, b: string) => string)[] = [
  (a, b) => `${STREET} ${NUMBER}, ${a}, ${b}`, (a, b) => `${STREET} ${NUMBER} ${a} ${b}`, (a, b) => `${STREET} ${NUMBER} ${a}, ${b}`, (a, b) => `${STREET} ${NUMBER}, ${a} ${b}`,
  (a, b) => `${STREET} ${NUMBER} - ${a} - ${b}`, (a, b) => `${STREET}, ${NUMBER}, 20999 ${a}, 20998 ${b}`, (a, b) => `${a}, ${STREET} ${NUMBER}, ${b}`, (a, b) => `${a} ${STREET} ${NUMBER} ${b}`,
  (a, b) => `${STREET}, ${a}, ${b}`, (a, b) => `${STREET} ${a} ${b}`, (a, b) => `${STREET} ${NUMBER} (${a}), ${b}`, (a, b) => `Comune di ${a}, ${STREET} ${NUMBER}, Comune di ${b}`,
  (a, b) => `${a.toUpperCase()}, ${b.toUpperCase()}, ${STREET} ${NUMBER}`,
];

describeEngines('a query with two comuni', (engine) => {
  let database: Database;
  const locality = 'Vallescura';
  const host = random.pick(LOADED);

  beforeAll(async () => {
    database = await engine.openDatabase();
    const workspace = await sectionWorkspace(database, { region, sources: ADDRESS_SOURCES, sql: ADDRESS_SQL });
    await buildAddresses(workspace, database, region);
    await database.query("insert into core.province values ('999', 'Vallescura', 'VX', 20)");
    await database.query("insert into core.place_name values ('vallescura', 'province', '999')");
    for (const { belfiore, names: [name, second], isLoaded, past } of ALL) {
      if (!isLoaded) {
        await database.query(
          `insert into core.comune (belfiore, istat_code, name, province_code, province_name, sigla, region_code) values ($1, '999' || right($1::text, 3), $2, '999', 'Vallescura', 'VX', 20)`, [belfiore, name],
        );
        await database.query("insert into core.place_name values (core.comune_key($1), 'name', $3), (core.comune_key($2), 'second', $3)", [name, second, belfiore]);
      }
      for (const key of past) await database.query("insert into core.place_name values (core.comune_key($1), 'past_province', $2)", [key, belfiore]);
    }
  });

  const comuniOf = async (query: string, city: string | null = null): Promise<string[]> => {
    const found = await allOf(database, query, parseQuery, city);
    return [...new Set(found.map(({ municipality_code: code }) => code))];
  };

  /** Returns whether the name `b` may follow `a` in an address: a name of `a`, of its current or a former province, or of its region. */
  const agree = (a: Comune, b: string): boolean => [...a.names, a.province, ...a.past, a.isLoaded ? region.name : 'Sardegna'].some((name) => comuneKey(name) === comuneKey(b));

  it('finds the first comune if it is loaded and the second name agrees with it, and else nothing, in any form of the query', async () => {
    for (let index = 0; index < 120; index += 1) {
      const [a, b] = [random.pick(ALL), random.pick(ALL)];
      const [first, second] = [random.pick(a.names), random.pick(b.names)];
      const form = FORMS[index % FORMS.length]!;
      const found = await comuniOf(form(first, second));
      expect(found, form(first, second)).toEqual(a.isLoaded && agree(a, second) ? [a.belfiore] : []);
    }
  });

  it('finds the first comune if its province, former province or region follows', async () => {
    for (const a of LOADED) {
      for (const [index, place] of [a.province, region.name, ...a.past].entries()) {
        const forms = place.length === 2 ? FORMS.slice(0, 1) : FORMS.filter((_, at) => at % 3 === index % 3 && at < 6);
        for (const form of forms) expect(await comuniOf(form(a.names[0]!, place)), form(a.names[0]!, place)).toEqual([a.belfiore]);
      }
      expect(await comuniOf(`${STREET} ${NUMBER}, ${a.names[0]!} (QQ)`)).toEqual([a.belfiore]);
      expect(await comuniOf(`${STREET} ${NUMBER}, ${a.names[0]!} (VX)`)).toEqual([]);
      expect(await comuniOf(`${STREET} ${NUMBER}, ${a.names[0]!}, Sardegna`)).toEqual([]);
    }
  });

  it('finds nothing if a loaded comune follows a street with a number and a comune that is not loaded', async () => {
    for (const b of LOADED) expect(await comuniOf(`Corso Vittorio Emanuele II ${NUMBER} ${ABROAD[1]!.names[0]!}, ${b.names[0]!}`)).toEqual([]);
  });

  it('reports a contradiction if the city is not the comune in the query', async () => {
    const [a, b] = [LOADED[0]!, LOADED[1]!];
    const { contradiction } = await parseQuery(`${STREET} ${NUMBER}, ${a.names[0]!}`, b.names[0]!, async (keys, names) => {
      const [row] = await database.query<{ hits: never[] }>('select api.geocode_comune($1, $2) as hits', [keys, names === 'similar']);
      return row!.hits;
    });
    expect(contradiction).toEqual({ query: [a.belfiore], city: [b.belfiore] });
    expect(await comuniOf(`${STREET} ${NUMBER}, ${a.names[0]!}, ${b.names[0]!}`, a.names[0])).toEqual([]);
  });

  it('finds the second comune if the first name is the locality of addresses in the second comune', async () => {
    const query = `Via Montanara 7, ${locality}, ${host.names[0]!}`;
    expect(await comuniOf(query)).toEqual([]);
    await addStreets(database, region.code, host.belfiore, [{ name: 'Via Montanara', numbers: [7], locality }]);
    for (const form of [query, query.replaceAll(',', ''), `${locality}, Via Montanara 7, ${host.names[0]!}`]) expect(await comuniOf(form), form).toEqual([host.belfiore]);
    expect(await comuniOf(`Via Montanara 7, ${locality}`, host.names[0])).toEqual([host.belfiore]);
    for (const other of LOADED.filter(({ belfiore }) => belfiore !== host.belfiore)) expect(await comuniOf(`${STREET} ${NUMBER}, ${locality}, ${other.names[0]!}`)).toEqual([]);
  });
});
