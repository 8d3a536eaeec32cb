/** Reads the elements of a long XML document one after another. Each element is a tree with its text. Only one element is in memory at a time. */
import { SaxesParser } from 'saxes';
import { MappaleError } from '../errors.ts';
import { MOST_DEPTH } from './xml.ts';

/** An element. Names have no prefix. */
export interface Element {
  readonly name: string;
  /** Attributes by name, with the prefix. */
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly Element[];
  /** Text of the element, without the text of its children. */
  readonly text: string;
  /** Start and end in the document, in UTF-16 units. */
  readonly start: number;
  readonly end: number;
}

export interface FoundElement {
  readonly element: Element;
  /** First fault inside the element; null if the element is well-formed. */
  readonly fault: string | null;
  /** Returns the unchanged text of an element of the tree. */
  readonly raw: (element: Element) => string;
  /** Line and column of the end: `12:40`. */
  readonly place: string;
}

interface ElementHandler {
  /** Name of a wanted element in messages: `a placemark`. */
  readonly what: string;
  /** Maximum length of text between two tags, and of a wanted element, in UTF-16 units. */
  readonly most: { readonly text: number; readonly element: number };
  /** True if a fault in a wanted element makes the document unusable; false if the fault affects only that element. */
  readonly strict: boolean;
  /** Returns whether the caller wants the tree of this element. Called for each element outside the wanted elements. */
  wants(name: string, around: string | undefined): boolean;
  found(found: FoundElement): void;
  /** Called for a fault outside the wanted elements, an exceeded limit, or an early end. The rest of the document is unusable. */
  broken(message: string): void;
}

/** Size in UTF-16 units of the pieces that the parser gets. The buffered text is measured after each piece. */
const PIECE = 65_536;
/**
 * A subclass of the parser. Parsing with an instance of the class takes three times as long (measured: saxes 6 on Node 20, with all these handlers).
 */
class Parser extends SaxesParser {}

/** Maximum length of the text that is kept from an element that is too long. */
const EXCERPT_CHARS = 65_536;

interface Open extends Element {
  readonly children: Open[];
  text: string;
  end: number;
}

/**
 * Reads text in pieces. `write` and `end` throw the errors of the handler. Nesting and the text between two events are limited, so that a document cannot
 * fill the memory.
 */
export class ElementReader {
  readonly #parser = new Parser();
  /** Number of UTF-16 units since the last event, which is the length of the parser's buffered text. */
  #held = 0;
  readonly #handler: ElementHandler;
  /** Names of the open elements outside wanted elements, and the open elements of the current wanted element. The outermost element comes first. */
  readonly #around: string[] = [];
  readonly #open: Open[] = [];
  /** Text since the start of the wanted element or of an incomplete tag, and the position of its first character. */
  #kept = '';
  #keptFrom = 0;
  #fault: string | null = null;
  /** Start of a wanted element that is skipped because of its length; null if no element is skipped. */
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
      // The position of the parser is after the character that ends the name.
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

  /** Returns the current position: `12:40`. */
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

  /** Runs work of the parser. The parser cannot continue after an exceeded limit. Errors of the handler are thrown unchanged. */
  #attempt(work: () => void): void {
    try {
      work();
    } catch (error) {
      if (error instanceof MappaleError) throw error;
      this.#handler.broken(error instanceof Error ? error.message : String(error));
    }
  }

  #enter(element: Open): void {
    if (this.#around.length + this.#open.length >= MOST_DEPTH) throw new Error(`elements more than ${MOST_DEPTH} deep`);
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

/** Returns the name without its prefix. */
function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}
