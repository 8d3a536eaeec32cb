/** Parses single elements of a long XML document, with namespaces and exact positions. A malformed element does not affect the other elements. */
import { SaxesParser, type SaxesTagNS } from 'saxes';
import { MOST_DEPTH } from './elements.ts';

/** Line and column, both from 1. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

/** Error for malformed XML, with the position at which the parser stopped. */
export class XmlError extends Error {
  readonly place: Place;

  constructor(message: string, place: Place) {
    super(message);
    this.name = 'XmlError';
    this.place = place;
  }
}

export interface XmlElement {
  /**
   * Name of the element, as `prefix:local` with the caller's prefix for the namespace. The name is `{uri}local` if the caller has no prefix for the namespace,
   * and `local` if the element has no namespace.
   */
  readonly name: string;
  /** Attributes by name, without namespace declarations. The names have the same form as element names. */
  readonly attributes: ReadonlyMap<string, string>;
  readonly children: XmlElement[];
  /** Text of the element, without the text of the child elements. */
  text: string;
  /** Position of the start tag. */
  readonly place: Place;
}

const XMLNS = 'http://www.w3.org/2000/xmlns/';

/**
 * Matches an ampersand that is not the start of an entity. Also matches whole comments, CDATA sections and processing instructions, in which ampersands are
 * allowed.
 */
const BARE_AMPERSAND = /<!--[^]*?(?:-->|$)|<!\[CDATA\[[^]*?(?:\]\]>|$)|<\?[^]*?(?:\?>|$)|&(?![^\s;&<>"']{1,64};)/g;

/** Parses one element. The caller passes the text in pieces that end with `>`. */
export class XmlElementParser {
  readonly #parser: SaxesParser<{ xmlns: true; additionalNamespaces: Record<string, string> }>;
  readonly #prefixOf: ReadonlyMap<string, string>;
  readonly #open: XmlElement[] = [];
  #root: XmlElement | null = null;
  /** Offset of the element's end in UTF-16 code units; −1 before the end tag. */
  #end = -1;
  /** Start mark and last two characters of a comment, CDATA section or processing instruction that continues in the next piece. */
  #unclosed = '';

  /**
   * @param declared prefix → URI of the namespaces declared outside the element; `''` is the default namespace @param names prefix → URI, for the prefixes of
   * returned names
   */
  constructor(declared: Readonly<Record<string, string>>, names: Readonly<Record<string, string>>) {
    this.#prefixOf = new Map(Object.entries(names).map(([prefix, uri]) => [uri, prefix]));
    this.#parser = new SaxesParser({ xmlns: true, additionalNamespaces: { ...declared } });
    let place: Place = { line: 1, column: 1 };
    this.#parser.on('opentagstart', ({ name }) => {
      // The parser's position is after the name, on the same line.
      place = { line: this.#parser.line, column: Math.max(1, this.#parser.column - name.length - 1) };
    });
    this.#parser.on('opentag', (tag) => this.#enter(tag, place));
    this.#parser.on('text', (text) => this.#text(text));
    this.#parser.on('cdata', (text) => this.#text(text));
    this.#parser.on('closetag', () => {
      this.#open.pop();
      if (this.#open.length === 0 && this.#end < 0) this.#end = this.#parser.position;
    });
  }

  /**
   * Parses a piece of text. @returns the complete element and its length in UTF-16 code units; null if more text is needed @throws XmlError if the text is
   * not well-formed. After an error, the parser is unusable
   */
  write(text: string): { readonly element: XmlElement; readonly length: number } | null {
    // Checks ampersands first, because the parser would search for a semicolon up to the end of the document.
    const bare = this.#bareAmpersand(text);
    const found = this.#feed(bare < 0 ? text : text.slice(0, bare));
    if (found === null && bare >= 0) throw new XmlError('an ampersand that begins no entity', { line: this.#parser.line, column: this.#parser.column + 1 });
    return found;
  }

  #feed(text: string): { readonly element: XmlElement; readonly length: number } | null {
    try {
      this.#parser.write(text);
    } catch (error) {
      // The parser reports the end of an element before the parser compares the names of the tags. An error at this position concerns the end tag. A later
      // error concerns the text after the element.
      if (this.#end < 0 || this.#parser.position === this.#end) throw xmlError(error, this.#parser);
    }
    return this.#end < 0 || this.#root === null ? null : { element: this.#root, length: this.#end };
  }

  /** Returns the offset of the first ampersand in `text` that is not the start of an entity, or −1. */
  #bareAmpersand(text: string): number {
    const all = this.#unclosed + text;
    const before = this.#unclosed.length;
    this.#unclosed = '';
    for (const { 0: found, index } of all.matchAll(BARE_AMPERSAND)) {
      if (found === '&') return Math.max(0, index - before);
      const [opening, closing] = found.startsWith('<!--') ? ['<!--', '-->'] : found.startsWith('<!') ? ['<![CDATA[', ']]>'] : ['<?', '?>'];
      if (!found.endsWith(closing) || found.length < opening.length + closing.length) this.#unclosed = opening + found.slice(opening.length).slice(-2);
    }
    return -1;
  }

  #name(uri: string, local: string): string {
    if (uri === '') return local;
    const prefix = this.#prefixOf.get(uri);
    return prefix === undefined ? `{${uri}}${local}` : `${prefix}:${local}`;
  }

  #enter(tag: SaxesTagNS, place: Place): void {
    if (this.#open.length >= MOST_DEPTH) throw new Error(`elements nested more than ${MOST_DEPTH} levels deep`);
    const attributes = new Map<string, string>();
    for (const attribute of Object.values(tag.attributes)) {
      if (attribute.uri !== XMLNS) attributes.set(this.#name(attribute.uri, attribute.local), attribute.value);
    }
    const element: XmlElement = { name: this.#name(tag.uri, tag.local), attributes, children: [], text: '', place };
    const parent = this.#open.at(-1);
    if (parent === undefined) this.#root = element;
    else parent.children.push(element);
    this.#open.push(element);
  }

  #text(text: string): void {
    const element = this.#open.at(-1);
    if (element !== undefined) element.text += text;
  }
}

/** Data of the root element's start tag. */
export interface XmlRoot {
  /** Name of the root element with the prefix, as in the document. */
  readonly name: string;
  readonly uri: string;
  readonly local: string;
  /** URIs by prefix; `''` is the default namespace. */
  readonly namespaces: Readonly<Record<string, string>>;
  /** Attributes by name, as in the document. */
  readonly attributes: ReadonlyMap<string, string>;
  readonly isEmpty: boolean;
}

/**
 * Parses a document up to the end of the root's start tag. Parses byte by byte, so that the position of the end is exact. The encoding must be UTF-8, with or
 * without a byte order mark.
 */
export class XmlPrologueParser {
  readonly #parser = new SaxesParser({ xmlns: true });
  readonly #decoder = new TextDecoder('utf-8', { fatal: true });
  root: XmlRoot | null = null;
  /** Parsed text so far, without the byte order mark. */
  text = '';
  /** XML version such as `1.0`; null if the document has no XML declaration. */
  version: string | null = null;
  encoding: string | null = null;
  hasDoctype = false;

  constructor() {
    this.#parser.on('xmldecl', ({ version, encoding }) => {
      this.version = version ?? null;
      this.encoding = encoding ?? null;
    });
    this.#parser.on('doctype', () => {
      this.hasDoctype = true;
    });
    this.#parser.on('opentag', (tag) => {
      const namespaces: Record<string, string> = {};
      for (const [prefix, uri] of Object.entries(tag.ns)) if (prefix !== 'xml' && prefix !== 'xmlns') namespaces[prefix] = uri;
      const attributes = new Map(Object.values(tag.attributes).map(({ name, value }) => [name, value]));
      this.root = { name: tag.name, uri: tag.uri, local: tag.local, namespaces, attributes, isEmpty: tag.isSelfClosing };
    });
  }

  /** Parses bytes up to the end of the root's start tag. @returns the number of parsed bytes @throws XmlError */
  write(bytes: Uint8Array): number {
    let used = 0;
    while (used < bytes.length && this.root === null) {
      let text;
      try {
        text = this.#decoder.decode(bytes.subarray(used, used + 1), { stream: true });
      } catch {
        throw new XmlError('bytes that are not UTF-8', placeOf(this.#parser));
      }
      used += 1;
      this.text += text;
      try {
        this.#parser.write(text);
      } catch (error) {
        throw xmlError(error, this.#parser);
      }
    }
    return used;
  }
}

/** Returns whether a text contains only comments, processing instructions and white space, which XML allows before and after the root element. */
export function isXmlMisc(text: string): boolean {
  try {
    new SaxesParser({ xmlns: true }).write(`<root/>${text}`).close();
    return true;
  } catch {
    return false;
  }
}

function placeOf(parser: { readonly line: number; readonly column: number }): Place {
  return { line: parser.line, column: Math.max(1, parser.column) };
}

function xmlError(error: unknown, parser: { readonly line: number; readonly column: number }): XmlError {
  const message = error instanceof Error ? error.message : String(error);
  return new XmlError(message.replace(/^\d+:\d+: /, '').replace(/\.$/, ''), placeOf(parser));
}
