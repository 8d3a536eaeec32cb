/** Tests reading XML element by element: complete elements, malformed elements, and the position of errors. */
import { describe, expect, it } from 'vitest';
import { isXmlMisc, XmlElementParser, XmlError, XmlPrologueParser } from '../../pipelines/formats/xml.ts';

const NAMES = { a: 'urn:a' };

function parse(...pieces: string[]): ReturnType<XmlElementParser['write']> {
  const parser = new XmlElementParser({ p: 'urn:a', '': 'urn:default' }, NAMES);
  let found: ReturnType<XmlElementParser['write']> = null;
  for (const piece of pieces) found = parser.write(piece);
  return found;
}

function fault(...pieces: string[]): { message: string; line: number; column: number } {
  try {
    parse(...pieces);
  } catch (error) {
    if (error instanceof XmlError) return { message: error.message, ...error.place };
    throw error;
  }
  throw new Error('expected text that is not well-formed');
}

describe('an element', () => {
  it('is returned with its attributes, text and positions, under the prefixes of the caller', () => {
    const found = parse('<p:x id="1" p:y="&lt;" xmlns:q="urn:q">\n  <q:z/>a<!-- c --><![CDATA[<b>]]>\n</p:x>');
    expect(found!.element).toMatchObject({ name: 'a:x', text: '\n  a<b>\n', place: { line: 1, column: 1 } });
    expect([...found!.element.attributes]).toEqual([['id', '1'], ['a:y', '<']]);
    expect(found!.element.children).toMatchObject([{ name: '{urn:q}z', children: [], text: '', place: { line: 2, column: 3 } }]);
  });

  it.each([
    ['<p:x>1</p:x>', 12], ['<p:x/>', 6], ['<p:x/><p:x>', 6], ['<p:x>1</p:x >', 13], ['<p:x>1</p:x> and more <', 12], ['<p:x>1</p:x></p:y>', 12], ['<p:x>à€𝄞</p:x>', 15],
  ])('is read from %s and ends after %i UTF-16 code units', (text, length) => {
    expect(parse(text)!.length).toBe(length);
  });

  it('is parsed in pieces, and an end tag in a comment is ignored', () => {
    expect(parse('<p:x><!-- </p:x>', ' --><p:y></p:y>')).toBeNull();
    expect(parse('<p:x><!-- </p:x>', ' --><p:y></p:y>', '</p:x>')!.element.children).toHaveLength(1);
  });

  it.each([
    ['<p:x>\n</p:y>', 'unexpected close tag', 2, 6],
    ['<p:x><p:y></p:x>', 'unexpected close tag', 1, 16],
    ['<p:x>\n a & b</p:x>', 'an ampersand that begins no entity', 2, 4],
    ['<p:x y="&"></p:x>', 'an ampersand that begins no entity', 1, 9],
    ['<p:x y="&amp;&">', 'an ampersand that begins no entity', 1, 14],
    ['<p:x>&unknown;</p:x>', 'undefined entity', 1, 14],
    ['<p:x y="<"/>', 'disallowed character', 1, 9],
    ['<z:x/>', 'unbound namespace prefix: "z"', 1, 6],
    ['<p:x y="1" y="2"/>', 'duplicate attribute: y', 1, 18],
  ])('%j is not well-formed', (text, message, line, column) => {
    expect(fault(text)).toEqual({ message, line, column });
  });

  it('may contain ampersands in comments, CDATA and processing instructions, even across pieces', () => {
    expect(parse('<p:x><!-- & --><![CDATA[&]]><?i & ?>&amp;</p:x>')!.element.text).toBe('&&');
    expect(parse('<p:x><!-- & </p:x>', ' & </p:x>', ' & --></p:x>')).not.toBeNull();
    expect(fault('<p:x><!-- & </p:x>', ' & -', '-> & </p:x>')).toMatchObject({ message: 'an ampersand that begins no entity' });
  });
});

describe('a prologue', () => {
  it('ends exactly at the last byte of the root\'s start tag', () => {
    const parser = new XmlPrologueParser();
    const bytes = Buffer.from('\ufeff<?xml version="1.0" encoding="UTF-8"?>\n<!-- à > -->\n<p:r xmlns:p="urn:a" n="à>"\n  m=\'1\'>rest');
    const used = [...bytes].map((_byte, index) => parser.write(bytes.subarray(index, index + 1)));
    expect(used.lastIndexOf(1) + 1).toBe(bytes.length - 'rest'.length);
    expect(parser).toMatchObject({ version: '1.0', encoding: 'UTF-8', hasDoctype: false, root: { name: 'p:r', uri: 'urn:a', local: 'r', isEmpty: false } });
    expect(parser.root!.namespaces).toEqual({ p: 'urn:a' });
    expect([...parser.root!.attributes]).toEqual([['xmlns:p', 'urn:a'], ['n', 'à>'], ['m', '1']]);
    expect(parser.text).toBe(bytes.toString().slice(1, -'rest'.length));
  });

  it.each([['no markup', 1, 1], ['<a b=1>', 1, 6], ['<?xml version="1.0"?>\n<a:b>', 2, 5]])('%j is not well-formed', (text, line, column) => {
    const parser = new XmlPrologueParser();
    expect(() => parser.write(Buffer.from(text))).toThrow(expect.objectContaining({ name: 'XmlError', place: { line, column } }));
  });

  it('is rejected if it is not valid UTF-8', () => {
    expect(() => new XmlPrologueParser().write(Buffer.from('<!-- \xe0 --><a>', 'latin1'))).toThrow(expect.objectContaining({ message: 'bytes that are not UTF-8' }));
  });
});

describe('content around a root element', () => {
  it.each([['', true], [' \n', true], ['<!-- c --><?i?>', true], ['x', false], ['<a/>', false], ['<!-- -- -->', false], ['<![CDATA[]]>', false], ['<?xml version="1.0"?>', false], ['&amp;', false]])('%j is allowed: %s', (text, allowed) => {
    expect(isXmlMisc(text)).toBe(allowed);
  });
});
