/** Writes Excel workbooks with one sheet and shared texts, as spreadsheet programs do, for synthetic regions and fixtures. */
import { writeZip } from './zip-writer.ts';

/** Value of a cell. A number becomes a number cell, a string becomes a shared text, and null becomes an empty cell. */
export type XlsxValue = string | number | null;

const HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const RELATIONS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';

const escape = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** Returns the name of a column: `A` for 0, `AB` for 27. */
function columnName(index: number): string {
  let name = '';
  for (let rest = index + 1; rest > 0; rest = Math.floor((rest - 1) / 26)) name = String.fromCharCode(65 + ((rest - 1) % 26)) + name;
  return name;
}

/** Writes a workbook. Streams the rows into the sheet, and keeps the distinct texts in memory until the end. */
export async function writeXlsx(path: string, sheet: string, rows: Iterable<readonly XlsxValue[]>): Promise<void> {
  const texts = new Map<string, number>();
  let used = 0;
  function* xml(): Generator<string> {
    yield `${HEAD}<worksheet xmlns="${MAIN}"><sheetData>`;
    let number = 0;
    for (const row of rows) {
      number += 1;
      let line = `<row r="${number}">`;
      row.forEach((value, column) => {
        if (value === null) return;
        const reference = `${columnName(column)}${number}`;
        if (typeof value === 'number') {
          line += `<c r="${reference}"><v>${value}</v></c>`;
          return;
        }
        let index = texts.get(value);
        if (index === undefined) texts.set(value, (index = texts.size));
        used += 1;
        line += `<c r="${reference}" t="s"><v>${index}</v></c>`;
      });
      yield `${line}</row>`;
    }
    yield '</sheetData></worksheet>';
  }
  function* shared(): Generator<string> {
    yield `${HEAD}<sst xmlns="${MAIN}" count="${used}" uniqueCount="${texts.size}">`;
    for (const text of texts.keys()) yield `<si><t${text.trim() === text ? '' : ' xml:space="preserve"'}>${escape(text)}</t></si>`;
    yield '</sst>';
  }
  await writeZip(path, [
    ['[Content_Types].xml', `${HEAD}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">`
    + '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/>'
    + '<Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>'
    + '<Override PartName="/xl/worksheets/sheet1.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/>'
    + '<Override PartName="/xl/sharedStrings.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"/></Types>'],
    ['_rels/.rels', `${HEAD}<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">`
    + `<Relationship Id="rId1" Type="${RELATIONS}/officeDocument" Target="xl/workbook.xml"/></Relationships>`],
    ['xl/workbook.xml', `${HEAD}<workbook xmlns="${MAIN}" xmlns:r="${RELATIONS}"><sheets><sheet name="${escape(sheet)}" sheetId="1" r:id="rId1"/></sheets></workbook>`],
    ['xl/_rels/workbook.xml.rels', `${HEAD}<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">`
    + `<Relationship Id="rId1" Type="${RELATIONS}/worksheet" Target="worksheets/sheet1.xml"/>`
    + `<Relationship Id="rId2" Type="${RELATIONS}/sharedStrings" Target="sharedStrings.xml"/></Relationships>`],
    ['xl/worksheets/sheet1.xml', xml()],
    ['xl/sharedStrings.xml', shared()],
  ]);
}
