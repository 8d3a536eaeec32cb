import { describe, expect, it } from 'vitest';
import { comuneKey, fold, localityKey, repairLetters, normaliseStreet, streetNames } from '../../pipelines/address/normalise.ts';
import { MOST_READINGS, parseQuery, type ComuneHit, type Contradiction, type Names, type Reading } from '../../pipelines/address/parse-query.ts';
import { titleCase } from '../../pipelines/address/title-case.ts';
import { roman } from '../../pipelines/address/words.ts';
import { randomOf } from '../../pipelines/synthetic/random.ts';
import { CASES, GAZETTEER } from './address-queries.cases.ts';

const findComune = async (keys: readonly string[], names: Names): Promise<ComuneHit[]> => (names === 'similar' ? [] : GAZETTEER.filter(({ key }) => keys.includes(key)));
const read = async (query: string, city: string | null = null): Promise<readonly Reading[]> => (await parseQuery(query, city, findComune)).readings;

const specialOf = ({ snc, colour, metricM }: Reading): string | null => (snc ? 'SNC' : colour ?? (metricM === null ? null : `M${metricM}`));

describe('parseQuery', () => {
  it.each(CASES)('reads %s', async (query, type, tokens, number, exponent, special, comuni, locality, point) => {
    const [first] = await read(query);
    expect(first, point).toBeDefined();
    const found = {
      type: first!.streetType, tokens: first!.tokens.join(' '), number: first!.number, exponent: first!.exponent, special: specialOf(first!),
      comuni: first!.comuni === null ? null : first!.comuni.join(',') || '?', locality: first!.locality,
    };
    expect(found, point).toEqual({ type, tokens, number, exponent, special, comuni, locality });
  });

  it('is tested with more than a hundred different cases', () => {
    expect(CASES.length).toBeGreaterThan(120);
    expect(new Set(CASES.map(([query]) => query)).size).toBe(CASES.length);
  });

  it('returns several readings of an ambiguous query, the most likely reading first', async () => {
    expect((await read('Corso Umberto 2, Napoli')).map(({ tokens, number }) => [tokens.join(' '), number])).toEqual([['umberto 2', null], ['umberto', 2]]);
    expect((await read('Via Provinciale 57, Modena')).map(({ streetType, tokens, number, comuni }) => [streetType, ...tokens, number, comuni]))
      .toEqual([['strada provinciale', '57', null, ['F257']], ['via', 'provinciale', 57, ['F257']]]);
    expect((await read('Via Statale 16 40/A Rimini'))[0]).toMatchObject({ streetType: 'strada statale', tokens: ['16'], number: 40, exponent: 'A' });
    expect((await read('Via Museo / Museumstraße 12 Bolzano')).slice(0, 2).map(({ streetType, tokens }) => [streetType, ...tokens])).toEqual([['via', 'museo'], ['strasse', 'museum']]);
    expect((await read('Via Mazzini Milano 3')).map(({ tokens, comuni }) => [tokens.join(' '), comuni])).toContainEqual(['mazzini', ['F205']]);
    expect((await read('Strada Modena - Finta 12'))[0]!.comuni).toEqual([]);
    expect((await read('Strada Modena - Finta 12')).map(({ tokens }) => tokens.join(' '))).toContain('modena finta');
    const [range] = await read('Via Mazzini 63-65 Torino');
    expect([range!.number, range!.rangeTo]).toEqual([63, 65]);
    expect((await read('P.ta Romana 3 Milano'))[0]!.otherTypes).toEqual(['porta']);
  });

  it('uses the city that the caller passes', async () => {
    for (const city of ['Bologna', 'bologna (BO)', 'BOLOGNA BO', 'A944', ' a944 ']) expect((await read('Via Mazzini 21', city))[0]!.comuni, city).toEqual(['A944']);
    expect((await read('Via Mazzini 21', 'Castro'))[0]!.comuni).toEqual(['C334', 'C335']);
    expect((await read('Via Mazzini 21', 'Castro (LE)'))[0]!.comuni).toEqual(['C334']);
    expect((await read('Via Mazzini 21', 'Mestre'))[0]).toMatchObject({ comuni: ['L736'], locality: 'mestre' });
    expect((await read('Via Mazzini 21', 'Atlantidopoli'))[0]!.comuni).toEqual([]);
    // The comune is repeated in the query, but is not part of the street.
    expect((await read('Via Mazzini 21 Bologna', 'Bologna'))[0]).toMatchObject({ tokens: ['mazzini'], comuni: ['A944'], locality: null });
    expect((await read('Via Mazzini Bologna', 'Bologna'))[0]).toMatchObject({ tokens: ['mazzini'], comuni: ['A944'] });
    // A different comune is part of the street's name.
    expect((await read('Via Torino 9', 'Milano'))[0]).toMatchObject({ tokens: ['torino'], comuni: ['F205'] });
    expect((await read('Via Torino', 'Milano'))[0]).toMatchObject({ tokens: ['torino'], comuni: ['F205'] });
  });

  it('reads a mistyped comune only after a number or a comma', async () => {
    const near = async (keys: readonly string[], names: Names): Promise<ComuneHit[]> =>
      names === 'similar' ? [{ ...GAZETTEER.find(({ belfiore }) => belfiore === 'F205')!, key: keys[0]! }] : findComune(keys, 'exact');
    expect((await parseQuery('Via Mazzini 3 Millano', null, near)).readings[0]).toMatchObject({ tokens: ['mazzini'], comuni: ['F205'] });
    expect((await parseQuery('Via Mazzini, Millano', null, near)).readings[0]).toMatchObject({ tokens: ['mazzini'], comuni: ['F205'] });
    expect((await parseQuery('Via Mazzini Millano', null, near)).readings[0]).toMatchObject({ tokens: ['mazzini', 'millano'], comuni: null });
  });

  it.each([
    ['Via Etnea 2 Salerno', 'H703'], ['Via Etnea 2, Salerno', 'H703'], ['Via Etnea, Salerno', 'H703'], ['Salerno, Via Etnea 2', 'H703'], ['Salerno via Etnea 2', 'H703'],
    ['Via Etnea 2, Atlantidopoli', ''], ['Atlantidopoli, Via Etnea 2', ''], ['Via Etnea 2, Salerno (MI)', ''], ['Via Salerno 5, Milano', 'F205'], ['Via Etnea 2, Milano, Salerno', ''],
  ])('keeps the named comune in every reading: %s', async (query, comune) => {
    const readings = await read(query);
    expect(readings.length).toBeGreaterThan(0);
    expect(readings.map(({ comuni }) => comuni?.join(','))).toEqual(readings.map(() => comune));
  });

  it('also reads all words as a street if some of them may name a comune', async () => {
    const wholes = async (query: string): Promise<unknown> => (await read(query)).map(({ tokens, comuni, whole }) => [tokens.join(' '), comuni?.join(',') ?? null, whole]);
    expect(await wholes('Via Mazzini Salerno')).toEqual([['mazzini', 'H703', false], ['mazzini salerno', null, true]]);
    expect(await wholes('Via Mazzini - Salerno')).toEqual([['mazzini', 'H703', false], ['mazzini salerno', null, true]]);
    expect(await wholes('Via Mazzini Salerno 5')).toEqual([['mazzini salerno', null, true], ['mazzini', 'H703', false], ['mazzini salerno 5', null, true]]);
    expect(await wholes('Via Leonardo da Vinci')).toEqual([['leonardo vinci', null, false]]);
  });

  it('returns the province of a query that names a province but no comune', async () => {
    expect((await read('Via Mazzini 3 (LE)'))[0]).toMatchObject({ tokens: ['mazzini'], number: 3, comuni: null, province: 'le' });
    expect((await read('Via Mazzini 3, prov. di Lecce'))[0]).toMatchObject({ comuni: null, province: 'lecce' });
    expect((await read('Via Mazzini 3 (angolo corso Umberto)'))[0]).toMatchObject({ comuni: null, province: null });
  });

  it('reports a contradiction if the query and the city name different comuni', async () => {
    const contradiction = async (query: string, city: string): Promise<Contradiction | null> => (await parseQuery(query, city, findComune)).contradiction;
    expect(await contradiction('Via Mazzini 3, Salerno', 'Milano')).toEqual({ query: ['H703'], city: ['F205'] });
    expect(await contradiction('Salerno, Via Mazzini 3', 'F205')).toEqual({ query: ['H703'], city: ['F205'] });
    for (const query of ['Via Salerno 3', 'Via Mazzini 3, Milano', 'Via Mazzini 3, Centro', 'Via Mazzini Salerno', 'Via Mazzini 3']) expect(await contradiction(query, 'Milano'), query).toBeNull();
    expect(await contradiction('Via Mazzini 3, Castro', 'Castro (LE)')).toBeNull();
    expect(await contradiction('Via Mazzini 3, Mestre', 'Venezia')).toBeNull();
  });

  it('returns at most six readings and two names of a street for any text', async () => {
    const misspelt = Array.from({ length: 50 }, (_, index) => `${'abcdefghij'[index % 10]!}${'klmno'[Math.floor(index / 10)]!}x`);
    for (const query of [misspelt.join('/ '), `Via ${misspelt.join(' / ')} 5, Milano`, misspelt.join(' - '), misspelt.join(', '), `${'Milano via '.repeat(18)}1`, `${'Castro - '.repeat(20)} 5`]) {
      const { readings } = await parseQuery(query.slice(0, 200), null, findComune);
      expect(readings.length, query).toBeLessThanOrEqual(MOST_READINGS);
      expect(new Set(readings.map(({ tokens }) => tokens.join(' '))).size, query).toBeLessThanOrEqual(4);
    }
    expect((await read(misspelt.join('/ ').slice(0, 200))).map(({ tokens }) => tokens.length)).toEqual([1, 1]);
  });

  it('queries the gazetteer once, or twice if a comune is mistyped', async () => {
    let asked = 0;
    const count = async (keys: readonly string[], names: Names): Promise<ComuneHit[]> => {
      asked += 1;
      return findComune(keys, names);
    };
    await parseQuery('Via Roma 12/A, Mestre, 30174 Venezia (VE)', null, count);
    expect(asked).toBe(1);
    await parseQuery('Via Roma 12/A, Atlantidopoli', null, count);
    expect(asked).toBe(3);
  });

  it('returns valid readings, and no error, for any text', async () => {
    const random = randomOf('queries');
    const before = process.cpuUsage();
    const pieces = ['via', 'Roma', '12', '/', 'A', ',', ' ', ' ', '-', "'", '’', '(', ')', 'n°', 'km', '3+200', 'snc', 's.', 'p.zza', 'XX', 'settembre', '20121', 'ß', 'é', '\u0000', '𝄞', '"', ';', '%', '\\', 'bis', 'c/o', 'II', 'Milano'];
    for (let i = 0; i < 3_000; i += 1) {
      const query = Array.from({ length: 1 + random.below(12) }, () => random.pick(pieces) + (random.below(2) === 0 ? ' ' : '')).join('').slice(0, 200);
      for (const reading of await read(query)) {
        expect(reading.tokens.length, query).toBeGreaterThan(0);
        expect(reading.tokens.every((token) => /^[a-z0-9]+$/.test(token)), query).toBe(true);
        expect(reading.number === null || (Number.isInteger(reading.number) && reading.number < 100_000), query).toBe(true);
      }
    }
    // Queries of 200 characters that make regular expressions backtrack.
    for (const text of ['a.'.repeat(100), '1 '.repeat(100), 's.p.'.repeat(50), '('.repeat(200), "l'".repeat(100), '1 scala '.repeat(25), 'via '.repeat(50), '-'.repeat(200), '1/'.repeat(100)]) await read(text.slice(0, 200));
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1000).toBeLessThan(30_000);
  });
});

describe('the normal form of a street name', () => {
  it.each([
    ['VIA ROMA', 'via', 'roma'], ["PIAZZA DELL'INDIPENDENZA", 'piazza', 'indipendenza'], ['VIA XX SETTEMBRE', 'via', '20 settembre'], ['VIA VENTI SETTEMBRE', 'via', '20 settembre'],
    ['VICO I SAN GIOVANNI', 'vico', '1 san giovanni'], ['TRAVERSA QUINTA DI VIA FINTA', 'traversa', '5 via finta'], ['VIA CARLO V', 'via', 'carlo 5'], ['VIA I. NIEVO', 'via', 'nievo'],
    ['STRADA PROVINCIALE N. 12 FINTA - PROVA', 'strada provinciale', '12 finta prova'], ['S.S. 18 TIRRENA', 'strada statale', '18 tirrena'], ['VIA S.S. 18', 'strada statale', '18'],
    ['CASE SPARSE', 'case sparse', 'case sparse'], ['VIA', 'via', 'via'], ['VIA A', 'via', 'a'], ['DR.-STREITER-GASSE', 'gasse', 'streiter'], ['MUSEUMSTRASSE', 'strasse', 'museum'],
    ['VIA VENTUNO APRILE', 'via', '21 aprile'], ['VIA VENTOTTO OTTOBRE', 'via', '28 ottobre'], ['VIA TRENTUNO MAGGIO', 'via', '31 maggio'], ['DORSODURO', null, 'dorsoduro'], ['VIA 007', 'via', '7'],
  ])('gives %s the type %s and the words %s', (name, type, tokens) => {
    const normal = normaliseStreet(name);
    expect([normal.type, normal.tokens.join(' ')]).toEqual([type, tokens]);
  });

  it('has words of ASCII letters and digits for every name with a letter or digit, and fold and comuneKey do not change their own results', () => {
    const random = randomOf('normal form');
    const pieces = ['VIA', "DELL'", 'SAN', 'S.', 'XX', 'ROMA', 'DE', 'I', 'PAPA', '12', 'STRASSE', 'G.', "D'", 'À', 'SS', 'N.', '/', '-', 'FORLI\'', 'DEL', 'PRIMO', 'KM'];
    for (let i = 0; i < 3_000; i += 1) {
      const name = Array.from({ length: 1 + random.below(6) }, () => random.pick(pieces)).join(' ');
      const { tokens } = normaliseStreet(name);
      expect(tokens.length > 0, name).toBe(/[\p{L}\d]/u.test(name));
      expect(tokens.every((token) => /^[a-z0-9]+$/.test(token)), `${name}: ${tokens.join(' ')}`).toBe(true);
      expect(fold(fold(name)), name).toBe(fold(name));
      expect(comuneKey(comuneKey(name)), name).toBe(comuneKey(name));
    }
  });

  it('consists of one name per language, without repeated names', () => {
    const names = (odonimo: string, one: string | null = null, two: string | null = null): string[] => streetNames(odonimo, one, two).map(({ kind, type, tokens }) => `${kind} ${type ?? '-'} ${tokens.join(' ')}`);
    expect(names('VIA MUSEO / MUSEUMSTRASSE')).toEqual(['odonimo via museo', 'odonimo strasse museum']);
    expect(names('VIA MUSEO - MUSEUMSTRASSE')).toEqual(['odonimo via museo', 'odonimo strasse museum']);
    expect(names('STRADA ALTA - BASSA')).toEqual(['odonimo strada alta bassa']);
    expect(names('VIA 3/A')).toEqual(['odonimo via 3']);
    expect(names('VIA ROMA', 'DROMO ROMI', 'VIA ROMA')).toEqual(['odonimo via roma', 'lingua1 - dromo romi']);
  });

  it('repairs letters that were encoded more than once, and keeps all other letters', () => {
    expect(['VIA CIRÃ²', 'VIA CIRÃ\u0083Â²', 'VIA CIRÃ’', 'IÂ° MAGGIO', 'VIA MARASÃ', 'VIA CIRÒ', 'VIA RICCHÎ', 'Museumstraße', 'VIA Â', 'Via Cirã²'].map(repairLetters))
      .toEqual(['VIA CIRò', 'VIA CIRò', 'VIA CIRÒ', 'I° MAGGIO', 'VIA MARASÀ', 'VIA CIRÒ', 'VIA RICCHÎ', 'Museumstraße', 'VIA Â', 'Via Cirò']);
  });

  it('drops words such as Località from the name of a locality', () => {
    expect(["LOCALITA' PIANO", 'Loc. Piano', 'FRAZIONE PIANO', 'Piano'].map(localityKey)).toEqual(['piano', 'piano', 'piano', 'piano']);
    expect(localityKey('BORGO PIANO')).toBe('borgo piano');
    expect(localityKey("LOCALITA'")).toBeNull();
  });

  it('reads Roman numerals up to 39', () => {
    const symbols: readonly (readonly [number, string])[] = [[10, 'x'], [9, 'ix'], [5, 'v'], [4, 'iv'], [1, 'i']];
    for (let value = 1; value <= 39; value += 1) {
      let rest = value;
      let text = '';
      for (const [worth, symbol] of symbols) for (; rest >= worth; rest -= worth) text += symbol;
      expect(roman(text)).toBe(value);
    }
    for (const word of ['', 'iiii', 'vx', 'ic', 'mi', 'di', 'il', 'xxxx']) expect(roman(word)).toBeNull();
  });
});

describe('title case', () => {
  it.each([
    ['VIA ROMA', 'Via Roma'], ["PIAZZA DELL'INDIPENDENZA", "Piazza dell'Indipendenza"], ['VIA XX SETTEMBRE', 'Via XX Settembre'], ['VIA DEI SERVI', 'Via dei Servi'], ["VIA SANT'ANNA", "Via Sant'Anna"],
    ["LUNGOTEVERE DE' CENCI", "Lungotevere de' Cenci"], ["LOCALITA' PIANO", "Localita' Piano"], ['VIA LA SPEZIA', 'Via La Spezia'], ["VIA FORLI'", "Via Forli'"], ['P.ZZA S. MARIA', 'P.zza S. Maria'],
    ['VIA F.LLI FINTI', 'Via F.lli Finti'], ['SP 12', 'SP 12'], ['VIA G.B. VICO', 'Via G.B. Vico'], ['VIA A', 'Via A'], ['MUSEUMSTRASSE', 'Museumstrasse'], ['VIA MUSEO / MUSEUMSTRASSE', 'Via Museo / Museumstrasse'],
    ['PIAZZA 1° MAGGIO', 'Piazza 1° Maggio'], ['VIA CARLO V', 'Via Carlo V'], ['ÒÀÈ', 'Òàè'], ['Via Roma', 'Via Roma'], ['', ''],
  ])('of %s is %s', (name, shown) => {
    expect(titleCase(name)).toBe(shown);
  });

  it('changes only the case of letters', () => {
    for (const [query] of CASES) expect(titleCase(query).toLocaleLowerCase('it')).toBe(query.toLocaleLowerCase('it'));
  });
});
