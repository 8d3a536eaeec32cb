import { isWhole, newestEntry, type WholeName } from '../../pipelines/readers/packaging.ts';
import { defineSource, type Probe, type Recognition } from '../../pipelines/contract/source.ts';
import { layers } from './layers.ts';
import { manifest } from './manifest.ts';
import { isGrid, isGridName, nodesPerDegree, read } from './read.ts';

/** Vintage of the only edition of the model. */
const VINTAGE = '2004';
/** Nodes per degree of the grid of 0.02°. */
const FINEST = 50;
/**
 * Names of the complete grids, such as `italia_ag_002_txt.zip` and `italia_ag_002.txt`. The coarser grid of the ordinance is
 * `OPCM3519_1B_ag_005_txt.zip`.
 */
const WHOLE: WholeName = { whole: /^(?:italia_ag_\d+|OPCM3519_1B_ag_\d+)(?:_txt)?$/i, stated: /^(?:italia_ag_|OPCM3519_)/i };
/** Columns of the node table of the building code: `OBJECTID,ID,LON,LAT,T30ag,…,T475ag,…`. */
const NTC08 = /^\uFEFF?"?OBJECTID"?[,;]"?ID"?[,;]"?LON"?[,;]"?LAT"?[,;]"?T30ag/i;

async function recognise(probe: Probe): Promise<Recognition | null> {
  const recognition: Recognition = { role: 'grid', vintage: VINTAGE, region: null, complete: false };
  if (/^italia_ag_\d+\S*\.xls$|^italia_ag_\d+_xls\.zip$/i.test(probe.name)) {
    return { ...recognition, role: 'grid_xls', ignored: 'the file is the grid as a spreadsheet; the text file italia_ag_002_txt.zip has the same nodes' };
  }
  if (probe.entries === null) {
    if (NTC08.test(probe.head.toString('utf8', 0, 512))) {
      return { ...recognition, role: 'ntc08', ignored: 'node table of the building code (NTC08, Allegato B): ag in g/10 on a coarser grid in ED50; the 0.02° grid of the model is read instead' };
    }
    if (!isGridName(probe.name) || !isGrid(probe.name, probe.head)) return null;
    return { ...recognition, ...issueOf(probe, probe.name, probe.head), complete: isWhole([probe.name], WHOLE) };
  }
  for (const entry of probe.entries) {
    if (entry.isFolder || !isGridName(entry.path)) continue;
    const head = await probe.headOf(entry.path);
    if (isGrid(entry.path, head)) return { ...recognition, ...issueOf(probe, entry.path, head), complete: isWhole([probe.name, entry.path], WHOLE) };
  }
  return null;
}

/**
 * Returns the role and the issue (`dated`) of a grid. The issue starts with the nodes per degree, so the finer grid counts as newer, whatever the date in
 * the zip.
 */
function issueOf(probe: Probe, path: string, head: Buffer): Pick<Recognition, 'role' | 'dated'> {
  const nodes = nodesPerDegree(path, head);
  const day = newestEntry(probe.entries);
  return { role: nodes === FINEST ? 'grid' : 'coarse_grid', dated: `${nodes} nodes per degree${day === undefined ? '' : `, ${day}`}` };
}

export default defineSource({
  manifest,
  names: [/^(?:italia_ag_\d+|OPCM3519_1B_ag_\d+)[^/]*\.(?:zip|txt)$/i],
  tables: { raw_pga_node: { lon: 'float8 not null', lat: 'float8 not null', ag_g: 'float8 not null' } },
  layers,
  keys: { raw_pga_node: ['lon', 'lat'] },
  unique: { pga_node: ['ix', 'iy'] },
  recognise,
  read,
});
