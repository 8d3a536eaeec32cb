/** Features of a GML document by their simple properties, streamed: for tables that a web service prints as GML. Geometries are passed over. */
import type { Readable } from 'node:stream';
import { TextDecoder } from 'node:util';
import { MappaleError, inputError } from '../errors.ts';
import { BoundedSaxes } from './xml.ts';

/** Elements around features: WFS 2.0 and 1.x, GML 3.1 with all features in one. */
const AROUND = ['member', 'featureMember', 'featureMembers'];
const MAX_FEATURE_CHARS = 1_000_000;

export interface GmlFeature {
  /** From 1. */
  readonly number: number;
  /** Properties without elements in them, by local name as written, white space around values taken off. */
  readonly properties: ReadonlyMap<string, string>;
  /** The feature's element as it was read. */
  readonly raw: string;
  /** `file:line:column` of its end. */
  readonly at: string;
}

/**
 * @param at how the document is named in messages
 * @param each is told of every feature, and may throw an input error
 * @param after is told how many bytes were read, and may ask to wait
 * @returns how many features there were
 * @throws input error `XML_BROKEN` with line and column
 */
export async function readFeatures(stream: Readable, at: string, each: (feature: GmlFeature) => void, after: (bytes: number) => Promise<void> | undefined): Promise<number> {
  const reader = new FeatureReader(at, each);
  const decoder = new TextDecoder('utf-8', { fatal: true });
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    reader.guard(() => reader.write(decoder.decode(chunk, { stream: true })));
    const wait = after(chunk.length);
    if (wait !== undefined) await wait;
  }
  reader.guard(() => reader.write(decoder.decode()).close());
  return reader.number;
}

const local = (name: string): string => name.slice(name.indexOf(':') + 1);

class FeatureReader {
  readonly #parser = new BoundedSaxes(MAX_FEATURE_CHARS);
  readonly #at: string;
  readonly #each: (feature: GmlFeature) => void;
  readonly #path: string[] = [];
  /** Of the feature that is open; null between features. */
  #properties: Map<string, string> | null = null;
  /** Depth of the open feature, and of the element below which all is passed over (0: none). */
  #depth = 0;
  #nested = 0;
  #text = '';
  /** What was read since the open feature began, and where it began in the document, in UTF-16 units. */
  #kept = '';
  #keptFrom = 0;
  number = 0;

  constructor(at: string, each: (feature: GmlFeature) => void) {
    this.#at = at;
    this.#each = each;
    this.#parser.on('opentag', ({ name }) => this.#open(name));
    const take = (text: string): void => {
      if (this.#properties !== null) this.#text += text;
    };
    this.#parser.on('text', take);
    this.#parser.on('cdata', take);
    this.#parser.on('closetag', ({ name }) => this.#close(name));
  }

  get #place(): string {
    return `${this.#at}:${this.#parser.line}:${this.#parser.column}`;
  }

  /** What the receiver of the features refuses keeps its own words; anything else is the parser's. */
  guard(work: () => void): void {
    try {
      work();
    } catch (error) {
      if (error instanceof MappaleError) throw error;
      throw inputError('the GML is broken', {
        code: 'XML_BROKEN', at: this.#place, detail: `expected well-formed XML in UTF-8, found: ${error instanceof Error ? error.message : String(error)}`, hint: 'Download the file again.', cause: error,
      });
    }
  }

  write(text: string): this {
    this.#kept += text;
    this.#parser.write(text);
    if (this.#properties === null) {
      // A tag may lie across two pieces.
      const from = Math.max(0, this.#kept.lastIndexOf('<'));
      this.#keptFrom += from;
      this.#kept = this.#kept.slice(from);
    }
    if (this.#kept.length > MAX_FEATURE_CHARS) throw new Error(`an element of more than ${MAX_FEATURE_CHARS} characters`);
    return this;
  }

  close(): void {
    this.#parser.close();
  }

  #open(name: string): void {
    this.#path.push(local(name));
    this.#text = '';
    if (this.#properties === null) {
      if (!AROUND.includes(this.#path.at(-2) ?? '')) return;
      this.#properties = new Map();
      this.#depth = this.#path.length;
      this.#nested = 0;
      this.number += 1;
      const from = this.#kept.lastIndexOf('<', this.#parser.position - this.#keptFrom - 1);
      this.#kept = this.#kept.slice(from);
      this.#keptFrom += from;
    } else if (this.#path.length > this.#depth + 1 && this.#nested === 0) {
      // A property with elements in it, as a geometry or an envelope.
      this.#nested = this.#path.length - 1;
    }
  }

  #close(name: string): void {
    const depth = this.#path.length;
    this.#path.pop();
    if (this.#properties === null) return;
    if (depth === this.#depth) {
      const properties = this.#properties;
      this.#properties = null;
      this.#each({ number: this.number, properties, raw: this.#kept.slice(0, this.#parser.position - this.#keptFrom), at: this.#place });
      return;
    }
    if (this.#nested === 0 && depth === this.#depth + 1) this.#properties.set(local(name), this.#text.trim());
    if (depth === this.#nested) this.#nested = 0;
  }
}
