import { REGIONS } from '../../pipelines/contract/regions.ts';
import { defineSource, type InputFile, type Sink } from '../../pipelines/contract/source.ts';
import { REGION_NAMES } from './download.ts';
import { layers } from './layers.ts';
import { manifest } from './manifest.ts';
import { recognise } from './recognise.ts';
import { tables } from './tables.ts';

/** Imports the reader on demand, because a refresh without new files does not need the reader. */
async function read(file: InputFile, sink: Sink): Promise<void> {
  await (await import('./read.ts')).read(file, sink);
}

export default defineSource({
  manifest,
  names: [/_(?:ple|map)\.gml$/i, /^[A-Z]\d{3}_[^/]*\.zip$/, /^[A-Z]{2}\.zip$/, new RegExp(`^(?:ITALIA|${[...REGION_NAMES, ...REGIONS.map(({ name }) => name.toUpperCase())].filter((name) => name !== null).join('|')})\\.zip$`)],
  tables,
  layers,
  keys: { raw_parcel: ['reference'], raw_sheet: ['reference'] },
  places: { cadastral_parcel: { place: 'belfiore' }, cadastral_sheet: { place: 'belfiore' }, cadastral_coverage: { place: 'belfiore' } },
  unique: { cadastral_parcel: ['reference'], cadastral_sheet: ['reference'] },
  groups: { cadastral_parcel: { layer: 'cadastral_coverage', columns: ['sheet_reference'], rows: 'parcels' } },
  recognise,
  read,
});
