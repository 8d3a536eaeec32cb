/** Compares the properties of the features of one document with the known properties. */
import type { AddedColumnSink } from '../../pipelines/formats/csv.ts';
import { PropertyColumns } from '../../pipelines/readers/property-columns.ts';
import { manifest } from './manifest.ts';

export interface FeatureColumns {
  readonly parcels: PropertyColumns<string>;
  readonly sheets: PropertyColumns<string>;
  /** Names of added properties, as written in tags: `CP:NEW`. */
  readonly added: ReadonlySet<string>;
}

const GEOMETRY = 'msGeometry';
const OF_PARCELS = ['INSPIREID_LOCALID', 'LABEL', 'NATIONALCADASTRALREFERENCE', 'ADMINISTRATIVEUNIT', GEOMETRY];
const OF_SHEETS = ['INSPIREID_LOCALID', 'LABEL', 'NATIONALCADASTRALZONINGREFERENCE', 'ADMINISTRATIVEUNIT', GEOMETRY];
/** Properties that some sheets lack, because MapServer leaves out empty properties. */
const OF_SOME_SHEETS = ['BEGINLIFESPANVERSION', 'ENDLIFESPANVERSION', 'LEVEL', 'ORIGINALMAPSCALEDENOMINATOR'];

/**
 * Returns objects that find the known properties of parcels and of sheets, and report added properties.
 * @param sink receives the added columns
 * @param at name of the document in errors
 */
export function featureColumns(sink: AddedColumnSink, at: string): FeatureColumns {
  const added = new Set<string>();
  const noting: AddedColumnSink = {
    added(column, sample) {
      if (/^[A-Za-z_][\w.-]*$/.test(column)) added.add(`CP:${column}`);
      sink.added(column, sample);
    },
  };
  const named = (names: readonly string[]): Record<string, string> => Object.fromEntries(names.map((name) => [name, name]));
  const reasons = manifest.ignored;
  return {
    added,
    parcels: new PropertyColumns({ mapped: named(OF_PARCELS), ignored: { INSPIREID_NAMESPACE: reasons['INSPIREID_NAMESPACE'] ?? '' }, at }, noting),
    sheets: new PropertyColumns({
      mapped: named([...OF_SHEETS, ...OF_SOME_SHEETS]), optional: OF_SOME_SHEETS, ignored: { INSPIREID_NAMESPACE: '', LEVELNAME: '', LEVELNAME_LOCALE: '' }, at,
      mayLack: manifest.optional,
    }, noting),
  };
}
