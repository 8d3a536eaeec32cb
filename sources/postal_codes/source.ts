import { normaliseHeader } from '../../pipelines/formats/csv.ts';
import { firstLine, jsonKeys } from '../../pipelines/readers/head.ts';
import { newestEntry } from '../../pipelines/readers/packaging.ts';
import { defineSource, type Probe, type Recognition } from '../../pipelines/contract/source.ts';
import { editionOf, lookAtVectors, sidecarsOf, type VectorLook } from '../../pipelines/readers/vector-members.ts';
import { manifest } from './manifest.ts';
import { columnsOf, delimiterOf, read } from './read.ts';
import { ALIASES, FOREIGN, tables } from './schema.ts';

/** Maximum number of columns. A table of comuni and CAP is narrow; wide ones are about something else. */
const MAX_COLUMNS = 20;

/** Whether this first line names a CAP and a comune, and no column of other tables. */
function isTable(head: Buffer): boolean {
  const line = firstLine(head.toString('latin1').replace(/^\u00ef\u00bb\u00bf/, ''));
  const names = line.split(delimiterOf(line)).map((cell) => normaliseHeader(cell.replace(/^"|"$/g, '')));
  const used = columnsOf(names);
  return (
    names.length <= MAX_COLUMNS
    && used.cap !== undefined
    && (used.belfiore !== undefined || used.istat_code !== undefined)
    && !names.some((name) => FOREIGN.includes(name))
  );
}

/** Whether this is a list whose first object has a CAP and a code of the comune. */
function isJson(head: Buffer): boolean {
  const text = head.toString('utf8').replace(/^\uFEFF/, '');
  if (!/^\s*\[\s*\{/.test(text)) return false;
  const keys = jsonKeys(text.slice(0, 4096)).map(normaliseHeader);
  const used = columnsOf(keys);
  return used.cap !== undefined && (used.belfiore !== undefined || used.istat_code !== undefined) && !keys.some((key) => FOREIGN.includes(key));
}

/** Whether this is a layer of polygons with a CAP. The first bytes of a GeoPackage or GeoJSON must name the column and the geometry type. */
function isArea({ path, fields, head }: VectorLook): boolean {
  const named = (name: string): boolean => (ALIASES.cap as readonly string[]).includes(normaliseHeader(name));
  if (fields !== null)
    return fields.some(named) && !fields.some((field) => FOREIGN.includes(field)) && [5, 15, 25].includes(head.length >= 36 ? head.readInt32LE(32) : 0);
  const text = head.toString('latin1');
  if (/\.geojson$/i.test(path)) {
    const keys = jsonKeys(text);
    return /"(?:Multi)?Polygon"/.test(text) && keys.some(named) && !keys.some((key) => FOREIGN.includes(normaliseHeader(key)));
  }
  // Column definitions of the tables, as SQLite stores them: `"cap" TEXT(5)`.
  const columns = [...text.matchAll(/"(\w{1,40})"\s+(?:TEXT|VARCHAR|INTEGER|MEDIUMINT|INT|REAL|(?:MULTI)?POLYGON|GEOMETRY)/gi)].map(([, name = '']) => name);
  return /"\w+"\s+(?:MULTI)?POLYGON/i.test(text) && columns.some(named) && !columns.some((column) => FOREIGN.includes(normaliseHeader(column)));
}

async function recognise(probe: Probe): Promise<Recognition | null> {
  const dated = newestEntry(probe.entries);
  const found = (role: string): Recognition => ({ role, vintage: editionOf(probe.name) ?? '0000', region: null, complete: false, ...(dated === undefined ? {} : { dated }) });
  const looks = await lookAtVectors(probe);
  if (looks.length > 0) {
    return looks.every(isArea) ? { ...found('areas'), sidecars: sidecarsOf(probe) } : null;
  }
  if (probe.entries === null) {
    if (/\.(?:csv|txt|tsv)$/i.test(probe.name) && isTable(probe.head)) return found('csv');
    if (/\.json$/i.test(probe.name) && isJson(probe.head)) return found('json');
    return null;
  }
  const files = probe.entries.filter((entry) => !entry.isFolder);
  const tablesInside = files.filter((entry) => /\.(?:csv|txt|json)$/i.test(entry.path));
  const path = tablesInside[0]?.path;
  if (path === undefined || tablesInside.length > 1) return null;
  const head = await probe.headOf(path);
  if (/\.json$/i.test(path)) return isJson(head) ? found('json') : null;
  return isTable(head) ? found('csv') : null;
}

export default defineSource({
  manifest,
  names: [/(?:^|[-_ ])cap(?:[-_ ][^/]*)?\.(?:csv|txt|tsv|json|geojson|shp|gpkg)$/i],
  tables,
  keys: { raw_postal_code: ['edition', 'belfiore', 'istat_code', 'cap'] },
  recognise,
  read,
});
