/** Railway stations, an invented source that a test adds. A source with a longer manifest, schema or layers has them in separate files. */
import { z } from 'zod';
import { fixed, yearsSince, type Download } from '../../pipelines/contract/download.ts';
import { defineSource, type Columns, type InputFile, type Layers, type Manifest, type Probe, type Recognition, type Sink } from '../../pipelines/contract/source.ts';
import { peekRows, resembles } from '../../pipelines/formats/csv.ts';
import { readCsvRows } from '../../pipelines/readers/csv-rows.ts';

const manifest: Manifest = {
  id: 'rfi_stations',
  version: 1,
  title: 'RFI: railway stations',
  italianTitle: 'RFI: stazioni ferroviarie',
  attribution: { holder: 'RFI – Rete Ferroviaria Italiana S.p.A.', license: 'CC-BY-4.0', url: 'https://www.rfi.it/it/stazioni.html', text: 'Fonte: RFI, elenco delle stazioni' },
  vintageRule: 'the year in the file name (`stazioni_2026.csv`)',
  downloads: [{ url: 'https://www.rfi.it/it/stazioni.html', note: 'stazioni_<year>.csv' }],
  cadence: 'yearly',
  crs: 'WGS 84 longitude and latitude, EPSG:4326',
  keep: 'newest',
  ignored: { gestore: 'operator of the building: not served' },
  envelope: { records: { stazioni: { min: 2_000, max: 4_000 } }, rejectShare: 0.25 },
  layers: ['station'],
};

const download: Download = {
  cycle: ['01-31'],
  largest: 500_000,
  files: (_region, today) => [fixed('https://www.rfi.it/it/', `stazioni_${yearsSince(today, 2)[0]}.csv`)],
};

const layers: Layers = {
  station: {
    description: 'Railway stations (RFI)',
    position: 'Line of the file, from 1.',
    columns: {
      station_code: ['text not null', 'Code of the station: S and five digits, text'],
      name: ['text not null', 'Name of the station'],
      geom: ['geometry(point, 4326) not null', 'Position, EPSG:4326'],
    },
    indexes: { 'stations near a position': ['geom'] },
    checks: { within: [6, 35, 19, 47.5] },
  },
};

/** Maps field names to published column names. */
const COLUMNS = { station_code: 'codice', name: 'nome', latitude: 'lat', longitude: 'lon' } as const;

/** All columns of the only known layout. */
const EDITIONS = { 2026: ['codice', 'nome', 'lat', 'lon', 'gestore'] } as const;

const degrees = (min: number, max: number) => z.string().regex(/^\d{1,2}\.\d+$/, 'expected degrees with a decimal point').transform(Number)
  .pipe(z.number().min(min, 'expected degrees in Italy').max(max, 'expected degrees in Italy'));

/** Validates the record of a station and converts its fields. */
const schema = z.strictObject({
  station_code: z.string().regex(/^S\d{5}$/, 'expected S and five digits'),
  name: z.string().min(1, 'expected a name'),
  latitude: degrees(35, 47.5),
  longitude: degrees(6, 19),
});

const raw_station: Columns = { station_code: 'text not null', name: 'text not null', latitude: 'float8 not null', longitude: 'float8 not null' };

export default defineSource({
  manifest,
  download,
  names: [/^stazioni_\d{4}\.csv$/i],
  tables: { raw_station },
  layers,
  keys: { raw_station: ['station_code'] },

  async recognise(probe: Probe): Promise<Recognition | null> {
    const year = /^stazioni_(\d{4})\.csv$/i.exec(probe.name)?.[1];
    const [header = []] = probe.entries === null ? peekRows(probe.head, ';', 1) : [];
    return year !== undefined && resembles(header, EDITIONS) ? { role: 'stazioni', vintage: year, region: null, complete: true } : null;
  },

  read(file: InputFile, sink: Sink): Promise<void> {
    return readCsvRows(file, sink, { table: 'raw_station', columns: raw_station, schema, mapped: COLUMNS, ignored: manifest.ignored, editions: EDITIONS, delimiter: ';' });
  },
});
