/** Reads a grid in GML: one feature per node, with longitude, latitude and acceleration as properties, as INSPIRE services write them. */
import { normaliseHeader } from '../../pipelines/formats/csv.ts';
import { readFeatures } from '../../pipelines/formats/gml-features.ts';
import type { MemberSink } from '../../pipelines/contract/source.ts';
import { manifest } from './manifest.ts';
import { PropertyColumns } from '../../pipelines/readers/property-columns.ts';
import { COLUMNS, EDITIONS, isNodeTable, node, refusal } from './schema.ts';

/** Returns whether the features of a GML document have the properties of nodes, in any namespace. */
export function isGmlGrid(head: Buffer): boolean {
  const text = head.toString('utf8');
  const names = new Set([...text.matchAll(/<(?:[\w.-]+:)?([\w.-]+)>[^<]*<\//g)].map(([, name = '']) => normaliseHeader(name)));
  return /<(?:[\w.-]+:)?FeatureCollection[\s>]/.test(text) && isNodeTable([...names]);
}

/** Returns the longitudes and latitudes in the first bytes of a GML document. */
export function gmlDegrees(head: Buffer): number[] {
  const values = [...head.toString('utf8').matchAll(/<(?:[\w.-]+:)?([\w.-]+)>\s*(-?\d+(?:\.\d+)?)\s*<\//g)];
  const names: readonly string[] = [...COLUMNS.lon, ...COLUMNS.lat];
  return values.filter(([, name = '']) => names.includes(normaliseHeader(name))).map(([, , value]) => Number(value));
}

/** Reads the document as a stream. The position is the number of the feature. @throws input errors `XML_BROKEN`, `COLUMNS_CHANGED` */
export async function readGml(stream: AsyncIterable<Buffer>, at: string, member: MemberSink): Promise<void> {
  // A feature may lack a property that has no value. Such a feature is a node without acceleration, and does not mean a different layout.
  const columns = new PropertyColumns({ mapped: COLUMNS, ignored: manifest.ignored, editions: EDITIONS, at }, member);
  const records = await readFeatures(stream, at, (feature) => {
    const names = [...feature.properties.keys()];
    const doubled = columns.take(feature.names, (index) => feature.properties.get(feature.names[index] ?? ''));
    if (doubled !== null) return member.reject({ position: feature.number, code: 'property_repeated', message: `expected one ${doubled}, found two`, raw: feature.raw });
    const value = (aliases: readonly string[]): string => feature.properties.get(names.find((name) => aliases.includes(normaliseHeader(name))) ?? '') ?? '';
    const fields = { lon: value(COLUMNS.lon), lat: value(COLUMNS.lat), ag: value(COLUMNS.ag) };
    const parsed = node.safeParse(fields);
    if (parsed.success) return member.row('raw_pga_node', feature.number, [parsed.data.lon, parsed.data.lat, parsed.data.ag]);
    const { code, message } = refusal(fields, parsed.error);
    member.reject({ position: feature.number, code, message, raw: feature.raw });
  }, () => member.drain());
  columns.end();
  await member.close(records);
}
