/** Elements of a long XML document, one after another, each as a tree with the text that it was read from: only one is in memory at a time. */
import { SaxesParser } from 'saxes';
import { MappaleError } from '../errors.ts';
import { MOST_DEPTH } from './xml.ts';

/** An element; names are local, as written behind the prefix. */
export interface Element {
  readonly name: string;
  /** By name as written. */
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly Element[];
  /** Its own text in one piece. */
  readonly text: string;
  /** Where it begins in the document, and where it ends, in UTF-16 units. */
  readonly start: number;
  readonly end: number;
}

export interface FoundElement {
  readonly element: Element;
  /** First fault inside of it; null when it is well-formed. */
  readonly fault: string | null;
  /** Returns the unchanged text of an element of the tree. */
  readonly raw: (element: Element) => string;
  /** Line and column of its end, `12:40`. */
  readonly place: string;
}

interface ElementHandler {
  /** Name of a wanted element in messages: `a placemark`. */
  readonly what: string;
  /** UTF-16 units that may stand between two tags, and in a wanted element. */
  readonly most: { readonly text: number; readonly element: number };
  /** True where a fault in one wanted element breaks the document, false where it is that element's own. */
  readonly strict: boolean;
  /** Is the tree of this element wanted? Asked of each that is not inside of a wanted one. */
  wants(name: string, around: string | undefined): boolean;
  found(found: FoundElement): void;
  /** A fault outside of wanted elements, a bound, a document that ends early: the rest cannot be trusted. */
  broken(message: string): void;
}

/** The parser is fed in pieces of this many UTF-16 units, and asked after each what it holds. */
const PIECE = 65_536;
/** To parse with an instance of the class itself takes three times as long (measured: saxes 6 on Node 20, with all these handlers). */
class Parser extends SaxesParser {}

/** How much is kept of the text of an element that is too long. */
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
  /** UTF-16 units since the last event, which is all that the parser holds. */
  #held = 0;
  readonly #handler: ElementHandler;
  /** Names of the open elements around wanted ones, and the open elements of a wanted one, itself first. */
  readonly #around: string[] = [];
  readonly #open: Open[] = [];
  /** Text since the wanted element began, or a tag that is cut; and its first character's place in the document. */
  #kept = '';
  #keptFrom = 0;
  #fault: string | null = null;
  /** Start of a wanted element that is too long and is skipped; null if the element is not too long. */
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
      // The parser stands behind the character that ends the name.
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

  /** Where it stands, `12:40`. */
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

  /** Beyond a bound the parser cannot go on; what the handler throws is its own. */
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
