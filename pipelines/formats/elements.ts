/**
 * Reads wanted elements of a long XML document one after another. Passes each wanted element to a handler as a tree, together with the element's unchanged
 * text. Only one wanted element is in memory at a time.
 */
import { createRequire } from 'node:module';
import type { SaxesParser } from 'saxes';
import { MappaleError } from '../errors.ts';

/** Maximum nesting of elements. The publishers' documents have about ten levels. */
export const MOST_DEPTH = 100;

/** An XML element. Element names have no namespace prefix. */
export interface Element {
  readonly name: string;
  /** Attributes by name, including the namespace prefix. */
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly Element[];
  /** Text of the element, without the text of its children. */
  readonly text: string;
  /** Start of the element in the document, in UTF-16 code units. */
  readonly start: number;
  readonly end: number;
}

export interface FoundElement {
  readonly element: Element;
  /** Message about the first fault inside the element, such as malformed XML or an excessive length; null if there is no fault. */
  readonly fault: string | null;
  /** Returns the unchanged XML text of an element in the tree. If the wanted element is too long, returns the start of the wanted element. */
  readonly raw: (element: Element) => string;
  /** Line and column of the element's end, such as `12:40`. */
  readonly place: string;
}

interface ElementHandler {
  /** Name of a wanted element in messages, such as `a placemark`. */
  readonly what: string;
  /** Maximum lengths of the text between two tags and of a wanted element, in UTF-16 code units. */
  readonly most: { readonly text: number; readonly element: number };
  /** True if a fault in a wanted element makes the document unusable; false if the fault affects only that element. */
  readonly strict: boolean;
  /**
   * Returns whether the caller wants the tree of an element. Called for each element that is not inside a wanted element.
   * @param around name of the parent element
   */
  wants(name: string, around: string | undefined): boolean;
  found(found: FoundElement): void;
  /**
   * Called for a fault outside wanted elements, a text or nesting that exceeds a limit, or an early end of the document. If `strict` is true, also called for a
   * fault in a wanted element. The rest of the document is then unusable.
   */
  broken(message: string): void;
}

/** Size in UTF-16 code units of the pieces that are passed to the parser. The parser's buffered text is measured after each piece. */
const PIECE = 65_536;

let Parser: typeof SaxesParser | undefined;

/**
 * Creates a parser of an empty subclass, for speed. Parsing with an instance of SaxesParser itself takes three times as long (measured: saxes 6 on Node 20,
 * with all these handlers). Loads saxes at the first call, because most commands read no XML.
 */
function newParser(): SaxesParser {
  Parser ??= class extends (createRequire(import.meta.url)('saxes') as typeof import('saxes')).SaxesParser {};
  return new Parser();
}

/** Number of UTF-16 code units to keep from the start of an element that is too long. */
const EXCERPT_CHARS = 65_536;

interface Open extends Element {
  readonly children: Open[];
  text: string;
  end: number;
}

/**
 * Parses a document that is written in pieces. `write` and `end` throw each `MappaleError` of the handler. The depth of nesting and the length of text between
 * two tags are limited, so that a document cannot fill the memory.
 */
export class ElementReader {
  readonly #parser = newParser();
  /** Length of the text in the parser's buffer: the number of UTF-16 code units since the last event. */
  #held = 0;
  readonly #handler: ElementHandler;
  /** Names of the open elements that are not inside a wanted element, outermost first. */
  readonly #around: string[] = [];
  readonly #open: Open[] = [];
  /** Document text since the start of the current wanted element, or since the start of an incomplete tag. */
  #kept = '';
  #keptFrom = 0;
  #fault: string | null = null;
  /** First characters of a wanted element that is skipped because the element is too long; null if no element is skipped. */
  #excerpt: string | null = null;

  constructor(handler: ElementHandler) {
    this.#handler = handler;
    const parser = this.#parser;
    const seen = (): void => {
      this.#held = 0;
    };
    for (const event of ['xmldecl', 'processinginstruction', 'doctype', 'comment'] as const) parser.on(event, seen);
    let start = 0;
    parser.on('opentagstart', ({ name }) => {
      // At this event, the parser's position is after the character that ends the name.
      start = parser.position - name.length - 2;
    });
    parser.on('opentag', ({ name, attributes }) => {
      seen();
      this.#enter({ name: localName(name), attributes, children: [], text: '', start, end: start });
    });
    const take = (text: string): void => {
      seen();
      const open = this.#open.at(-1);
      if (open !== undefined && this.#excerpt === null) open.text += text;
    };
    parser.on('text', take);
    parser.on('cdata', take);
    parser.on('closetag', () => {
      seen();
      this.#leave();
    });
    parser.on('error', ({ message }) => this.#fail(message));
  }

  /** Returns the current line and column, such as `12:40`. */
  get place(): string {
    return `${this.#parser.line}:${this.#parser.column}`;
  }

  write(text: string): void {
    if (this.#excerpt === null) this.#kept += text;
    else {
      this.#keptFrom += this.#kept.length;
      this.#kept = text;
    }
    this.#attempt(() => this.#feed(text));
    const [wanted] = this.#open;
    const from = wanted === undefined ? this.#kept.lastIndexOf('<') : this.#excerpt === null ? wanted.start - this.#keptFrom : 0;
    if (from > 0) {
      this.#keptFrom += from;
      this.#kept = this.#kept.slice(from);
    }
    if (wanted === undefined || this.#excerpt !== null || this.#kept.length <= this.#handler.most.element) return;
    this.#excerpt = this.#kept.slice(0, EXCERPT_CHARS);
    const kept = this.#handler.strict ? '' : ` (its first ${EXCERPT_CHARS} are kept)`;
    this.#fail(`${this.#handler.what} of more than ${this.#handler.most.element} characters${kept}`);
  }

  end(): void {
    const open = this.#open.at(-1)?.name ?? this.#around.at(-1);
    if (open === undefined || this.#handler.strict) this.#attempt(() => this.#parser.close());
    else this.#handler.broken(`the document ends inside <${open}>`);
  }

  #feed(text: string): void {
    const { most } = this.#handler;
    for (let at = 0; at < text.length; at += PIECE) {
      const piece = text.slice(at, at + PIECE);
      this.#parser.write(piece);
      this.#held += piece.length;
      if (this.#held > most.text + PIECE) throw new Error(`a text, comment or tag of more than ${most.text} characters`);
    }
  }

  #fail(message: string): void {
    if (this.#handler.strict || this.#open.length === 0) this.#handler.broken(message);
    else this.#fault ??= message;
  }

  /**
   * Runs the parser. Throws a `MappaleError` unchanged. Reports any other error, such as an exceeded limit, to the handler, because the parser cannot
   * continue.
   */
  #attempt(work: () => void): void {
    try {
      work();
    } catch (error) {
      if (error instanceof MappaleError) throw error;
      this.#handler.broken(error instanceof Error ? error.message : String(error));
    }
  }

  #enter(element: Open): void {
    if (this.#around.length + this.#open.length >= MOST_DEPTH) throw new Error(`elements nested more than ${MOST_DEPTH} levels deep`);
    const parent = this.#open.at(-1);
    if (parent === undefined && !this.#handler.wants(element.name, this.#around.at(-1))) {
      this.#around.push(element.name);
      return;
    }
    if (parent === undefined) this.#fault = null;
    else if (this.#excerpt === null) parent.children.push(element);
    this.#open.push(element);
  }

  #leave(): void {
    const element = this.#open.pop();
    if (element === undefined) {
      this.#around.pop();
      return;
    }
    element.end = this.#parser.position;
    if (this.#open.length > 0) return;
    const excerpt = this.#excerpt;
    this.#excerpt = null;
    const raw = ({ start, end }: Element): string => excerpt ?? this.#kept.slice(Math.max(0, start - this.#keptFrom), end - this.#keptFrom);
    this.#handler.found({ element, fault: this.#fault, raw, place: this.place });
  }
}

/** Returns a name without its namespace prefix. */
function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}
