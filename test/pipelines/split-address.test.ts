/** Tests the split of an address on one line, as in state registers, into street and number. */
import { describe, expect, it } from 'vitest';
import { splitAddress } from '../../pipelines/address/split-address.ts';
import { streetNames } from '../../pipelines/address/normalise.ts';
import { randomOf } from '../../pipelines/synthetic/random.ts';

describe('an address on one line', () => {
  it.each([
    ['VIA ROMA, 12/A', ['via'], ['roma'], 12, 'A', null], ['VIA ROMA 12 86020', ['via'], ['roma'], 12, null, null], ['VIA ROMA N. 5', ['via'], ['roma'], 5, null, null],
    ['VIA ROMA, 12 BIS', ['via'], ['roma'], 12, 'BIS', null], ['VIA ROMA 130/3', ['via'], ['roma'], 130, '3', null], ['VIA ROMA, 12-14', ['via'], ['roma'], 12, null, null],
    ['VIA ROMA, 151 ROSSO', ['via'], ['roma'], 151, null, 'ROSSO'], ['VIA ROMA, 151R', ['via'], ['roma'], 151, 'R', null], ['VIALE      DRUSO               289', ['viale'], ['druso'], 289, null, null],
    ['VIA XX SETTEMBRE', ['via'], ['20', 'settembre'], null, null, null], ['VIA XX SETTEMBRE 1870, 5', ['via'], ['1870', '20', 'settembre'], 5, null, null],
    ['PIAZZA 1° MAGGIO 3', ['piazza'], ['1', 'maggio'], 3, null, null], ['PIAZZA MONS. BALUSSI, 10', ['piazza'], ['balussi'], 10, null, null], ['VIA G. PUCCINI, 22', ['via'], ['puccini'], 22, null, null],
    ['Strada Statale 18', ['strada statale'], ['18'], null, null, null], ['S.P. 12, 7', ['strada provinciale'], ['12'], 7, null, null], ['SS 18 KM 3+200 SNC 86100', ['strada statale'], ['18', '200', '3', 'km'], null, null, null],
    ['SPBS11', [], ['11', 'spbs'], null, null, null], ['SP exSS581', [], ['581', 'exss', 'sp'], null, null, null], ['VIA ROMA15', ['via'], ['roma'], 15, null, null], ['VIA ASSEGGIANO2/A 30174', ['via'], ['asseggiano'], 2, 'A', null], ['STRADA PROVINCIALE89', ['strada provinciale'], ['89'], null, null, null],
    ['VIA ROMA SNC', ['via'], ['roma'], null, null, null], ['VIA ROMA S.N.C.', ['via'], ['roma'], null, null, null], ['VIA ROMA, senza numero', ['via'], ['roma'], null, null, null],
    ['LENO - 25023', [], ['leno'], null, null, null], ['25023', [], [], null, null, null], ['', [], [], null, null, null], [null, [], [], null, null, null],
  ] as const)('is split into street, number, exponent and colour: %j', (address, streetTypes, streetWords, number, exponent, colour) => {
    expect(splitAddress(address)).toEqual({ streetTypes, streetWords, number, exponent, colour });
  });

  it.each([
    ['VIA BORGOLETTO 31 - VOLPINO', ['via'], ['borgoletto'], 31, null], ['VIA ROMA34 - CARRARA S.GIORGIO', ['via'], ['roma'], 34, null], ['VIA FERMI 2-VARAGO', ['via'], ['fermi'], 2, null],
    ['VIA ROMA 5 LOC. XYZ', ['via'], ['roma'], 5, null], ['VIA MARTINELLA 184 A - LOCALITA\' ALBERI', ['via'], ['martinella'], 184, 'A'], ['VIA SAN PIETRO 31- F.NE VALLEGGIA', ['via'], ['pietro', 'san'], 31, null],
    ['CORSO MACHIAVELLI 230  ANG. DON SAPINO', ['corso'], ['machiavelli'], 230, null], ['VIA ANFUSO N. 115/117 ANG. VIA MELILLI', ['via'], ['anfuso'], 115, '117'], ['V.CASILINA 1606 (TORRE GAIA)', ['via'], ['casilina'], 1606, null],
    ['STRADA SAN PASQUALE 1 (ALTRO INGRESSO VIA FANELLI 265)', ['strada'], ['pasquale', 'san'], 1, null], ['Rue Prabochon, 1 - Champoluc', ['rue'], ['prabochon'], 1, null], ['V.DON MENSA 2/BURIASCO', ['via'], ['mensa'], 2, null],
    ['VIA TRIESTE N.55 QUARTO D\'ALTINO', ['via'], ['trieste'], 55, null], ['VIALE 4 NOVEMBRE N.10/A S.ELENA', ['viale'], ['4', 'novembre'], 10, 'A'], ['VIA ANTONIO DEL COLLE N. 12 C/O PARCO PUBBLICO', ['via'], ['antonio', 'colle'], 12, null],
    ['VIA ROMA N.8', ['via'], ['roma'], 8, null], ['VIA ROMA N.8/A', ['via'], ['roma'], 8, 'A'], ['VIA ROMA,N°12', ['via'], ['roma'], 12, null], ['VIA LOCATELLIN.1', ['via'], ['locatelli'], 1, null],
    ['PIAZZA PAPA GIOVANNI XXIIIN.19', ['piazza'], ['23', 'giovanni'], 19, null], ['VIA LIBERTA\'6', ['via'], ['liberta'], 6, null], ['VIA PIO XII18', ['via'], ['12', 'pio'], 18, null], ['VIA IV NOVEMBRE 1918 8', ['via'], ['1918', '4', 'novembre'], 8, null],
    ['VIA ROMA 102 32016, ALPAGO (BL) 102 32016', ['via'], ['roma'], 102, null], ['VIA GENTILE 54 70126, BARI (BA) 54/C 70125', ['via'], ['gentile'], 54, 'C'], ['VIA DANTE 11 61045, PERGOLA (PU) snc 61045', ['via'], ['dante'], 11, null],
    ['VIA DANTE 11 61045, PERGOLA (PU) 11/SNC', ['via'], ['dante'], 11, null], ['VIA SAN CARLO 5 - RONE', ['via'], ['carlo', 'san'], 5, null],
    ['VIA ROMA 111, 15039 - -', ['via'], ['roma'], 111, null], ['VIA ROMA N.100 100 20033', ['via'], ['roma'], 100, null],
    ['VIA LOMELLINA 50, 27058 50 27058', ['via'], ['lomellina'], 50, null], ['VIA FERRARECCE,88 88 81100', ['via'], ['ferrarecce'], 88, null], ["VIA PRA' 159 R. 16157", ['via'], ['pra'], 159, 'R'],
    ['VIA EUROPA 9/11/13', ['via'], ['europa'], 9, null], ['PIAZZALE DEL COMMERCIO 2-4-6 46034', ['piazzale'], ['commercio'], 2, null],
    ['VIA STRADA DELLA CALZA 1871/B, 46042  46042', ['via'], ['calza', 'strada'], 1871, 'B'], ['TRIONFALE 10019 00136', [], ['trionfale'], 10019, null], ['CORSO DI FRANCIA 265, 00191  00191', ['corso'], ['francia'], 265, null],
  ] as const)('is split although text, a CAP or a second number follows the number, or a letter precedes it: %j', (address, streetTypes, streetWords, number, exponent) => {
    expect(splitAddress(address)).toEqual({ streetTypes, streetWords, number, exponent, colour: null });
  });

  it.each([
    ['VIA ROMA 12 INT. 3', ['via'], ['roma'], 12, null], ['VIA ROMA, 12/A, INTERNO 3', ['via'], ['roma'], 12, 'A'], ['VIA ROMA 12 BIS SCALA B INT 3', ['via'], ['roma'], 12, 'BIS'],
    ['VIA ROMA 12/INT.1C', ['via'], ['roma'], 12, null], ['VIA ROMA, 12 (PALAZZINA 15)', ['via'], ['roma'], 12, null], ['VIA ROMA 12 - 2° PIANO', ['via'], ['roma'], 12, null],
    ['VIA ROMA 5 IS. 3', ['via'], ['roma'], 5, null], ['VIA ROMA 12 SC. 2 P. 4', ['via'], ['roma'], 12, null], ['VIA ROMA, 21 ED. 6', ['via'], ['roma'], 21, null], ['VIA ROMA 4, EDIFICIO BL28', ['via'], ['roma'], 4, null],
    ['VIA ROMA 10-12 CAPANNONE N. 3', ['via'], ['roma'], 10, null], ['VIA 4 NOVEMBRE 7 LOTTO 14/B', ['via'], ['4', 'novembre'], 7, null], ['VIA SCALA 5 SCALA 2', ['via'], ['scala'], 5, null],
    ['MATTEOTTI 70 INT 2 57023', [], ['matteotti'], 70, null], ['VIALE SARCA 336 FABBRICATO 7', ['viale'], ['sarca'], 336, null], ['VIA ROMA 12 PIANO TERRA', ['via'], ['roma'], 12, null],
    ['CORSO MAZZINI 25, c/o Scuola 3', ['corso'], ['mazzini'], 25, null], ['VIA ROMA, 50 - C/O A.S.L. 2', ['via'], ['roma'], 50, null], ['VIA ROMA, 43 presso TOTALERG 38', ['via'], ['roma'], 43, null],
    ['VIA PROVINCIALE 57 INT. 3', ['via'], ['provinciale'], 57, null], ['VIA ROMA, 12 NEGOZIO 4', ['via'], ['roma'], 12, null], ['VIA ROMA 12 LOCALI 3-4', ['via'], ['roma'], 12, null],
  ] as const)('is split at the house number if a part of a building or an addressee follows: %j', (address, streetTypes, streetWords, number, exponent) => {
    expect(splitAddress(address)).toEqual({ streetTypes, streetWords, number, exponent, colour: null });
  });

  it.each([
    ['VIA SCALA 5', ['scala'], 5], ['VIA DEL LOTTO 3', ['lotto'], 3], ['VICOLO INTERNO 2', ['interno'], 2], ['VIA PIANO 7', ['piano'], 7], ['VIA PALAZZINA 10', ['palazzina'], 10],
    ['CONTRADA PIANO 4', ['piano'], 4], ['VIA CORPO DEI VOLONTARI 2', ['corpo', 'volontari'], 2], ['VIA ISOLATO 41', ['isolato'], 41], ['VIA NENNI P. 3', ['nenni'], 3],
    ['VIA 2 CORPO D\'ARMATA 5', ['2', 'armata', 'corpo'], 5], ['VIALE SCALA GRECA 366/F', ['greca', 'scala'], 366],
  ] as const)('keeps a word for a part of a building in the street if no house number precedes the word: %s', (address, streetWords, number) => {
    expect(splitAddress(address)).toMatchObject({ streetWords, number });
  });

  it.each([
    ['VIA VIA ROMA 5', ['via'], ['roma'], 5], ['VIA VIA 4 NOVEMBRE 5', ['via'], ['4', 'novembre'], 5], ['PIAZZA PIAZZA DANTE 2', ['piazza'], ['dante'], 2], ['VIA VIALE EUROPA 11', ['viale'], ['europa'], 11],
    ['VIA C.SO CASALE 290', ['corso'], ['casale'], 290], ['VIA P.ZZA GIOVANNI XXIII 10', ['piazza'], ['23', 'giovanni'], 10], ['VIA LOC. NALE 3', ['localita'], ['nale'], 3],
    ['VIA C/DA STURIANO 8', ['contrada'], ['sturiano'], 8], ['VIA STRADA PROVINCIALE 12, 7', ['strada provinciale'], ['12'], 7],
    ['VIA CONTRADA 286', ['via'], ['contrada'], 286], ['VIA STRADA VECCHIA 5', ['via'], ['strada', 'vecchia'], 5], ['VIA PIAZZA D\'ARMI 2', ['via'], ['armi', 'piazza'], 2], ['VIA BORGO PADOVA 46', ['via'], ['borgo', 'padova'], 46], ['VIA V. VENETO 9', ['via'], ['veneto'], 9], ['VIA LARGA 3', ['via'], ['larga'], 3],
    ['VIA PROVINCIALE 57', ['via'], ['provinciale'], 57], ['Via Statale 48  23826', ['via'], ['statale'], 48], ['VIA PROVINCIALE NORD 134', ['via'], ['nord', 'provinciale'], 134],
    ['VIA STATALE 45 BIS 74', ['strada statale'], ['45bis'], 74], ['STRADA PROVINCIALE 57', ['strada provinciale'], ['57'], null],
  ] as const)('uses the second of two street types, and keeps a road word that belongs to the name of the street: %j', (address, streetTypes, streetWords, number) => {
    expect(splitAddress(address)).toMatchObject({ streetTypes, streetWords, number });
  });

  it.each([
    'VIA 4 NOVEMBRE', 'PIAZZA 25 APRILE', 'CORSO 22 MARZO', 'VIA DELL\'8 MARZO', 'VIA DEI 1000', 'LOCALITA\' 4 STRADE', 'VIA XX SETTEMBRE 1870', 'VIA CADUTI DI CEFALONIA SETTEMBRE 1943', 'SS 11 KM 12+300', 'SPBS11',
    'VIA GENERALE 1 ARMATA', 'VIA UMBERTO I', 'STRADA STATALE 9', 'STRADA PROVINCIALE 81', 'SUPERSTRADA E 45', 'TANGENZIALE EST 10', 'SS SANNITICA 87', 'ZONA INDUSTRIALE LOTTO A/5', 'VIA ROMA TRAVERSA',
  ])('has no number if the only number is a part of the name, with or without text after the name: %s', (name) => {
    for (const text of ['', ' - RONE', '-RONE', ' LOC. RONE', ' (RONE)', ', RONE', '/RONE', ' ANG. VIA MILANO', ' FRAZ. RONE - 25010']) {
      // At the end of the text, `LOTTO` and roads without an abbreviation are treated like streets.
      if (text === '' && /^(?:VIA DEI|SUPER|TANG|SS SANN|ZONA)/.test(name)) continue;
      expect(splitAddress(`${name}${text}`), `${name}${text}`).toMatchObject({ number: null, exponent: null });
    }
  });

  it.each([
    'VIA UMBERTO 1 - FRAZ. RONE', 'VIA GIOVANNI 23 LOC. RONE', 'Q.RE MILANO 3 - BASIGLIO EST', 'STRADA MIGLIARA 47 - BORGO SAN DONATO', 'VIA ROMA TRAVERSA 3 - RONE', 'STRADA PROV.LE N.49 TRAV. RICCIARDI',
    'VIA COLLATINA 402-E/D', 'VIA DEL CASSANO 181-ABC', 'VIALE CAMPI ELISI 01-gen', 'VIA PLATEJA N. 49 A/B', 'VIA LARGO MICARELLI (EX LARGO CASTELLO N. 7)',
    'VIA TARLATI 0', 'STRADA MARSICANA KM 44,700', 'SS 18 KM 399 + 630', 'VIA MONTENERO 30 04017, SAN FELICE CIRCEO (LT) 34 04017', 'VIA EUGANEA 10/B 35037, TEOLO (PD) 10/A 35037', 'VIA DE PRETIS SNC, 86100 - -',
    'VIA CASILINA, 00133 - ROMA', 'VIA CASILINA 00133 (ROMA)', 'VIA ROMA, 00185, ROMA', 'VIA ROMA 86020 - RONE', 'VIA GRAMSCI N. 5 ROSSO GENOVA', 'VIA GRAMSCI 5/ROSSO - GENOVA',
    'VIA GRAMSCI 5 (ROSSO)', 'VIA ROMA N. 5 BIS RONE', 'VIA ROMA 5-BIS/A', 'VIA RAGAZZI DEL 99', 'VIA RAGAZZI DEL 99 - RONE', 'VIA MARTIRI DEL 1944 LOC. RONE', 'PIAZZA SAN PIO 10 - RONE',
    'STRADA MARSICANA KM 44, 700', 'VIALE DELLE SCIENZE ED 12', 'VIALE DELLE SCIENZE Ed 2 piano 1', 'VIA ROMA INT. 3', 'SS 18 LOTTO 3', 'SS 285 KM. 13+0,60 SX', 'LOC. RONE S.P. 49 SC 88050',
    'VIA ROMA SNC, 95036  95036', 'PIAZZA SAN ROCCO - 22040   22040', 'FRAZIONE RONE , 64020  64100',
  ])('has no number if the number may belong to a name, a CAP, a road, a colour or a list of suffixes, or if two numbers differ: %s', (address) => {
    expect(splitAddress(address)).toMatchObject({ number: null, exponent: null });
  });

  it('has the same street and number with and without the text after the number, for any combination of street, number and text', () => {
    const random = randomOf('addresses before text');
    const streets = ['VIA ROMA', 'VIALE DEI TIGLI', 'PIAZZA SAN MARCO', "VIA DELL'INDUSTRIA", 'CORSO VITTORIO VENETO', "LOCALITA' PIANETTO", 'VIA XX SETTEMBRE', 'VIA 4 NOVEMBRE', "VIA LIBERTA'"];
    const places = [' INT. 3', ', SCALA B', ' PALAZZINA 12/C', '/INTERNO 2', ' - 1° PIANO', ', C/O VIA MILANO 9', ' - VOLPINO', '-VOLPINO', ' LOC. VOLPINO', ' FRAZIONE VOLPINO', ' (VOLPINO)', ' ANGOLO VIA MILANO', ' C/O SCUOLA MEDIA', ' - S. GIORGIO', ", CA' RAINATI"];
    for (let i = 0; i < 500; i += 1) {
      const address = `${random.pick(streets)}${random.pick([' ', ', ', ' N. ', ' N.', ', N°'])}${1 + random.below(999)}${random.pick(['', '/A', ' BIS', '/3'])}`;
      const place = random.pick(places);
      expect(splitAddress(`${address}${place}`), `${address}${place}`).toEqual(splitAddress(address));
    }
  });

  it('is split into the number and the street\'s type and words as stored, for any combination of type, name and number', () => {
    const random = randomOf('split addresses');
    const streets = ['VIA ROMA', 'VIALE DEI TIGLI', 'PIAZZA SAN MARCO', "VIA DELL'INDUSTRIA", 'CORSO VITTORIO EMANUELE SECONDO', 'CONTRADA FORNACE', "LOCALITA' PIANO", 'VIA XX SETTEMBRE'];
    const endings = [(n: number) => `, ${n}`, (n: number) => ` ${n}`, (n: number) => `, N. ${n}`, (n: number) => ` n.${n} 86100`, (n: number) => `   ${n}   - 86100`, (n: number) => `,${n}`];
    for (let i = 0; i < 500; i += 1) {
      const [street, ending, number] = [random.pick(streets), random.pick(endings), 1 + random.below(999)];
      const written = random.below(2) === 0 ? street : street.toLowerCase();
      const [stored] = streetNames(street, null, null);
      expect(splitAddress(`${written}${ending(number)}`), `${written}${ending(number)}`)
        .toEqual({
          streetTypes: [stored!.type, ...stored!.otherTypes], streetWords: [...new Set(stored!.tokens)].sort(), number, exponent: null, colour: null,
        });
    }
  });

  it('is treated as missing if the text has more than 500 characters', () => {
    const long = `VIA ${'LUNGA '.repeat(100)}`;
    expect(splitAddress(`${long.slice(0, 496)}, 12`)).toMatchObject({ streetTypes: ['via'], number: 12 });
    expect(splitAddress(`${long.slice(0, 497)}, 12`)).toEqual({ streetTypes: [], streetWords: [], number: null, exponent: null, colour: null });
  });
});
