/** Reads the grid as GML: one feature per node, with longitude, latitude and acceleration among its simple properties, as a service of the INSPIRE kind prints them. */
import type { Readable } from 'node:stream';
import { TextDecoder } from 'node:util';
import { SaxesParser } from 'saxes';
import { MappaleError } from '../../pipelines/errors.ts';
import { expectColumns, normaliseHeader } from '../../pipelines/kit/csv.ts';
import { refusalOf } from '../../pipelines/kit/refusal.ts';
import { inputError, type MemberSink } from '../../pipelines/kit/source.ts';
import { manifest } from './manifest.ts';
import { COLUMNS, node } from './schema.ts';

/** Elements around features: WFS 2.0 and 1.x, GML 3.1 with all features in one. */
const AROUND = ['member', 'featureMember', 'featureMembers'];
/** A feature of the grid has some 400 characters. */
const MAX_FEATURE_CHARS = 1_000_000;

const local = (name: string): string => name.slice(name.indexOf(':') + 1);

/** Does a GML have these names for properties of its features, whatever their namespace? */
export function isGmlGrid(head: Buffer): boolean {
  const text = head.toString('utf8');
  const names = new Set([...text.matchAll(/<(?:[\w.-]+:)?([\w.-]+)>[^<]*<\//g)].map((match) => normaliseHeader(match[1]!)));
  return /<(?:[\w.-]+:)?FeatureCollection[\s>]/.test(text) && Object.values(COLUMNS).every((aliases) => aliases.some((alias) => names.has(alias)));
}

/**
 * Streams the document. Positions are numbers of features, from 1. Geometries are passed over: the properties say where a node is.
 * @throws input errors `XML_BROKEN`, with line and column, and `COLUMNS_CHANGED` for a property that is not known
 */
export async function readGml(stream: Readable, at: string, member: MemberSink, progress: (bytes: number) => void): Promise<void> {
  const features = new Features(member, at);
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const broken = (error: unknown): never => {
    throw inputError('the GML is broken', {
      code: 'XML_BROKEN', at: features.at, detail: `expected well-formed XML in UTF-8, found: ${error instanceof Error ? error.message : String(error)}`, hint: 'Download the file again.', cause: error,
    });
  };
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    let text: string;
    try {
      text = decoder.decode(chunk, { stream: true });
    } catch (error) {
      return broken(error);
    }
    features.write(text, broken);
    progress(chunk.length);
    const full = member.drain();
    if (full !== undefined) await full;
  }
  features.close(broken);
  await member.close(features.number);
}

class Features {
  readonly #parser = new SaxesParser();
  readonly #member: MemberSink;
  readonly #at: string;
  readonly #path: string[] = [];
  /** Sets of properties that were found to be known. */
  readonly #known = new Set<string>();
  /** Properties of the feature that is open, as written; null between features. */
  #properties: Map<string, string> | null = null;
  /** Depth of the open feature, and of the element below which all is passed over. */
  #depth = 0;
  #nested = 0;
  #text = '';
  /** What was read since the open feature began, and where it began in the document, in UTF-16 units. */
  #kept = '';
  #keptFrom = 0;
  number = 0;

  constructor(member: MemberSink, at: string) {
    this.#member = member;
    this.#at = at;
    this.#parser.on('opentag', ({ name }) => this.#open(name));
    this.#parser.on('text', (text) => (this.#text += text));
    this.#parser.on('cdata', (text) => (this.#text += text));
    this.#parser.on('closetag', ({ name }) => this.#close(name));
  }

  get at(): string {
    return `${this.#at}:${this.#parser.line}:${this.#parser.column}`;
  }

  write(text: string, broken: (error: unknown) => never): void {
    this.#kept += text;
    this.#feed(() => this.#parser.write(text), broken);
    if (this.#properties === null) {
      // A tag may lie across two pieces.
      const from = Math.max(0, this.#kept.lastIndexOf('<'));
      this.#keptFrom += from;
      this.#kept = this.#kept.slice(from);
    }
    if (this.#kept.length > MAX_FEATURE_CHARS) broken(new Error(`an element of more than ${MAX_FEATURE_CHARS} characters`));
  }

  close(broken: (error: unknown) => never): void {
    this.#feed(() => this.#parser.close(), broken);
  }

  /** What the handlers refuse keeps its own words. */
  #feed(work: () => unknown, broken: (error: unknown) => never): void {
    try {
      work();
    } catch (error) {
      if (error instanceof MappaleError) throw error;
      broken(error);
    }
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
      // A property with elements in it, as a geometry or an envelope: nothing of it is wanted.
      this.#nested = this.#path.length - 1;
    }
  }

  #close(name: string): void {
    const depth = this.#path.length;
    this.#path.pop();
    if (this.#properties === null) return;
    if (depth === this.#depth) return this.#feature(this.#properties);
    if (this.#nested === 0 && depth === this.#depth + 1) this.#properties.set(local(name), this.#text.trim());
    if (depth === this.#nested) this.#nested = 0;
  }

  #feature(properties: ReadonlyMap<string, string>): void {
    this.#properties = null;
    const raw = this.#kept.slice(0, this.#parser.position - this.#keptFrom);
    const names = [...properties.keys()];
    // A feature may leave out what has no value: that is a node without acceleration, not another layout.
    if (!this.#known.has(names.join('\n'))) expectColumns(names, { mapped: COLUMNS, optional: ['lon', 'lat', 'ag'], ignored: manifest.ignored, at: this.at });
    this.#known.add(names.join('\n'));
    const value = (aliases: readonly string[]): string => properties.get(names.find((found) => aliases.includes(normaliseHeader(found))) ?? '') ?? '';
    const fields = { lon: value(COLUMNS.lon), lat: value(COLUMNS.lat), ag: value(COLUMNS.ag) };
    const parsed = node.safeParse(fields);
    if (parsed.success) return this.#member.row('raw_pga_node', this.number, [parsed.data.lon, parsed.data.lat, parsed.data.ag]);
    const { code, message } = refusalOf(fields, parsed.error);
    this.#member.reject({ position: this.number, code, message, raw });
  }
}
