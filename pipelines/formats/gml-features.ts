/** Streams the simple properties of GML features, for tables that a web service returns as GML. The reader skips geometries. */
import { inputError, type MappaleError } from '../errors.ts';
import { ElementReader } from './elements.ts';
import { utf8Text } from './streams.ts';

/** Names of the elements that contain features: `member` in WFS 2.0, `featureMember` in WFS 1.x, `featureMembers` in GML 3.1. */
const AROUND = ['member', 'featureMember', 'featureMembers'];
const MAX_FEATURE_CHARS = 1_000_000;

interface GmlFeature {
  /** Number of the feature in the document, from 1. */
  readonly number: number;
  /** Names of the properties without child elements, in document order, including repeated names. */
  readonly names: readonly string[];
  /** Trimmed values of the properties without child elements, by local name. */
  readonly properties: ReadonlyMap<string, string>;
  /** Unchanged text of the feature's element. */
  readonly raw: string;
  /** Position of the feature's end, as `file:line:column`. */
  readonly at: string;
}

/**
 * Reads the features of a document. @param at name of the document in messages @param each called for every feature; may throw an input error @param after
 * called after each chunk of the stream; the reader awaits a returned promise
 * @returns the number of features
 * @throws input error `XML_BROKEN` with line and column
 */
export async function readFeatures(
  stream: AsyncIterable<Buffer>, at: string, each: (feature: GmlFeature) => void, after: () => Promise<void> | undefined,
): Promise<number> {
  let number = 0;
  const broken = (message: string, cause?: unknown): MappaleError => inputError('the GML is broken', {
    code: 'XML_BROKEN', at: `${at}:${reader.place}`, detail: `expected well-formed XML in UTF-8, found: ${message}`, hint: 'Download the file again.', cause,
  });
  const reader = new ElementReader({
    what: 'an element',
    most: { text: MAX_FEATURE_CHARS, element: MAX_FEATURE_CHARS },
    strict: true,
    wants: (_name, around = '') => AROUND.includes(around),
    found({ element, raw, place }) {
      number += 1;
      const simple = element.children.filter(({ children }) => children.length === 0);
      each({ number, names: simple.map(({ name }) => name), properties: new Map(simple.map(({ name, text }) => [name, text.trim()])), raw: raw(element), at: `${at}:${place}` });
    },
    broken(message) {
      throw broken(message);
    },
  });
  for await (const text of utf8Text(stream, (cause) => broken(cause instanceof Error ? cause.message : String(cause), cause))) {
    reader.write(text);
    await after();
  }
  reader.end();
  return number;
}
