import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { randomOf } from '../../pipelines/synthetic/random.ts';
import { Workbook, XlsxRowCounter, firstRows, type XlsxRow } from '../../pipelines/formats/xlsx.ts';
import { writeXlsx } from '../../pipelines/synthetic/xlsx-writer.ts';
import { writeZip } from '../../pipelines/synthetic/zip-writer.ts';
import { ZipArchive } from '../../pipelines/formats/zip.ts';
import { temporaryFolder } from '../harness/temporary-folder.ts';

const folder = temporaryFolder();

const RELATIONSHIPS = '<Relationships><Relationship Id="r7" Type="x/worksheet" Target="/xl/worksheets/dati.xml"/></Relationships>';
const BOOK = '<x:workbook xmlns:x="m" xmlns:r="r"><x:sheets><x:sheet name="Foglio &amp; 1" sheetId="3" r:id="r7"/></x:sheets></x:workbook>';

/** Creates a workbook whose sheet has the given XML. */
async function workbook(name: string, sheet: string, texts?: string): Promise<string> {
  const path = join(folder, name);
  await writeZip(path, Object.entries({
    'xl/workbook.xml': BOOK, 'xl/_rels/workbook.xml.rels': RELATIONSHIPS, 'xl/worksheets/dati.xml': sheet, ...(texts === undefined ? {} : { 'xl/sharedStrings.xml': texts }),
  }));
  return path;
}

async function read(path: string): Promise<{ rows: XlsxRow[]; counted: number; sheet: string }> {
  const archive = await ZipArchive.open(path);
  try {
    const book = await Workbook.open(archive);
    const counter = new XlsxRowCounter();
    const rows: XlsxRow[] = [];
    for await (const batch of book.rows(book.sheets[0]!, counter)) rows.push(...batch.rows);
    return { rows, counted: counter.rows, sheet: book.sheets[0]!.name };
  } finally {
    await archive.close();
  }
}

describe('a workbook', () => {
  it('that mappale wrote is read back with numbers as digits and gaps as null', async () => {
    const path = join(folder, 'a.xlsx');
    const random = randomOf('xlsx');
    const table = Array.from({ length: 3_000 }, (_, row) => Array.from({ length: 30 }, (_unused, column) => (column % 7 === 3 ? null : column % 2 === 0 ? random.below(1_000) : `è <&> "${row % 50}"`)));
    await writeXlsx(path, 'R02', table);
    const { rows, counted, sheet } = await read(path);
    expect(sheet).toBe('R02');
    expect(rows).toEqual(table.map((row, index) => ({ number: index + 1, cells: row.map((cell) => (cell === null ? null : String(cell))) })));
    expect(counted).toBe(3_000);
  });

  it('is read with prefixes, inline texts, runs, formula results, errors and booleans, but without phonetic text', async () => {
    const sheet = '<?xml version="1.0"?><x:worksheet xmlns:x="m"><x:sheetData><x:row r="2"><x:c r="A2" t="s"><x:v>1</x:v></x:c><x:c r="C2" t="inlineStr"><x:is><x:t>dentro</x:t></x:is></x:c>'
      + '<x:c r="D2"><x:f>A1*2</x:f><x:v>6.3E11</x:v></x:c><x:c r="E2" t="str"><x:f>B1</x:f><x:v>esito</x:v></x:c><x:c r="F2" t="e"><x:v>#N/A</x:v></x:c><x:c r="AA2" t="b"><x:v>1</x:v></x:c></x:row>'
      + '<x:row r="3"><x:c r="A3" s="1"/></x:row><x:row><x:c><x:v>4</x:v></x:c><x:c><x:v>5</x:v></x:c></x:row></x:sheetData></x:worksheet>';
    const texts = '<sst><si><t>zero</t></si><si><r><t>in </t></r><r><t xml:space="preserve">parti &#232;</t></r><rPh><t>suono</t></rPh></si></sst>';
    const { rows, counted, sheet: name } = await read(await workbook('b.xlsx', sheet, texts));
    expect(name).toBe('Foglio & 1');
    expect(rows[0]!.number).toBe(2);
    expect(rows[0]!.cells.slice(0, 6)).toEqual(['in parti è', null, 'dentro', '6.3E11', 'esito', '#N/A']);
    expect(rows[0]!.cells).toHaveLength(27);
    expect(rows[0]!.cells[26]).toBe('1');
    // The third row has only a format and is not a record. The element of the fourth row has no attribute r, so the row gets the next number.
    expect(rows.slice(1)).toEqual([{ number: 4, cells: ['4', '5'] }]);
    expect(counted).toBe(2);
  });

  it('has the same number of rows if it is counted in chunks of any size', () => {
    const xml = '<row r="1"><c><v>1</v></c></row><row r="2"/><row r="3"><c s="1"/></row><x:row><x:c><x:is><x:t>a</x:t></x:is></x:c></x:row><rowBreaks count="1"/>';
    for (let size = 1; size <= xml.length; size += 1) {
      const counter = new XlsxRowCounter();
      for (let at = 0; at < xml.length; at += size) counter.count(xml.slice(at, at + size));
      expect(counter.rows, `chunks of ${size}`).toBe(2);
    }
  });

  it('returns its first rows from the first bytes of its files', () => {
    const sheet = Buffer.from('<worksheet><sheetData><row r="1"><c r="A1" t="s"><v>0</v></c></row><row r="2"><c r="A2" t="s"><v>900</v></c><c r="B2"><v>7</v></c></row><row r="3"><c r="A');
    expect(firstRows(sheet, Buffer.from('<sst><si><t>CODREG</t></si><si><t>tagli'), 5)).toEqual([{ number: 1, cells: ['CODREG'] }, { number: 2, cells: [null, '7'] }]);
  });

  it.each([
    ['a missing text', '<worksheet><sheetData><row r="1"><c r="A1" t="s"><v>5</v></c></row></sheetData></worksheet>', 'refers to text "5"'],
    ['truncated XML', '<worksheet><sheetData><row r="1"><c r="A1"><v>5</v></c>', 'unclosed tag'],
  ])('is rejected with %s', async (name, sheet, detail) => {
    await expect(read(await workbook(`${name}.xlsx`, sheet, '<sst/>'))).rejects.toMatchObject({ code: 'XLSX_UNREADABLE', kind: 'input', detail: expect.stringContaining(detail), at: expect.stringContaining('dati.xml') });
  });

  it('is rejected if the file is a different kind of zip', async () => {
    const path = join(folder, 'c.xlsx');
    await writeZip(path, [['content.xml', '<ods/>']]);
    await expect(read(path)).rejects.toMatchObject({ code: 'XLSX_UNREADABLE', at: 'c.xlsx' });
  });
});
