/** Tests the reader of tables with one record per line. */
import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { cellsOf, linesOf } from '../../pipelines/readers/delimited-lines.ts';

async function lines(content: Buffer, size: number): Promise<[number, string][]> {
  const chunks = Array.from({ length: Math.ceil(content.length / size) }, (_, index) => content.subarray(index * size, (index + 1) * size));
  const found: [number, string][] = [];
  for await (const { number, text } of linesOf(Readable.from(chunks) as AsyncIterable<Buffer>, 'list.csv')) found.push([number, text]);
  return found;
}

it('the line reader numbers lines as in the file, skips empty lines, and decodes each line as UTF-8 or windows-1252, for any chunk size', async () => {
  const content = Buffer.concat([Buffer.from('\uFEFFa;b\r\n\r\nverità;1\n'), Buffer.from('verit\u00e0;2\n', 'latin1'), Buffer.from('  \nlast')]);
  for (const size of [1, 2, 3, 7, 64]) expect(await lines(content, size)).toEqual([[1, 'a;b'], [3, 'verità;1'], [4, 'verità;2'], [6, 'last']]);
});

it('the line reader reports that only the last line has no line end', async () => {
  for (const [content, expected] of [['a\nb', [false, true]], ['a\nb\r\n', [false, false]], ['a\n\n', [false]]] as const) {
    const found = [];
    for await (const { isOpen } of linesOf(Readable.from([Buffer.from(content)]) as AsyncIterable<Buffer>, 'list.csv')) found.push(isOpen);
    expect(found).toEqual(expected);
  }
});

it('the line reader skips lines that contain only separators', async () => {
  expect(await lines(Buffer.from('a;b\r\n1;2\r\n;\r\n ; \r\n|\n,,\n3;\n'), 64)).toEqual([[1, 'a;b'], [2, '1;2'], [7, '3;']]);
});

it('the line reader reports the line of a byte that is invalid in both encodings', async () => {
  await expect(lines(Buffer.concat([Buffer.from('a\nb'), Buffer.from([0x81, 0x0a])]), 64)).rejects.toMatchObject({ code: 'ENCODING_WRONG', at: 'list.csv:2' });
});

it('the line reader rejects a text without line ends before the text fills the memory', async () => {
  await expect(lines(Buffer.alloc(200_000, 'a'), 4096)).rejects.toMatchObject({ code: 'LINE_TOO_LONG' });
});

it.each([4096, 65_537, 200_000])('the line reader reports the number of a line that is longer than 65,536 bytes (chunks of %i bytes)', async (size) => {
  const content = (length: number): Buffer => Buffer.from(`a;b\n${'c'.repeat(length)}\nd;e\n`);
  await expect(lines(content(65_537), size)).rejects.toMatchObject({ code: 'LINE_TOO_LONG', at: 'list.csv:2' });
  expect((await lines(content(65_536), size)).map(([, text]) => text.length)).toEqual([3, 65_536, 3]);
});

it.each([
  ['a;b;c', ['a', 'b', 'c']], ['', ['']], [';', ['', '']], ['"a;b";c', ['a;b', 'c']], ['"a ""b"" c";d', ['a "b" c', 'd']], ['FARMACIA "VERA";d', ['FARMACIA "VERA"', 'd']],
  ['"never closed;d', ['"never closed', 'd']], ['"closed" too early;d', ['"closed" too early', 'd']], ['"a"', ['a']], ['a;"b"', ['a', 'b']],
])('cellsOf splits %j into the cells %j', (line, cells) => {
  expect(cellsOf(line, ';')).toEqual(cells);
});
