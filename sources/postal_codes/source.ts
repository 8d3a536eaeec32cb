import { normaliseHeader } from '../../pipelines/formats/csv.ts';
import { firstLine, jsonKeys } from '../../pipelines/readers/head.ts';
import { dayOrYearOf, newestEntry, stemOf } from '../../pipelines/readers/packaging.ts';
import { defineSource, type Probe, type Recognition } from '../../pipelines/contract/source.ts';
import { editionOf, lookAtVectors, sidecarsOf, type VectorLook } from '../../pipelines/readers/vector-members.ts';
import { layers } from './layers.ts';
import { manifest } from './manifest.ts';
import { columnsOf, delimiterOf, read } from './read.ts';
import { ALIASES, FOREIGN, tables } from './schema.ts';

/** Maximum number of columns. A table of comuni and CAP has few columns, and tables with many columns contain other data. */
const MAX_COLUMNS = 20;

/** Patterns of file names that contain `cap`, as `download.ts` suggests. */
const NAMES = [/(?:^|[-_ ])cap(?:[-_ ][^/]*)?\.(?:csv|txt|tsv|json|geojson|shp|gpkg)$/i];

/** Type of a file name: `cap` if the name matches NAMES. */
type Name = 'cap' | 'other';

/**
 * Returns whether a table has a CAP and a code of the comune. If the file's name contains CAP, one of these columns is enough, and the reader reports
 * the missing column.
 */
function hasColumns({ cap, belfiore, istat_code }: ReturnType<typeof columnsOf>, name: Name): boolean {
  const hasCode = belfiore !== undefined || istat_code !== undefined;
  return name === 'cap' ? cap !== undefined || hasCode : cap !== undefined && hasCode;
}

/**
 * Returns whether the first line is the header of a table of comuni and CAP. The header has at most MAX_COLUMNS columns, contains the columns that `hasColumns`
 * requires, and contains no columns of other tables.
 */
function isTable(head: Buffer, name: Name): boolean {
  const line = firstLine(head.toString('latin1').replace(/^\u00ef\u00bb\u00bf/, ''));
  const names = line.split(delimiterOf(line)).map((cell) => normaliseHeader(cell.replace(/^"|"$/g, '')));
  const used = columnsOf(names);
  return (
    names.length <= MAX_COLUMNS
    && hasColumns(used, name)
    && !names.some((name) => FOREIGN.includes(name))
  );
}

/** Returns whether the text is a JSON list of objects with the keys that `hasColumns` requires, and without columns of other tables. */
function isJson(head: Buffer, name: Name): boolean {
  const text = head.toString('utf8').replace(/^\uFEFF/, '');
  if (!/^\s*\[\s*\{/.test(text)) return false;
  const keys = jsonKeys(text.slice(0, 4096)).map(normaliseHeader);
  const used = columnsOf(keys);
  return hasColumns(used, name) && !keys.some((key) => FOREIGN.includes(key));
}

/**
 * Recognises polygons with a CAP in their columns or in the name of the file. In a GeoPackage or GeoJSON, the first bytes must contain the name of the column
 * and the type of geometry.
 */
function isArea({ path, fields, head }: VectorLook, name: Name): boolean {
  const named = (column: string): boolean => name === 'cap' || (ALIASES.cap as readonly string[]).includes(normaliseHeader(column));
  if (fields !== null)
    return fields.some(named) && !fields.some((field) => FOREIGN.includes(field)) && [5, 15, 25].includes(head.length >= 36 ? head.readInt32LE(32) : 0);
  const text = head.toString('latin1');
  if (/\.geojson$/i.test(path)) {
    const keys = jsonKeys(text);
    return /"(?:Multi)?Polygon"/.test(text) && keys.some(named) && !keys.some((key) => FOREIGN.includes(normaliseHeader(key)));
  }
  // Pattern of the column definitions of the tables, as stored by SQLite: `"cap" TEXT(5)`.
  const columns = [...text.matchAll(/"(\w{1,40})"\s+(?:TEXT|VARCHAR|INTEGER|MEDIUMINT|INT|REAL|(?:MULTI)?POLYGON|GEOMETRY)/gi)].map(([, column = '']) => column);
  return /"\w+"\s+(?:MULTI)?POLYGON/i.test(text) && columns.some(named) && !columns.some((column) => FOREIGN.includes(normaliseHeader(column)));
}

async function recognise(probe: Probe): Promise<Recognition | null> {
  const named = dayOrYearOf(stemOf(probe.name));
  const dated = named?.includes('-') === true ? named : newestEntry(probe.entries);
  const vintage = editionOf(probe.name) ?? named?.slice(0, 4) ?? '0000';
  const found = (role: string): Recognition => ({ role, vintage, region: null, complete: false, ...(dated === undefined ? {} : { dated }) });
  const name: Name = NAMES.some((pattern) => pattern.test(probe.name)) ? 'cap' : 'other';
  const looks = await lookAtVectors(probe);
  if (looks.length > 0) {
    return looks.every((look) => isArea(look, name)) ? { ...found('areas'), sidecars: sidecarsOf(probe) } : null;
  }
  if (probe.entries === null) {
    if (/\.(?:csv|txt|tsv)$/i.test(probe.name) && isTable(probe.head, name)) return found('csv');
    if (/\.json$/i.test(probe.name) && isJson(probe.head, name)) return found('json');
    return null;
  }
  const files = probe.entries.filter((entry) => !entry.isFolder);
  const tablesInside = files.filter((entry) => /\.(?:csv|txt|json)$/i.test(entry.path));
  const path = tablesInside[0]?.path;
  if (path === undefined || tablesInside.length > 1) return null;
  const head = await probe.headOf(path);
  if (/\.json$/i.test(path)) return isJson(head, name) ? found('json') : null;
  return isTable(head, name) ? found('csv') : null;
}

export default defineSource({
  manifest,
  names: NAMES,
  tables,
  layers,
  keys: { raw_postal_code: ['edition', 'belfiore', 'istat_code', 'cap'] },
  recognise,
  read,
});
