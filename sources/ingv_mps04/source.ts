import { isWhole, newestEntry, type WholeName } from '../../pipelines/readers/packaging.ts';
import { defineSource, type Probe, type Recognition } from '../../pipelines/contract/source.ts';
import { manifest } from './manifest.ts';
import { isGrid, isGridName, read } from './read.ts';

/** The model's only edition. */
const VINTAGE = '2004';
/** `italia_ag_002_txt.zip`, `italia_ag_002.txt`. */
const WHOLE: WholeName = { whole: /^italia_ag_\d+(?:_txt)?$/i, stated: /^italia_ag_/i };
/** The node table of the building code: `OBJECTID,ID,LON,LAT,T30ag,…,T475ag,…`. */
const NTC08 = /^\uFEFF?"?OBJECTID"?[,;]"?ID"?[,;]"?LON"?[,;]"?LAT"?[,;]"?T30ag/i;

async function recognise(probe: Probe): Promise<Recognition | null> {
  const dated = newestEntry(probe.entries);
  const recognition: Recognition = { role: 'grid', vintage: VINTAGE, region: null, complete: false, ...(dated === undefined ? {} : { dated }) };
  if (/^italia_ag_\d+\S*\.xls$|^italia_ag_\d+_xls\.zip$/i.test(probe.name)) {
    return { ...recognition, role: 'grid_xls', ignored: 'the spreadsheet form of the grid: the text form, italia_ag_002_txt.zip, holds the same nodes' };
  }
  if (probe.entries === null) {
    if (NTC08.test(probe.head.toString('utf8', 0, 512))) {
      return { ...recognition, role: 'ntc08', ignored: 'node table of the building code (NTC08, Allegato B): ag in g/10 on a coarser grid in ED50; the 0.02° grid of the model is read instead' };
    }
    return isGridName(probe.name) && isGrid(probe.name, probe.head) ? { ...recognition, complete: isWhole([probe.name], WHOLE) } : null;
  }
  for (const entry of probe.entries) {
    if (!entry.isFolder && isGridName(entry.path) && isGrid(entry.path, await probe.headOf(entry.path)))
      return { ...recognition, complete: isWhole([probe.name, entry.path], WHOLE) };
  }
  return null;
}

export default defineSource({
  manifest,
  names: [/^italia_ag_\d+[^/]*\.(?:zip|txt)$/i],
  tables: { raw_pga_node: { lon: 'float8 not null', lat: 'float8 not null', ag_g: 'float8 not null' } },
  keys: { raw_pga_node: ['lon', 'lat'] },
  unique: { pga_node: ['ix', 'iy'] },
  recognise,
  read,
});
