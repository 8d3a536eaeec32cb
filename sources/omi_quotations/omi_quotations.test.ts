import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { KmlReader, multiPolygon, parseCoordinates, type Placemark } from '../../pipelines/formats/kml.ts';
import { makeRegion } from '../../pipelines/synthetic/make-region.ts';
import { randomOf } from '../../pipelines/synthetic/random.ts';
import { maskTaxCode } from '../../pipelines/mask-tax-code.ts';
import { parseDocumentName, parseTitle } from './schema.ts';
import source from './source.ts';
import synthetic from './synthetic.ts';
import { MixedDecoder, readLines } from './text.ts';
import { rewriteZip } from '../../test/harness/rewrite-zip.ts';
import { temporaryFolder } from '../../test/harness/temporary-folder.ts';
import { trial } from '../../test/harness/trial.ts';

const FOLDER = fileURLToPath(new URL('./', import.meta.url));

const folder = temporaryFolder();

describe('OMI files', () => {
  it.each(['perimeter-refused-placemarks.kml', 'perimeter-part-off-africa.kml', 'perimeter-rings-too-short.kml'])(
    'keep each rejected record of %s, which is rejected for the same reason when it is read again',
    async (name) => {
      const { collected } = await trial(source, join(FOLDER, 'fixture', name));
      const rejects = collected!.members[0]!.rejects;
      expect(rejects.length).toBeGreaterThan(0);
      const [before] = readFileSync(join(FOLDER, 'fixture', name), 'utf8').split('<Placemark>', 1);
      for (const reject of rejects) {
        const path = join(folder, 'again.kml');
        await writeFile(path, `${before}${String(reject.raw)}</Document></kml>`);
        const again = await trial(source, path);
        expect(again.collected!.members[0]!.rejects.map(({ code }) => code)).toContain(reject.code);
        expect(again.collected!.rows['raw_perimeter']).toEqual([]);
      }
    },
  );

  it('with malformed lines produce rejects that state the number of cells and whether the line has the closing semicolon, and blank lines are skipped', async () => {
    const [title, header, line = ''] = readFileSync(join(FOLDER, 'fixture', 'valori-refused-rows.csv'), 'utf8').split(/\r?\n/);
    const cells = header!.split(';').slice(0, -1).map((_, index) => line.split(';')[index] ?? '');
    const lines = [`${cells.join(';')};1;`, `${cells.join(';')};1;2;`, `${cells.slice(1).join(';')};`, cells.join(';'), `${cells.join(';')};1`, 'x;', 'x', ';', ';'.repeat(21)];
    const path = join(folder, 'cells.csv');
    await writeFile(path, `${[title, header, ...lines].join('\r\n')}\r\n`);
    const { collected } = await trial(source, path);
    expect(collected!.members[0]!.rejects.map(({ message }) => message.replace('expected 21 cells and a closing semicolon, found ', ''))).toEqual([
      '22 cells and a closing semicolon', '23 cells and a closing semicolon', '20 cells and a closing semicolon', '21 cells and no closing semicolon',
      '22 cells and no closing semicolon', '1 cells and a closing semicolon', '1 cells and no closing semicolon',
    ]);
  });

  it('are recognised by their content under any name', async () => {
    const path = join(folder, 'download (3).bin');
    await writeFile(path, readFileSync(join(FOLDER, 'fixture', 'zone-rural-crops.csv')));
    expect((await trial(source, path)).recognition).toMatchObject({ role: 'ZONE', vintage: '2018_2' });
  });

  it('count as parts with any content, because a user chose the content', async () => {
    await synthetic.write(makeRegion({ parcels: 600, seed: 1 }), folder);
    for (const name of readdirSync(folder).filter((each) => /^(?:QI|Prov|Z)/.test(each))) {
      expect((await trial(source, join(folder, name))).recognition?.complete, name).toBe(false);
    }
  });

  it('are rejected if a KMZ contains the index of a province but no perimeter', async () => {
    const name = readdirSync(folder).find((each) => /^Provincia di CAMPOBASSO/.test(each))!;
    const path = join(folder, 'index', name);
    await mkdir(join(folder, 'index'));
    await rewriteZip(join(folder, name), (entry, content) => (entry.startsWith('Comuni/') ? null : content), { into: path });
    expect((await trial(source, path)).error).toMatchObject({ code: 'KMZ_INCOMPLETE', detail: expect.stringMatching(/^expected \d+ comuni as in the index, found 0$/) });
  });

  it('have a name in which the tax code is masked and all other text is kept', async () => {
    expect(maskTaxCode('QIP294582_RSSMRA80A01H501U.zip')).toBe('QIP294582_***.zip');
    expect(maskTaxCode('QIP294582_12345678901.zip')).toBe('QIP294582_***.zip');
    expect(maskTaxCode('copia di rssmra80a01h501u.zip')).toBe('copia di ***.zip');
    expect(maskTaxCode('F205 - Comune di MILANO 2025-1.kmz')).toBe('F205 - Comune di MILANO 2025-1.kmz');
    expect(maskTaxCode('QI_1292013_1_20251_VALORI.csv')).toBe('QI_1292013_1_20251_VALORI.csv');
  });
});

describe('title lines and document names', () => {
  it.each([
    ['Quotazioni Immobiliari : Valori di Mercato - Semestre 2018/2 - elaborazione del 27-APR-19', { kind: 'VALORI', semester: { text: '2018_2', halfYear: 4037 }, elaborated: '2019-04-27' }],
    ['\uFEFFQuotazioni Immobiliari : Informazioni di Zona OMI - Semestre 2025/1 - elaborazione del 3-DIC-25', { kind: 'ZONE', semester: { text: '2025_1', halfYear: 4050 }, elaborated: '2025-12-03' }],
    ['Quotazioni Immobiliari : Valori di Mercato - Semestre 2018/3 - elaborazione del 27-APR-19', null],
    ['Quotazioni Immobiliari : Valori di Mercato - Semestre 2018/2 - elaborazione del 27-ABR-19', null],
    ['Quotazioni Immobiliari : Valori di Mercato - Semestre 2018/2 - elaborazione del 31-APR-19', null],
    ['Area_territoriale;Regione', null],
  ])('are parsed: %j as %j', (line, expected) => {
    expect(parseTitle(line)).toEqual(expected);
  });

  it('state the half-year of perimeters and, if the day exists, the day and time of generation', () => {
    expect(parseDocumentName('GORIZIA (GO) Anno/Semestre 2018/2 generato il 22/02/2019 15:55')).toEqual({ semester: { text: '2018_2', halfYear: 4037 }, generated: '2019-02-22', time: '15:55' });
    expect(parseDocumentName('GORIZIA (GO) Anno/Semestre 2018/2 generato il 31/02/2019 15:55')).toEqual({ semester: { text: '2018_2', halfYear: 4037 }, generated: null, time: null });
    expect(parseDocumentName('GORIZIA')).toBeNull();
  });
});

describe('text in two encodings', () => {
  const mixed = Buffer.concat([Buffer.from('Città\n'), Buffer.from([0x50, 0x65, 0x72, 0xf2, 0x92, 0x0a]), Buffer.from('€ fine', 'utf8')]);

  it('is decoded line by line in chunks of any size', async () => {
    for (let size = 1; size <= mixed.length; size += 1) {
      async function* chunks(): AsyncGenerator<Buffer> {
        for (let at = 0; at < mixed.length; at += size) yield mixed.subarray(at, at + size);
      }
      const lines = [];
      for await (const batch of readLines(chunks(), 'test')) lines.push(...batch);
      expect(lines.map(({ number, text, isOpen }) => [number, text, isOpen])).toEqual([[1, 'Città', false], [2, 'Però’', false], [3, '€ fine', true]]);
    }
  });

  it('is decoded as a stream in chunks of any size', () => {
    for (let size = 1; size <= mixed.length; size += 1) {
      const decoder = new MixedDecoder();
      let text = '';
      for (let at = 0; at < mixed.length; at += size) text += decoder.write(mixed.subarray(at, at + size));
      expect(text + decoder.end()).toBe('Città\nPerò’\n€ fine');
    }
  });

  it('is rejected if a line never ends', async () => {
    async function* endless(): AsyncGenerator<Buffer> {
      for (;;) yield Buffer.alloc(65_536, 0x61);
    }
    await expect(async () => {
      for await (const _ of readLines(endless(), 'endless.csv')) expect.unreachable();
    }).rejects.toMatchObject({ code: 'LINE_TOO_LONG', at: 'endless.csv:1' });
  });
});

describe('a KML reader', () => {
  const text = readFileSync(join(FOLDER, 'fixture', 'perimeter-hole-and-two-parts.kml'), 'utf8').replace('MONTEMAI - Zona', 'SANT&ANTONIO &amp; PERÒ &#233; - Zona');

  function readIn(size: number): { placemarks: Placemark[]; broken: string[] } {
    const placemarks: Placemark[] = [];
    const broken: string[] = [];
    const reader = new KmlReader({ placemark: (each) => placemarks.push(each), broken: (message) => broken.push(message) });
    for (let at = 0; at < text.length; at += size) reader.write(text.slice(at, at + size));
    reader.end();
    return { placemarks, broken };
  }

  it('reads the same placemarks and texts whatever the size of the chunks', () => {
    const whole = readIn(text.length);
    expect(whole.broken).toEqual([]);
    expect(whole.placemarks).toHaveLength(2);
    expect(whole.placemarks[0]).toMatchObject({ number: 1, name: 'SANT&ANTONIO & PERÒ é - Zona OMI B1', fault: null });
    expect(whole.placemarks[0]!.raw.startsWith('<Placemark>') && whole.placemarks[0]!.raw.endsWith('</Placemark>')).toBe(true);
    for (const size of [1, 2, 3, 7, 64, 1000]) expect(readIn(size)).toEqual(whole);
  });

  it('keeps holes as holes, and parts as parts', () => {
    const [{ parts }] = readIn(text.length).placemarks as [Placemark, Placemark];
    expect(parts.map(({ rings }) => rings.length)).toEqual([2, 1]);
    expect(parts[0]!.rings[1]).toEqual([14.002, 41.002, 14.004, 41.002, 14.004, 41.004, 14.002, 41.004, 14.002, 41.002]);
  });

  it.each([
    ['14,41,0 15,41,0 15,42,0 14,41,0', [14, 41, 15, 41, 15, 42, 14, 41]],
    ['14,41 15,41 15,42', [14, 41, 15, 41, 15, 42, 14, 41]],
    ['\n 14,41,0\t15,41,0\n15,42,0 ', [14, 41, 15, 41, 15, 42, 14, 41]],
    ['14,41,0 15,41,0 14,41,0', 'ring_too_short: expected at least 3 different points, found 2'],
    ['', 'ring_too_short: expected at least 3 different points, found 0'],
    ['14,41,0 15,,0', 'coordinate_malformed: expected lon,lat,height, found "15,,0"'],
    ['14;41', 'coordinate_malformed: expected lon,lat,height, found "14;41"'],
  ])('reads the text of the ring %j as %j', (coordinates, expected) => {
    expect(parseCoordinates(coordinates)).toEqual(expected);
  });

  it('reads each number of a ring as the nearest floating-point number, in any decimal form and between any white space', () => {
    const random = randomOf('numbers of a ring');
    const digits = (count: number): string => Array.from({ length: count }, () => random.below(10)).join('');
    const form = (): string => {
      const sign = random.pick(['', '', '-', '+']);
      const whole = digits(random.below(17));
      const fraction = digits(random.below(17));
      const plain = fraction === '' ? random.pick([whole, `${whole}.`]) : `${whole}.${fraction}`;
      return `${sign}${plain.length > 1 ? plain : '0'}${random.pick(['', '', '', 'e1', 'E-7'])}`;
    };
    for (let ring = 0; ring < 2_000; ring += 1) {
      // Most rings have only plain decimals, and the other rings have numbers in any form.
      const number = ring % 4 === 0 ? form : () => `${random.pick(['', '-'])}${digits(1 + random.below(3))}.${digits(1 + random.below(13))}`;
      const numbers = Array.from({ length: 8 }, number);
      const points = Array.from({ length: 4 }, (_, i) => `${numbers[i * 2]},${numbers[i * 2 + 1]}${random.pick(['', ',0', ',12.5', ','])}`);
      const text = `${random.pick(['', '\n'])}${points.join(random.pick([' ', '\n', '\r\n', '\t', '\u00a0', '\u2028']))}${random.pick(['', ' ', '\n'])}`;
      expect(parseCoordinates(text), text).toEqual([...numbers.map(Number), ...numbers.slice(0, 2).map(Number)]);
    }
  });

  it('writes a multipolygon as EWKB with the expected bytes', () => {
    const bytes = multiPolygon([[[14, 41, 15, 41, 15, 42, 14, 41]]]);
    const doubles = [14, 41, 15, 41, 15, 42, 14, 41].map((value) => {
      const eight = Buffer.alloc(8);
      eight.writeDoubleLE(value);
      return eight.toString('hex');
    });
    expect(bytes.toString('hex')).toBe(`0106000020e61000000100000001030000000100000004000000${doubles.join('')}`);
  });
});
