import { describe, expect, test } from 'vitest';
import { expectColumns, fieldsOf, normaliseHeader, openCsv, type CsvOptions, type CsvRecord } from '../../pipelines/formats/csv.ts';
import { refusalOf } from '../../pipelines/readers/refusal.ts';
import { z } from 'zod';

async function* inPieces(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function read(
  bytes: Buffer | string,
  options: Partial<CsvOptions> = {},
  size = 1_000_000,
): Promise<{ header: readonly string[]; headerLine: number; records: CsvRecord[] }> {
  const reader = await openCsv(inPieces(Buffer.from(bytes as string), size), { at: 'x.csv', delimiter: ';', ...options });
  const records: CsvRecord[] = [];
  for await (const record of reader.records()) records.push(record);
  return { header: reader.header, headerLine: reader.headerLine, records };
}

const ACCENTS = 'nome;zona\r\nForlì Finto;3\r\nNonsò;4\r\n';

describe('the CSV reader (lines)', () => {
  test.each([['LF before CR LF', 'a;b\n1;2\r\n3;4\r\n'], ['CR LF before LF', 'a;b\r\n1;2\n3;4\n']])('reads a file with both line ends (%s)', async (_, text) => {
    for (const size of [1, 4, 5, 1000]) {
      expect((await read(text, {}, size)).records.map(({ line, values }) => [line, values])).toEqual([[2, ['1', '2']], [3, ['3', '4']]]);
    }
  });

  test('reads a file whose lines end with carriage returns', async () => {
    for (const size of [1, 4, 1000]) {
      expect((await read('a;b\r1;x\r2;y\r', {}, size)).records.map(({ line, values }) => [line, values])).toEqual([[2, ['1', 'x']], [3, ['2', 'y']]]);
    }
  });

  test('keeps blank records of a table of the user', async () => {
    const { records } = await read(';\r\na;b\r\n1;2\r\n;\r\n3;4\r\n', { keepsAllRows: true });
    expect(records.map(({ values }) => values)).toEqual([['1', '2'], ['', ''], ['3', '4']]);
  });

  test('accepts a complete short line before blank cells without a line end', async () => {
    expect((await read('a;b;c\n1;2;3\nTotale;x\n;;')).records.map(({ line, problem }) => [line, problem === null])).toEqual([[2, true], [3, false]]);
  });

  test('skips records whose fields are all blank', async () => {
    const { records } = await read('a;b\r\n1;2\r\n;\r\n ;\u00a0\r\n\r\n   \r\n3;\r\n;;;\r\n');
    expect(records.map(({ line, values, problem }) => [line, values, problem])).toEqual([[2, ['1', '2'], null], [7, ['3', ''], null]]);
  });
});

describe('the CSV reader (encodings)', () => {
  test.each([
    ['UTF-8', Buffer.from(ACCENTS)],
    ['UTF-8 with a byte order mark', Buffer.from(`\ufeff${ACCENTS}`)],
    ['windows-1252', Buffer.from(ACCENTS, 'latin1')],
  ] as const)('reads %s in chunks of any size', async (_, bytes) => {
    for (const size of [1, 2, 3, 7, 1000]) {
      const result = await read(bytes, {}, size);
      expect(result.header).toEqual(['nome', 'zona']);
      expect(result.records.map(({ values }) => values)).toEqual([['Forlì Finto', '3'], ['Nonsò', '4']]);
    }
  });

  test.each([['little', [0xff, 0xfe]], ['big', [0xfe, 0xff]]])('rejects UTF-16, %s-endian', async (_, mark) => {
    for (const size of [1, 1000]) {
      const bytes = Buffer.concat([Buffer.from(mark), Buffer.from(ACCENTS, 'utf16le')]);
      await expect(read(bytes, {}, size)).rejects.toMatchObject({ code: 'ENCODING_WRONG', at: 'x.csv:1', detail: expect.stringContaining('UTF-16') as string });
    }
  });

  test('reads the letters of windows-1252 between 0x80 and 0x9f, even if they are the last letters of the file', async () => {
    const whole = await read(Buffer.from([0x61, 0x3b, 0x62, 0x0a, 0x63, 0x3b, 0x9e, 0x92]));
    expect(whole.records.map(({ values }) => values)).toEqual([['c', '\u017e\u2019']]);
  });

  test('recognises windows-1252 even if the first accent comes late', async () => {
    const lines = 'a;b\n'.repeat(40_000);
    const result = await read(Buffer.from(`nome;zona\n${lines}Nonsò;4\n`, 'latin1'), {}, 65_536);
    expect(result.records.at(-1)!.values).toEqual(['Nonsò', '4']);
  });

  test('rejects bytes that are invalid in the encoding and reports their line', async () => {
    const marked = Buffer.concat([Buffer.from('\ufeff'), Buffer.from(ACCENTS, 'latin1')]);
    await expect(read(marked)).rejects.toMatchObject({ code: 'ENCODING_WRONG', at: 'x.csv:2' });
    const late = Buffer.concat([Buffer.from(`nome;zona\n${'è;b\n'.repeat(10)}Forl`), Buffer.from([0xec]), Buffer.from(';3\n')]);
    await expect(read(late, {}, 20)).rejects.toMatchObject({ code: 'ENCODING_WRONG', at: 'x.csv:12' });
    await expect(read(Buffer.concat([Buffer.from('\ufeffa;b\n1;'), Buffer.from([0xc3])]))).rejects.toMatchObject({ code: 'ENCODING_WRONG' });
  });
});

describe('the CSV reader (records)', () => {
  test('counts lines correctly after a header of several lines', async () => {
    const result = await read('"Codice\n(valida)";nome\n1;"a\nb"\n\n2;c\n');
    expect(result.header).toEqual(['Codice\n(valida)', 'nome']);
    expect(result.headerLine).toBe(2);
    expect(result.records.map(({ line, values, raw }) => ({ line, values, raw }))).toEqual([
      { line: 4, values: ['1', 'a\nb'], raw: '1;"a\nb"' },
      { line: 6, values: ['2', 'c'], raw: '2;c' },
    ]);
  });

  test('reports a record with a different number of values, or with a value in a column without a name', async () => {
    const result = await read('a;b;\n1;2;\n1;2\n1;2;;\n1;2;x\n');
    expect(result.records.map(({ problem }) => problem?.code ?? null)).toEqual([null, 'column_count', 'column_count', 'unnamed_column']);
  });

  test('treats a quote as an ordinary character if the publisher quotes nothing', async () => {
    const result = await read('a;b\n"VIA;2\n', { quote: null });
    expect(result.records[0]!.values).toEqual(['"VIA', '2']);
  });

  test('rejects a quote that is never closed, and reports the line of text after a closing quote', async () => {
    const hint = expect.stringContaining('Download the file again') as string;
    await expect(read('a;b\n1;"x\n2;y\n')).rejects.toMatchObject({ code: 'CSV_MALFORMED', kind: 'input', hint });
    await expect(read('a;b\n1;"x"y\n')).rejects.toMatchObject({ code: 'CSV_MALFORMED', at: 'x.csv:2' });
  });

  test.each([
    ['inside a line', 'a;b;c\n1;2;3\n4;5', 'x.csv:3', 'expected 3 columns in the last line, found 2 and no line end'],
    ['inside the first line of a record', 'a;b;c\r\n1;2;3\r\n4', 'x.csv:3', 'expected 3 columns in the last line, found 1 and no line end'],
    ['after the header, inside the only record', 'a;b;c\n1;', 'x.csv:2', 'expected 3 columns in the last line, found 2 and no line end'],
    ['after the first quote of a doubled quote', 'a;b;c\n1;"x";3\n4;"y"', 'x.csv:3', 'expected 3 columns'],
    ['inside a table whose records have fewer columns than the header', 'a;b;c;;\n1;2;3\n4;5', 'x.csv:3', 'expected 3 columns'],
  ])('refuses a file that ends %s', async (_, text, at, detail) => {
    for (const size of [1, 4, 1000]) {
      const wanted = expect.stringContaining(detail) as string;
      await expect(read(text, {}, size)).rejects.toMatchObject({ code: 'FILE_TRUNCATED', kind: 'input', at, detail: wanted });
    }
  });

  test.each([
    ['a complete last line', '4;5;6', null],
    ['a last line with an empty last value', '4;5;', null],
    ['a record with fewer columns and a line end', '4;5\n', 'column_count'],
    ['an end-of-file mark', '\u001a', 'column_count'],
    ['a footer', 'Fonte: ministero', 'column_count'],
  ])('reads a file that ends with %s', async (_, last, code) => {
    const result = await read(`a;b;c\n1;2;3\n${last}`);
    expect(result.records.map(({ problem }) => problem?.code ?? null)).toEqual([null, code]);
  });

  test('reads a table of a user that ends inside a line', async () => {
    const result = await read('a;b;c\n1;2;3\n4;5', { keepsAllRows: true });
    expect(result.records.map(({ problem }) => problem?.code ?? null)).toEqual([null, 'column_count']);
  });

  test('rejects an empty file', async () => {
    await expect(read('')).rejects.toMatchObject({ code: 'CSV_EMPTY' });
    await expect(read('\n\n')).rejects.toMatchObject({ code: 'CSV_EMPTY' });
  });

  test('fails if the stream fails', async () => {
    async function* broken(): AsyncGenerator<Buffer> {
      yield Buffer.from('a;b\n1;2\n');
      throw new Error('disk gone');
    }
    await expect((async () => {
      const reader = await openCsv(broken(), { at: 'x.csv', delimiter: ';' });
      for await (const { problem } of reader.records()) expect(problem).toBeNull();
    })()).rejects.toThrow('disk gone');
  });
});

describe('columns', () => {
  test.each([
    ['Codice Catastale del Comune ', 'codice_catastale_del_comune'],
    ['Codice Provincia (Storico)(1)', 'codice_provincia_storico'],
    ["Codice dell'Unità territoriale sovracomunale \n(valida a fini statistici)", 'codice_dell_unita_territoriale_sovracomunale_valida_a_fini_statistici'],
    ["PROV/CITTA'_METROPOLITANA", 'prov_citta_metropolitana'],
    ['Sigla\u00a0automobilistica', 'sigla_automobilistica'],
    ['  ', ''],
  ])('with the header %j get the name %j', (published, name) => {
    expect(normaliseHeader(published)).toBe(name);
  });

  const expected = { mapped: { code: ['codice', 'codice_istat'], name: 'denominazione*' }, ignored: { 'nuts*': 'not used' }, at: 'x.csv' } as const;

  test('are found by name in any position', () => {
    const columns = expectColumns(['NUTS 1', 'Denominazione del comune', 'Codice ISTAT'], expected);
    expect(columns.indexes).toEqual({ code: 2, name: 1 });
    expect(fieldsOf(['x', 'Nonsò', '070901'], columns)).toEqual({ code: '070901', name: 'Nonsò' });
  });

  test('may be missing if the columns are optional', () => {
    const columns = expectColumns(['codice', 'nuts'], { ...expected, optional: ['name'] });
    expect(columns.indexes).toEqual({ code: 0, name: -1 });
    expect(fieldsOf(['1', ''], columns)).toEqual({ code: '1', name: '' });
  });

  test.each([
    [['codice', 'nuts'], /missing: name \(denominazione\*\)/],
    [['codice', 'denominazione'], /missing: "nuts\*"/],
    [['codice', 'denominazione', 'nut'], /missing: "nuts\*"; new: "nut"/],
    [['codice', 'codice istat', 'denominazione', 'nuts'], /doubled: code/],
    [['codice', 'denominazione', 'nuts', 'NUTS'], /doubled: "NUTS"/],
    [['codice', 'denominazione', 'nuts', 'x', 'X'], /doubled: "X"/],
  ])('are rejected if they change, and the error states the difference: %j', (found, detail) => {
    expect(() => expectColumns(found, expected)).toThrow(expect.objectContaining({ code: 'COLUMNS_CHANGED', at: 'x.csv', detail: expect.stringMatching(detail) }));
  });

  test('are reported with sample values if they are added in any position', () => {
    const found: [string, string | undefined][] = [];
    const sink = { added: (column: string, sample?: string): void => void found.push([column, sample]) };
    const columns = expectColumns(['Nuova\ncolonna', 'codice', '', 'denominazione', 'nuts'], expected).reportTo(sink);
    for (const value of ['a', '', 'b', 'c', 'd']) expect(fieldsOf([value, '1', '', 'x', ''], columns)).toEqual({ code: '1', name: 'x' });
    expect(found).toEqual([['Nuova colonna', undefined], ['column 3', undefined], ['Nuova colonna', 'a'], ['Nuova colonna', 'b'], ['Nuova colonna', 'c']]);
  });

  test('must include all columns of every edition that has a distinctive column in the file', () => {
    const editions = { old: ['codice', 'denominazione', 'a'], new: ['codice', 'denominazione', 'b|b2', 'c'] };
    const names = (found: readonly string[]): readonly string[] => expectColumns(found, { mapped: { code: 'codice' }, ignored: { '': 'no name' }, editions, at: 'x.csv' }).added.map(({ name }) => name);
    expect(names(['a', 'codice', 'denominazione', ''])).toEqual([]);
    expect(names(['c', 'b2', 'codice', 'z', 'denominazione'])).toEqual(['z']);
    expect(names(['a', 'b', 'c', 'codice', 'denominazione'])).toEqual([]);
    const refused = (found: readonly string[], detail: RegExp): void => expect(() => names(found)).toThrow(expect.objectContaining({ code: 'COLUMNS_CHANGED', detail: expect.stringMatching(detail) }));
    refused(['a', 'b', 'codice', 'denominazione'], /of edition new, found missing: "c"/);
    refused(['codice', 'denominazione', 'b', 'z'], /of edition new, found missing: "c"; new: "z"/);
    refused(['codice', 'denominazione', 'c'], /of edition new, found missing: "b" or "b2"/);
  });
});

test('an error names the field, the expected value and the found value', () => {
  const fields = { code: '70', name: 'x' };
  const result = z.strictObject({ code: z.string().regex(/^\d{6}$/, 'expected six digits'), name: z.string() }).safeParse(fields);
  expect(refusalOf(fields, result.error!)).toEqual({ code: 'code_invalid', message: 'code: expected six digits, found "70"' });
});
