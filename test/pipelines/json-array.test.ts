import { Readable } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { jsonArray } from '../../pipelines/formats/json-array.ts';

/** Returns the elements of a list, and the error that follows the elements, or null. */
async function read(bytes: Buffer, chunk = bytes.length): Promise<{ elements: unknown[]; error: unknown }> {
  const chunks = Array.from({ length: Math.ceil(bytes.length / Math.max(chunk, 1)) }, (_, index) => bytes.subarray(index * chunk, (index + 1) * chunk));
  const elements: unknown[] = [];
  try {
    for await (const element of jsonArray(Readable.from(chunks) as AsyncIterable<Buffer>, 'list.json')) elements.push(element);
  } catch (error) {
    return { elements, error };
  }
  return { elements, error: null };
}

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Returns how many objects are still in memory after a garbage collection. */
async function countHeld(references: readonly WeakRef<object>[]): Promise<number> {
  // JavaScript keeps the target of a new WeakRef until the current task ends.
  await new Promise((resolve) => setImmediate(resolve));
  collectGarbage();
  return references.filter((reference) => reference.deref() !== undefined).length;
}

describe('the reader of JSON lists', () => {
  const list = [{ comune: 'Forlì "Finta"\n\u{1F3D4}', cap: ['86001', '86002'] }, null, 1.5e-3, -0, true, [[]], {}, '\u2028', 12345678901];

  it.each([1, 2, 3, 7, 1000])('returns the same as JSON.parse, in pieces of %d bytes', async (chunk) => {
    for (const text of [JSON.stringify(list), JSON.stringify(list, null, 2), `\uFEFF ${JSON.stringify(list)}\r\n`]) {
      expect(await read(Buffer.from(text), chunk)).toEqual({ elements: JSON.parse(text.replace(/^\uFEFF/, '')) as unknown[], error: null });
    }
  });

  it('returns no elements for an empty list', async () => {
    expect(await read(Buffer.from(' [ ]'))).toEqual({ elements: [], error: null });
  });

  it.each([
    ['is cut short', '[{"a":1},{"a":'],
    ['is not closed', '[{"a":1}'],
    ['has text after its end', '[{"a":1}] {"a":2}'],
    ['lacks a comma', '[{"a":1}{"a":2}]'],
    ['has words without quotes', '[{"a":1}, NaN]'],
  ])('rejects a list that %s, in pieces of any size', async (_what, text) => {
    for (const chunk of [1, 4, 1000]) {
      const { elements, error } = await read(Buffer.from(text), chunk);
      expect([[], [{ a: 1 }]]).toContainEqual(elements);
      expect(error).toMatchObject({ code: 'JSON_MALFORMED', kind: 'input', at: 'list.json', detail: expect.stringContaining('expected one list, found: ') as string });
    }
  });

  it.each([
    ['in an element', '[{"a":1},{"cap":1,"b":{"cap":2},"cap":1}]', 'cap'], ['in an object of an element', '[{"x":{"n\\u0061me":1,"name":2}}]', 'name'],
  ])('rejects a repeated name %s', async (_where, text, name) => {
    for (const chunk of [1, 5, 1000]) expect((await read(Buffer.from(text), chunk)).error).toMatchObject({ code: 'COLUMNS_CHANGED', at: 'list.json', detail: expect.stringContaining(`doubled: "${name}"`) as string });
  });

  it('accepts the same name in different objects', async () => {
    expect(await read(Buffer.from('[{"a":{"a":1},"b":[{"a":1},{"a":2}]}]'), 3)).toEqual({ elements: [{ a: { a: 1 }, b: [{ a: 1 }, { a: 2 }] }], error: null });
  });

  it.each([['an object', '{"a":[1]}'], ['nothing', ''], ['a word', 'null']])('rejects %s instead of a list', async (_what, text) => {
    const { elements, error } = await read(Buffer.from(text));
    expect(elements).toEqual([]);
    expect(error).toMatchObject({ code: 'JSON_MALFORMED' });
  });

  it('rejects encodings other than UTF-8', async () => {
    expect((await read(Buffer.from('["Forlì"]', 'latin1'))).error).toMatchObject({ code: 'ENCODING_WRONG' });
    expect((await read(Buffer.from('["a"]', 'utf16le'))).error).toMatchObject({ code: expect.stringMatching(/^(?:ENCODING_WRONG|JSON_MALFORMED)$/) as string });
  });

  it('stops reading if its caller stops, and passes on errors of the stream', async () => {
    let given = 0;
    async function* endless(): AsyncGenerator<Buffer> {
      yield Buffer.from('[0');
      for (;;) {
        given += 1;
        yield Buffer.from(`,${given}`.repeat(1000));
      }
    }
    for await (const element of jsonArray(endless(), 'list.json')) if (element === 5) break;
    const before = given;
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(given).toBe(before);
    async function* broken(): AsyncGenerator<Buffer> {
      yield Buffer.from('[0,');
      throw new Error('the disk is gone');
    }
    await expect((async () => {
      for await (const element of jsonArray(broken(), 'list.json')) expect(element).toBe(0);
    })()).rejects.toThrow('the disk is gone');
  });

  it('keeps at most 100 of 10,000 elements and at most 100 of their chunks in memory, and reads at most 100 chunks ahead of its caller', async () => {
    const element = JSON.stringify({ comune: 'Borgo Finto', filler: 'x'.repeat(4000) });
    const [chunks, elements]: [WeakRef<object>[], WeakRef<object>[]] = [[], []];
    async function* long(): AsyncGenerator<Buffer> {
      yield Buffer.from('[');
      for (let given = 0; given < 10_000; given += 1) {
        const chunk = Buffer.from(`${given === 0 ? '' : ','}${element}`);
        chunks.push(new WeakRef(chunk));
        yield chunk;
      }
      yield Buffer.from(']');
    }
    let [ahead, most] = [0, 0];
    for await (const each of jsonArray(long(), 'list.json')) {
      expect(Object.keys(each as object)).toEqual(['comune', 'filler']);
      elements.push(new WeakRef(each as object));
      ahead = Math.max(ahead, chunks.length - elements.length);
      if (elements.length % 2_500 === 0) most = Math.max(most, await countHeld(chunks), await countHeld(elements));
    }
    expect(elements).toHaveLength(10_000);
    expect(ahead).toBeLessThanOrEqual(100);
    expect(most).toBeLessThanOrEqual(100);
  });
});
