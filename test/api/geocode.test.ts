import { beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../pipelines/db/index.ts';
import { parseQuery, type ComuneHit, type FindComune, type Names, type ParsedQuery } from '../../pipelines/address/parse-query.ts';
import { makeRegion } from '../../pipelines/synthetic/make-region.ts';
import { geodesicDistance } from '../../pipelines/synthetic/map-projection.ts';
import synthetic from '../../sources/anncsu_addresses/synthetic.ts';
import { ADDRESS_SOURCES, ADDRESS_SQL, buildAddresses } from '../harness/address-workspace.ts';
import { describeEngines } from '../harness/database.ts';
import { sectionWorkspace, type SectionWorkspace } from '../harness/section-workspace.ts';
import { queryRecords } from '../harness/records.ts';

interface Found {
  readonly address_id: number;
  readonly street_name: string;
  readonly street_number: string;
  readonly locality: string;
  readonly municipality_code: string;
  readonly municipality_name: string;
  readonly province: string;
  readonly latitude: number;
  readonly longitude: number;
  readonly formatted_address: string;
  readonly match_type: string;
  readonly score: number;
  readonly distance_meters: number;
}

/** Names of real comuni: long and short, similar and homonymous, with saints, articles, apostrophes and a second language. None of these comuni is loaded. */
const REAL = (
  "Salerno;Siderno;Palermo;Salento;Milano;Roma;Torino;Napoli;Bari;Genova;Bologna;Firenze;Venezia;Verona;Cento;Conte;Castro;Livo;Peglio;Samone;San Teodoro;Calliano;Brione;Re;Ne;Ro;Vo';Lu;Rho;Bra;"
  + "Ala;Ora;Lei;Rossa;Armo;L'Aquila;La Spezia;Reggio nell'Emilia;Reggio di Calabria;Lamezia Terme;Forlì;Forlimpopoli;Cirò;Cirò Marina;Sant'Angelo Lodigiano;Sant'Agata de' Goti;Santa Maria Capua Vetere;"
  + 'San Giovanni in Fiore;San Giorgio a Cremano;Sesto San Giovanni;Villa San Giovanni;Castellammare di Stabia;Barcellona Pozzo di Gotto;Cortina d’Ampezzo;San Benedetto del Tronto;Borgo a Mozzano;Borgo San Lorenzo;'
  + 'Borgomanero;Castel Gandolfo;Castel San Pietro Terme;Castello di Godego;Castelfranco Veneto;Roccabianca;Roccaraso;Rocca di Papa;Roccapiemonte;Roccaforzata;Roccavaldina;Bolzano;Merano;Bressanone;Isernia;Campobasso;'
  + 'Termoli;Agnone;Venafro;Molise;Corigliano-Rossano;Presicce-Acquarica;Mariano Comense;Monte Argentario;Monza;Desio;Lecce;Lecco;Como;Fermo;Termo;Nola;Noto;Noci;Nocera Inferiore;Nocera Superiore;Vinci;Assisi;Cavour;Loreto'
).split(';');

/** Comuni of the region: Castel dell'Inventato (Z001, the largest), Forlì Finto, Borgo Finto/Scheindorf, Sant'Illusorio del Nulla, Roccapparente. */
const region = makeRegion({ parcels: 2_000, seed: 11 });

describeEngines('the address search', (engine) => {
  let database: Database;
  let workspace: SectionWorkspace;

  beforeAll(async () => {
    database = await engine.openDatabase();
    workspace = await sectionWorkspace(database, { region, sources: ADDRESS_SOURCES, sql: ADDRESS_SQL });
    await buildAddresses(workspace, database, region);
  });

  const findComune = async (keys: readonly string[], names: Names): Promise<ComuneHit[]> => {
    const [row] = await database.query<{ hits: ComuneHit[] }>('select api.geocode_comune($1, $2) as hits', [keys, names === 'similar']);
    return row!.hits;
  };
  const search = async (query: string, city: string | null = null, limit = 10): Promise<Found[]> => {
    const parsed = await parseQuery(query, city, findComune);
    const [row] = await database.query<{ found: Found[] }>('select api.geocode_search($1, $2) as found', [JSON.stringify(parsed), limit]);
    return row!.found;
  };
  const first = async (query: string, city: string | null = null): Promise<string> => {
    const [best] = await search(query, city);
    return best === undefined ? 'nothing' : `${best.street_name} | ${best.street_number} | ${best.municipality_code} | ${best.match_type}`;
  };

  it('returns the fields of the API with the values that the synthetic region defines', async () => {
    const truth = synthetic.truth!(region);
    const known = new Map<number, Record<string, unknown>>();
    for (const parcel of region.parcels()) for (const address of (truth(parcel) as { address: Record<string, unknown>[] }).address) known.set(address['address_id'] as number, address);
    const [best] = await search("via roma 112 Castel dell'Inventato");
    const { match_type: type, score, ...fields } = best!;
    expect(fields).toEqual(known.get(best!.address_id));
    expect(fields.formatted_address).toBe('Via Roma 112, Castel dell\'Inventato, Isernia');
    expect([type, score]).toEqual(['number', 1]);
  });

  it.each([
    ['Via Roma 112, Castel dell\'Inventato', 'Via Roma | 112 | Z001 | number'],
    ['via roma 112/A castel dell inventato', 'Via Roma | 112/A | Z001 | number'],
    ['Via Roma 112 A, 86001 Castel dell’Inventato (IS)', 'Via Roma | 112/A | Z001 | number'],
    ['Via Roma 130 B Forlì Finto', 'Via Roma | 130/B | Z002 | number'],
    ['Via Roma 130bis Forli\' Finto', 'Via Roma | 130/BIS | Z002 | number'],
    ['Via Roma 151r Roccapparente', 'Via Roma | 151 ROSSO | Z005 | number'],
    ['Via Roma 151 rosso Roccapparente', 'Via Roma | 151 ROSSO | Z005 | number'],
    ['Via Roma 151 Roccapparente', 'Via Roma | 151 | Z005 | number'],
    ['Via Roma 149 rosso Roccapparente', 'Via Roma | 151 ROSSO | Z005 | nearest_number'],
    ['Via Roma 149 Roccapparente', 'Via Roma | 151 | Z005 | nearest_number'],
    ['Via XX Settembre 120/3 Roccapparente', 'Via XX Settembre | 120/3 | Z005 | number'],
    ['via venti settembre 120 Roccapparente', 'Via XX Settembre | 120 | Z005 | number'],
    ['via 20 settembre, 120 - Roccapparente', 'Via XX Settembre | 120 | Z005 | number'],
    ['Via Leopoldo II 108 Roccapparente', 'Via Leopoldo II | 108 | Z005 | number'],
    ['Corso Vittorio Emanuele II 145 Roccapparente', 'Corso Vittorio Emanuele Secondo | 145 | Z005 | number'],
    ['c.so Vittorio Emanuele 2 145 Roccapparente', 'Corso Vittorio Emanuele Secondo | 145 | Z005 | number'],
    ['P.zza I Maggio 107 Roccapparente', 'Piazza Primo Maggio | 107 | Z005 | number'],
    ['Via S.Anna 105 Roccapparente', "Via Sant'Anna | 105 | Z005 | number"],
    ['Via Dannunzio 106 Roccapparente', "Via d'Annunzio | 106 | Z005 | number"],
    ['via g. garibaldi 103 Roccapparente', 'Via Giuseppe Garibaldi | 103 | Z005 | number'],
    ['via giuseppe garibadli 103 Roccapparente', 'Via Giuseppe Garibaldi | 103 | Z005 | number'],
    ['viale roma 113 Roccapparente', 'Viale Roma | 113 | Z005 | number'],
    ['SS 18 km 3+200 Roccapparente', 'Strada Statale 18 | KM 3+200 | Z005 | number'],
    ['Strada Statale 18 km 3,1 Roccapparente', 'Strada Statale 18 | KM 3+200 | Z005 | nearest_number'],
    ['S.P. 12 snc Roccapparente', 'Strada Provinciale 12 | SNC | Z005 | number'],
    ['SP 12 Roccapparente', 'Strada Provinciale 12 | SNC | Z005 | street'],
    ['Museumstraße 111 Roccapparente', 'Via Museo / Museumstrasse | 111 | Z005 | number'],
    ['Romstr. 112, Scheindorf', 'Via Roma | 112 | Z003 | number'],
    ['loc. Pian di Nulla 101 Roccapparente', "Localita' Pian di Nulla | 101 | Z005 | number"],
    ["Via Cirò 102 Castel dell'Inventato", 'Via Cirò | 102 | Z001 | number'],
    ["via ricchi 104 Castel dell'Inventato", 'Via Ricch\u00ee | 104 | Z001 | number'],
    ['Roccapparente, Via Roma 112', 'Via Roma | 112 | Z005 | number'],
    ['Via Roma 112 Rocapparente', 'Via Roma | 112 | Z005 | number'],
    ['Via Roma 112, Nonsò di Sotto', 'Via Roma | 112 | Z001 | number'],
    ['Via Roma 112 S. Illusorio del Nulla', 'Via Roma | 112 | Z004 | number'],
    ['via roma 112-114 Roccapparente', 'Via Roma | 112 | Z005 | number'],
    ['via roma 110-112 Roccapparente', 'Via Roma | 112 | Z005 | number'],
    ['Contrada Fornace 109, loc. Piano, Roccapparente', 'Contrada Fornace | 109 | Z005 | number'],
  ])('%s → %s', async (query, expected) => {
    expect(await first(query)).toBe(expected);
  });

  it('accepts the city by name, misspelt name, second name, former name and code', async () => {
    for (const city of ['Borgo Finto', 'Scheindorf', 'Z003', 'z003', `borgo finto (${region.comuni[2]!.province.sigla})`, 'BORGO FINTO', 'Borgo Fintto']) {
      expect(await first('via roma 112', city), city).toBe('Via Roma | 112 | Z003 | number');
    }
    expect(await first('via roma 112', 'Nonsò di Sotto')).toBe('Via Roma | 112 | Z001 | number');
  });

  it('ranks the exact exponent first: 130/B for 130 B, and 130/BIS for 130 bis', async () => {
    const numbers = (await search('Via Roma 130 B Roccapparente')).map(({ street_number: number }) => number);
    expect(numbers[0]).toBe('130/B');
    expect((await search('Via Roma 130 bis Roccapparente')).map(({ street_number: number }) => number)[0]).toBe('130/BIS');
    // Number 140 exists only as 140/BIS. For 140 B, the first result is 142, the next number on the same side.
    const nearest = await search('Via Roma 140 B Roccapparente');
    expect(nearest.slice(0, 2).map(({ street_number: number, match_type: type }) => [number, type])[0]).toEqual(['142', 'nearest_number']);
    expect((await search('Via Roma 140 Roccapparente')).map(({ street_number: number, match_type: type }) => [number, type])[0]).toEqual(['140/BIS', 'number_without_exponent']);
  });

  it('lists the number without an exponent before numbers with a different exponent if the exact number does not exist', async () => {
    const found = await search('Via Roma 130/C Roccapparente');
    expect(found.slice(0, 3).map(({ street_number: number, match_type: type }) => [number, type])).toEqual([
      ['130', 'number_without_exponent'], ['130/B', 'number_without_exponent'], ['130/BIS', 'number_without_exponent'],
    ]);
  });

  it('returns the nearest number in the same street and comune if the house number does not exist', async () => {
    const found = await search('Via Roma 998 Roccapparente');
    expect(found[0]).toMatchObject({ street_name: 'Via Roma', municipality_code: 'Z005', match_type: 'nearest_number', street_number: '142' });
    expect(new Set(found.map(({ municipality_code: code }) => code))).toEqual(new Set(['Z005']));
    expect(found.every(({ score }) => score <= 1 && score > 0)).toBe(true);
  });

  it('gives a match of street and house number a higher score than a match of the street alone', async () => {
    const without = await search('Via Leopoldo II Roccapparente');
    const withNumber = await search('Via Leopoldo II 108 Roccapparente');
    expect(without[0]).toMatchObject({ street_name: 'Via Leopoldo II', match_type: 'street', score: 0.97 });
    expect(withNumber[0]).toMatchObject({ street_name: 'Via Leopoldo II', match_type: 'number', score: 1 });
  });

  it('returns both streets of the same name, the street in the named locality first', async () => {
    const both = await search('Contrada Fornace 109 Roccapparente');
    expect(both.slice(0, 2).map(({ locality }) => locality).sort()).toEqual(['Borgo Basso', "Localita' Piano"]);
    const [basso] = await search('Contrada Fornace 109, Borgo Basso, Roccapparente');
    expect(basso).toMatchObject({ locality: 'Borgo Basso', street_number: '109', match_type: 'number' });
    expect(basso!.formatted_address).toBe(`Contrada Fornace 109, Borgo Basso, ${region.comuni[4]!.province.name}`);
  });

  it('ranks a street of a different type below the street of the named type', async () => {
    const names = (await search('Viale Roma Roccapparente')).map(({ street_name: name, score }) => [name, score]);
    expect(names[0]).toEqual(['Viale Roma', 0.97]);
    expect(names.find(([name]) => name === 'Via Roma')![1]).toBe(0.9021);
    expect(await first('largo leopoldo secondo 108 Roccapparente')).toBe('Via Leopoldo II | 108 | Z005 | number');
  });

  it('returns one address per comune if the query names no comune, the largest comune first, even if the number does not exist', async () => {
    const found = await search('via roma 112');
    expect(found.filter(({ street_name: name }) => name === 'Via Roma').map(({ municipality_code: code }) => code)).toHaveLength(region.comuni.length);
    expect(found[0]).toMatchObject({ municipality_code: 'Z001', street_number: '112', match_type: 'number' });
    const unknown = await search('via roma 996');
    expect(unknown.map(({ municipality_code: code }) => code).slice(0, 3)).toEqual(found.map(({ municipality_code: code }) => code).slice(0, 3));
  });

  /** Parses many queries, and returns the parsed queries and the codes of the comuni that each query finds. Runs three database queries in total. */
  async function answersTo(queries: readonly (readonly [query: string, city: string | null])[]): Promise<{ parsed: ParsedQuery[]; codes: string[][] }> {
    const read = async (find: FindComune): Promise<ParsedQuery[]> => Promise.all(queries.map(([query, city]) => parseQuery(query, city, find)));
    const asked = { exact: new Set<string>(), similar: new Set<string>() };
    const note: FindComune = async (keys, names) => {
      keys.forEach((key) => asked[names].add(key));
      return [];
    };
    await read(note);
    const known = { exact: await findComune([...asked.exact], 'exact'), similar: await findComune([...asked.similar], 'similar') };
    const parsed = await read(async (keys, names) => known[names].filter(({ key }) => keys.includes(key)));
    const rows = await database.query<{ codes: string[] }>(
      `select array(select distinct e ->> 'municipality_code' from jsonb_array_elements(api.geocode_search(p.parsed, 10)) as e order by 1) as codes
       from jsonb_array_elements($1::jsonb) with ordinality as p (parsed, n) order by p.n`, [JSON.stringify(parsed)],
    );
    return { parsed, codes: rows.map(({ codes }) => codes) };
  }

  // The results do not depend on the engine, so only the faster engine, PostgreSQL, is tested.
  const once = it.runIf(engine.name === 'postgres');

  once('never finds addresses in a different comune if the named comune is listed but not loaded', async () => {
    // Names that differ by one letter from loaded names are the hardest case.
    const neighbours = region.comuni.flatMap(({ italianName: name }) => Array.from(name).flatMap((letter, at) => (/[a-z]/.test(letter) && at % 4 === 1 ? [name.slice(0, at) + (letter === 'x' ? 'y' : 'x') + name.slice(at + 1)] : [])));
    const names = [...REAL, ...neighbours];
    await database.query('begin');
    try {
      await database.query(
        `insert into core.comune (belfiore, istat_code, name, province_code, province_name, sigla, region_code)
         select 'Y' || lpad(n::text, 3, '0'), lpad(n::text, 6, '0'), name, '065', 'Salerno', 'SA', 15 from unnest($1::text[]) with ordinality as x (name, n)`, [names],
      );
      await database.query("insert into core.province values ('065', 'Salerno', 'SA', 15)");
      await database.query(
        `insert into core.place_name select core.comune_key(name), 'name', 'Y' || lpad(n::text, 3, '0') from unnest($1::text[]) with ordinality as x (name, n)
         union select 'salerno', 'province', '065'`, [names],
      );
      const forms = names.flatMap((name, index): [string, string | null][] => [
        [`Via Roma 5, ${name}`, null], ['Via Roma 112', name], ...([[`Via Roma 112 ${name}`, null], [`${name}, Via Roma 112`, null], [`Via Roma 112, ${name} (SA)`, null], [`Via Roma ${name}`, null]] as const).slice(index % 4, index % 4 + 1),
      ] as [string, string | null][]);
      const { parsed, codes } = await answersTo(forms);
      expect(forms.filter((_, index) => codes[index]!.length > 0 || parsed[index]!.readings.length === 0)).toEqual([]);
      // A loaded comune is found in the same spellings, but not with the wrong province.
      const loaded = region.comuni.map(({ belfiore, italianName: name, province }) => ({ belfiore, forms: [
        [`Via Roma 112, ${name}`, null], ['Via Roma 112', name], [`${name}, Via Roma 112`, null], [`Via Roma 112, ${name} (${province.sigla})`, null], [`Via Roma 112, ${name}, ${province.name}`, null],
        [`Via Roma 112 ${name} ${province.sigla}`, null],
      ] as [string, string | null][] }));
      const found = await answersTo(loaded.flatMap(({ forms: own }) => own));
      expect(found.codes).toEqual(loaded.flatMap(({ belfiore, forms: own }) => own.map(() => [belfiore])));
      const elsewhere = region.comuni.flatMap(({ italianName: name }): [string, string | null][] => [[`Via Roma 112, ${name} (SA)`, null], [`Via Roma 112 ${name} SA`, null], ['Via Roma 112', `${name} (Salerno)`], [`Via Roma 112, ${name}, SA`, null]]);
      expect((await answersTo(elsewhere)).codes.flat()).toEqual([]);
    } finally {
      await database.query('rollback');
    }
  });

  once('does not replace a name by a similar name if the list of comuni is not loaded', async () => {
    expect(await first('Via Roma 112, Rocapparente')).toBe('Via Roma | 112 | Z005 | number');
    await database.query('begin');
    try {
      for (const table of ['core.place_name', 'core.comune', 'core.province']) await database.query(`delete from ${table}`);
      expect(await search('Via Roma 112, Rocapparente')).toEqual([]);
      // The exact name from the address files still finds the comune.
      expect((await search('Via Roma 112, Roccapparente')).map(({ municipality_code: code, street_number: number }) => [code, number])[0]).toEqual(['Z005', '112']);
    } finally {
      await database.query('rollback');
    }
  });

  once('finds a comune by its first words if no other name begins with them', async () => {
    expect(await first('Via Roma 112, Castel')).toBe('Via Roma | 112 | Z001 | number');
    expect(await first('Via Roma 112', 'Borgo')).toBe('Via Roma | 112 | Z003 | number');
    await database.query('begin');
    try {
      await database.query("insert into core.place_name values ('castel gandolfo', 'name', 'C116')");
      expect(await search('Via Roma 112, Castel')).toEqual([]);
    } finally {
      await database.query('rollback');
    }
  });

  once('filters by postal code, even if the query names no comune', async () => {
    const codes = async (query: string): Promise<string[]> => [...new Set((await search(query)).map(({ municipality_code: code }) => code))];
    for (const { belfiore, postalCodes } of region.comuni) expect(await codes(`Via Roma 112, ${postalCodes[0]}`), belfiore).toEqual([belfiore]);
    expect(await codes('Via Roma 112, 84121')).toEqual([]);
  });

  once('finds only streets of the stated province', async () => {
    for (const { sigla, name } of region.provinces) {
      for (const query of [`Via Roma 112 (${sigla})`, `Via Roma 112, prov. di ${name}`]) {
        const found = await search(query, null, 50);
        expect(found.length, query).toBeGreaterThan(0);
        expect(new Set(found.map(({ province }) => province)), query).toEqual(new Set([name]));
      }
    }
    expect(await search('Via Roma 112 (SA)')).toEqual([]);
  });

  once('finds an address by its displayed text', async () => {
    const rows = await queryRecords<{ shown: Found }>(
      database,
      'select api.address_json(region_code, address_id, null::core.parcel) as shown from core.access_point where geom is not null and number is not null order by hashint8(address_id) limit 60',
    );
    for (const { shown } of rows) {
      const again = await search(shown.formatted_address, null, 50);
      expect(again.map(({ address_id: id }) => id), shown.formatted_address).toContain(shown.address_id);
      expect(again[0]!.municipality_code, shown.formatted_address).toBe(shown.municipality_code);
    }
  });

  it('corrects words with letters in the wrong order, even words of three letters', async () => {
    for (const query of ['Via Rmoa 112 Roccapparente', 'Via Roam 112 Roccapparente', 'Vai Roma 112 Roccapparente', 'Iva Roma 112 Roccapparente', 'Via Roma 112, Roccaparpente']) {
      expect(await first(query), query).toBe('Via Roma | 112 | Z005 | number');
    }
  });

  it('gives a lower score to a less exact match of the house number', async () => {
    const scores = await Promise.all([
      'Via Roma 112 Roccapparente', 'Via Roma 140 Roccapparente', 'Via Roma 998 Roccapparente', 'Via Roma Roccapparente',
    ].map(async (query) => (await search(query)).map(({ match_type: type, score }) => [type, score])[0]!));
    expect(scores).toEqual([['number', 1], ['number_without_exponent', 0.99], ['nearest_number', 0.98], ['street', 0.97]]);
  });

  once('tries at most six readings of a query and corrects at most six words', async () => {
    const { readings } = await parseQuery('Via Roma 112 Roccapparente', null, findComune);
    const hopeless = { ...readings[0]!, tokens: ['inesistentissima'] };
    const count = async (before: number): Promise<number> => {
      const [row] = await database.query<{ n: number }>('select jsonb_array_length(api.geocode_search($1, 10)) as n', [JSON.stringify({ readings: [...Array.from({ length: before }, () => hopeless), readings[0]] })]);
      return row!.n;
    };
    expect(await count(5)).toBeGreaterThan(0);
    expect(await count(6)).toBe(0);
    const misspelt = ['garibadli', 'leopodlo', 'settembrre', 'vittorrio', 'emanuelle', 'statalle', 'fornacce', 'leopolldo', 'garibalddi'];
    const places = await database.query<{ place: number }>('select distinct place from api.geocode_tokens($1, array[$2]::int2[], true) order by 1', [misspelt, region.code]);
    expect(places.length).toBeLessThanOrEqual(6);
    expect(places.length).toBeGreaterThan(2);
  });

  it('returns nothing for an unknown comune or street, a street without address points, and a query without a street', async () => {
    expect(await search('Via Roma 112, Atlantidopoli')).toEqual([]);
    expect(await search('Via Roma 112', 'Atlantidopoli')).toEqual([]);
    expect(await search('Via Roma 112', 'Z998')).toEqual([]);
    expect(await search('Via Finta 1 Roccapparente')).toEqual([]);
    expect(await search('Via Inesistentissima 1 Roccapparente')).toEqual([]);
    expect(await search('12345')).toEqual([]);
    expect(await search(', - ;')).toEqual([]);
  });

  it('never returns an address without coordinates', async () => {
    for (const number of [201, 202, 203, 204, 205, 206, 207, 208]) {
      const [best] = await search(`Via Roma ${number} Roccapparente`);
      expect(best!.street_number).not.toBe(String(number));
      expect(best!.match_type).toBe('nearest_number');
    }
  });

  it('respects the limit, and a smaller limit returns the first results of a larger limit', async () => {
    for (const query of ['via roma', 'via roma 130 Roccapparente', 'delle Acacie']) {
      const many = await search(query, null, 50);
      expect(many.length).toBeLessThanOrEqual(50);
      expect(new Set(many.map(({ address_id: id }) => id)).size).toBe(many.length);
      expect(many.map(({ score }) => score)).toEqual([...many.map(({ score }) => score)].sort((a, b) => b - a));
      expect(await search(query, null, 3)).toEqual(many.slice(0, 3));
    }
  });

  it('numbers the streets that have the same name, and starts in the largest comune', async () => {
    const [wrong] = await database.query<{ n: number }>(`
      select count(*)::int4 as n
      from core.street_name s
      cross join lateral (
        select count(distinct o.street_id)::int4 + 1 as nth
        from core.street_name o
        where o.token_ids = s.token_ids and o.street_type is not distinct from s.street_type and o.locality_key is not distinct from s.locality_key and o.located > 0
          and (-o.comune_located, o.belfiore collate "C", o.street_id) < (-s.comune_located, s.belfiore collate "C", s.street_id)
      ) e
      cross join lateral (
        select min(o.ordinal) as ordinal, count(distinct o.name_id) as names
        from core.street_name o
        where o.street_id = s.street_id and o.token_ids = s.token_ids and o.street_type is not distinct from s.street_type
      ) f
      where s.nth is distinct from case when s.located > 0 and s.ordinal = f.ordinal then e.nth end or f.names <> 1
    `);
    expect(wrong!.n).toBe(0);
  });

  it('finds the same streets without a list of comuni as with a list of all comuni', async () => {
    const random = region.random('streets of a name');
    await database.session(async (session) => {
      await session.query('begin');
      // Adds names of one to three words, with up to 60 streets each. Some streets have two names, and some names have a rare word.
      await session.query(`
        insert into core.street_name
        select
          $1, 7000000000 + j % 12 * 1000 + i, j, 'Y' || lpad((i * 37 % 101)::text, 3, '0'), 'odonimo', (array['via', 'viale', null])[1 + j / 3 % 3], w.ids, w.weight,
          case when j % 5 = 0 then 'borgo' end, 1, i * 7919 % 23, 2000000 + j, row_number() over (partition by j order by i * 7919 % 23 desc, i * 37 % 101, i)
        from generate_series(1, 40) j
        cross join lateral generate_series(1, 1 + j * 13 % 60) i
        cross join lateral (
          select array_agg(t.id order by t.id) || (array[150000000])[: j % 3] as ids, round(sum(t.weight::numeric), 4)::float8 + j % 3 * 5 as weight
          from (select * from core.token t order by t.id limit 6) t
          where (t.id + j) % 6 <= j / 7 % 3
        ) w
      `, [region.code]);
      const words = (await session.query<{ text: string }>('select text from core.token where text !~ $1 order by id limit 6', ['[0-9]'])).map(({ text }) => text);
      const comuni = (await session.query<{ belfiore: string }>('select distinct belfiore from core.street_name')).map(({ belfiore }) => belfiore);
      const streets = async (reading: object, limit: number, least: number): Promise<unknown[]> =>
        session.query('select * from api.geocode_streets($1, $2, false) where score > $3', [JSON.stringify(reading), limit, least]);
      let found = 0;
      for (let i = 0; i < 400; i += 1) {
        const tokens = [...new Set(Array.from({ length: 1 + random.below(3) }, () => random.pick(words)))];
        const reading = {
          tokens, streetType: random.pick(['via', 'viale', null]), otherTypes: random.below(3) === 0 ? ['viale'] : [], province: null,
          locality: random.below(3) === 0 ? 'borgo' : null, whole: random.below(5) === 0, number: null,
        };
        const limit = 1 + random.below(40);
        // A search in all Italy finds only names with the rarest word. All names with a high score contain this word.
        const least = tokens.length === 1 ? 0 : 0.85;
        const expected = await streets({ ...reading, comuni }, limit, least);
        expect(await streets({ ...reading, comuni: null }, limit, least), JSON.stringify(reading)).toEqual(expected);
        found += expected.length;
      }
      expect(found).toBeGreaterThan(1_500);
      await session.query('rollback');
    });
  });

  it('finds the addresses within a geodesic distance of a point, sorted by distance, then by id', async () => {
    const all = await database.query<{ id: number; lng: number; lat: number }>(
      'select address_id as id, st_x(geom) as lng, st_y(geom) as lat from core.access_point where geom is not null',
    );
    const random = region.random('reverse');
    const [west, south, east, north] = region.box;
    for (let i = 0; i < 30; i += 1) {
      const [lng, lat] = [west + random.next() * (east - west), south + random.next() * (north - south)];
      const radius = random.pick([5, 50, 100, 500]);
      const limit = 1 + random.below(20);
      const [row] = await database.query<{ found: Found[] }>('select api.geocode_reverse($1, $2, $3, $4) as found', [lat, lng, radius, limit]);
      const expected = all.map(({ id, lng: x, lat: y }) => ({ id, distance: Math.round(geodesicDistance([lng, lat], [x, y]) * 100) / 100 }))
        .filter(({ distance }) => distance <= radius).sort((a, b) => a.distance - b.distance || a.id - b.id).slice(0, limit);
      expect(row!.found.map(({ distance_meters: distance }) => distance)).toEqual(expected.map(({ distance }) => distance));
      expect(row!.found.map(({ address_id: id }) => id)).toEqual(expected.map(({ id }) => id));
    }
  });

  it('reads streets, numbers and points through indexes', async () => {
    const plan = async (sql: string): Promise<string> => database.session(async (session) => {
      await session.query('set enable_seqscan to off');
      return (await session.query<{ 'QUERY PLAN': string }>(`explain ${sql}`)).map((line) => line['QUERY PLAN']).join('\n');
    });
    expect(await plan("select * from core.token k where k.text = 'roma'")).toMatch(/Index .*text/);
    expect(await plan("select * from core.token k where k.text % 'roma'")).toMatch(/Bitmap Index Scan on token\w*text/);
    expect(await plan('select * from core.street_name n where n.token_ids && array[140000001]')).toMatch(/Bitmap Index Scan on street_name\w*token_ids/);
    expect(await plan('select * from core.street_name n where n.token_ids && array[140000001] and n.nth = 1')).toMatch(/Bitmap Index Scan on street_name\w*token_ids\w*1/);
    expect(await plan('select * from core.street_name n where n.name_id = 5 and n.nth <= 20')).toMatch(/Index .*name_id_nth/);
    expect(await plan("select * from core.street_name n where n.belfiore = 'Z001'")).toMatch(/Index .*belfiore/);
    expect(await plan('select * from core.access_point a where a.street_id = 9000000 and a.number > 5 order by a.number limit 1')).toMatch(/Index Scan using access_point\w*street_id/);
    expect(await plan("select * from core.access_point a order by a.geom <-> 'srid=4326;point(14 42)'::geometry limit 5")).toMatch(/Index Scan using access_point\w*geom/);
  });
});

describe('the parser of address queries', () => {
  it('looks up no comune if the query has no words', async () => {
    const asked: string[] = [];
    const { readings } = await parseQuery(' ,;- ', null, async (keys) => {
      asked.push(...keys);
      return [];
    });
    expect(readings).toEqual([]);
    expect(asked).toEqual([]);
  });
});
