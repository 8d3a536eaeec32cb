/**
 * Returns the database objects of the layers: tables, columns and indexes. The objects follow from `layers` of each source, so no separate list must be updated
 * when a source changes.
 */
import { layerColumns, layerIndexes } from '../contract/source-tables.ts';
import type { Layers } from '../contract/source.ts';
import { catalogType } from './function-text.ts';
import type { Found } from './objects.ts';

type Object = Pick<Found, 'kind' | 'name' | 'definition'>;

/** Partition key of every layer, as PostgreSQL's catalogue shows the key. */
const OF_RELEASES = 'LIST (release_id)';

const GEOMETRY = 'geometry(';

/** Maps the kinds of geometry in `layers` to the kinds in PostgreSQL's catalogue. */
const GEOMETRIES: Readonly<Record<string, string>> = {
  point: 'Point', multipoint: 'MultiPoint', linestring: 'LineString', multilinestring: 'MultiLineString', polygon: 'Polygon', multipolygon: 'MultiPolygon',
};

/** Returns the expected database objects of the layers of one source. */
export function layerObjects(layers: Layers): Object[] {
  return Object.entries(layers).flatMap(([name, layer]) => {
    const table = `layer.${name}`;
    return [
      { kind: 'table', name: table, definition: OF_RELEASES } as const,
      ...Object.entries(layerColumns(layer)).map(([column, [type]]): Object => ({ kind: 'column', name: `${table}.${column}`, definition: columnDefinition(type) })),
      ...layerIndexes(layer).map(({ method, columns }): Object => ({ kind: 'index', name: `${table} USING ${method} (${columns.join(', ')})`, definition: '' })),
    ];
  });
}

/** Returns a column's type, `not null` and default as `sql/statements/objects.sql` lists them. */
function columnDefinition(text: string): string {
  const [typed = '', value] = text.split(' default ');
  const [type = '', required] = typed.split(' not null');
  const shown = type.startsWith(GEOMETRY) ? geometryType(type.slice(GEOMETRY.length, -1)) : catalogType(type);
  return `${shown}${required === undefined ? '' : ' not null'}${value === undefined ? '' : ` default ${value}::${shown}`}`;
}

/** Returns the catalogue's type of a geometry. @param parameters kind and SRID, such as `point, 4326` */
function geometryType(parameters: string): string {
  const [kind = '', srid = ''] = parameters.split(', ');
  return `${GEOMETRY}${GEOMETRIES[kind] ?? kind},${srid})`;
}
