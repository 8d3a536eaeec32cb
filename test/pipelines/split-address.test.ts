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
