import { basename } from 'node:path';
import { defineSource, inputError, stagedColumns, type Probe, type Recognition, type InputFile, type Sink } from '../../pipelines/contract/source.ts';
import { findRegion } from '../../pipelines/contract/regions.ts';
import { isDay } from '../../pipelines/readers/iso-date.ts';
import { newestEntry } from '../../pipelines/readers/packaging.ts';
import { layers, STREET } from './layers.ts';
import { manifest } from './manifest.ts';

/** ISTAT region code of each of the publisher's area codes; null for Italy. TREN is Trentino-Alto Adige, FRIU Friuli-Venezia Giulia, VALL Valle d'Aosta. */
const AREAS: Readonly<Record<string, number | null>> = {
  ITA: null, PIEM: 1, VALL: 2, LOMB: 3, TREN: 4, VENE: 5, FRIU: 6, LIGU: 7, EMIL: 8, TOSC: 9, UMBR: 10, MARC: 11, LAZI: 12, ABRU: 13, MOLI: 14, CAMP: 15,
  PUGL: 16, BASI: 17, CALA: 18, SICI: 19, SARD: 20,
};

/** Pattern of names with an area code, such as `INDIR_CALA_20260602.csv` and `getds.php?INDIR_CALA`. */
const AREA = /(?<![A-Za-z])(?:INDIR|STRAD)_([A-Za-z]{3,4})(?![A-Za-z])/;
/** Pattern of names with the name of the area, such as `stradarioCalabria20260602.zip`. */
const LONG_NAME = /(?:stradario|indirizzario)([A-Za-zÀ-ÿ' -]+?)_?(?=\d{8}|\.|$)/i;
const DATE = /(?<!\d)(20\d{2})(\d{2})(\d{2})(?!\d)/;

async function recognise(probe: Probe): Promise<Recognition | null> {
  if (probe.entries === null) return describe(probe.name, [probe.name], probe.head, null);
  const csv = probe.entries.filter((entry) => !entry.isFolder && /\.csv$/i.test(entry.path));
  const [entry] = csv;
  if (entry === undefined || csv.length > 1) return null;
  return describe(`${probe.name}!${entry.path}`, [basename(entry.path), probe.name], await probe.headOf(entry.path), newestEntry([entry]) ?? null);
}

/**
 * Recognises a CSV by its header, and takes the vintage and the area from the names.
 * @param names name of the CSV, then the name of the zip
 * @param modified date of the zip entry, used if no name has a date; null for a CSV outside a zip or for an entry without a date
 * @returns null if the first line is not a header of ANNCSU
 * @throws input errors `COLUMNS_CHANGED`, `ANNCSU_AREA_UNKNOWN`, `ANNCSU_VINTAGE_UNKNOWN`
 */
async function describe(at: string, names: readonly string[], head: Buffer, modified: string | null): Promise<Recognition | null> {
  const end = head.indexOf(0x0a);
  const { parseHeader } = await import('./read.ts');
  const header = parseHeader(head.subarray(0, end < 0 ? head.length : end), at);
  if (header === null) return null;
  const vintage = vintageOf(names) ?? modified;
  if (vintage === null) {
    throw inputError('the vintage of an ANNCSU file is unknown', {
      code: 'ANNCSU_VINTAGE_UNKNOWN', at, detail: 'expected the date of the release in the name, found none',
      hint: `Give the file its name in the publisher's zip, such as ${header.role}_CALA_20260602.csv.`,
    });
  }
  const area = areaOf(names, at);
  return { role: header.role, vintage, region: area?.region ?? null, complete: area !== null };
}

function vintageOf(names: readonly string[]): string | null {
  for (const name of names) {
    const match = DATE.exec(name);
    if (match === null) continue;
    const date = match.slice(1).join('-');
    if (isDay(date)) return date;
  }
  return null;
}

/** Returns the area in the file names, or null if no name has an area. A file without an area is an extract, and its rows have the codes of their comuni. */
function areaOf(names: readonly string[], at: string): { readonly region: number | null } | null {
  for (const name of names) {
    const code = AREA.exec(name)?.[1]?.toUpperCase();
    if (code !== undefined) {
      const region = AREAS[code];
      if (region !== undefined) return { region };
      throw inputError('the area of an ANNCSU file is unknown', {
        code: 'ANNCSU_AREA_UNKNOWN', at, detail: `expected one of ${Object.keys(AREAS).join(' ')}, found ${code}`,
        hint: 'Give the file the name under which it was published.',
      });
    }
    const long = LONG_NAME.exec(name)?.[1];
    if (long === undefined) continue;
    if (/^italia$/i.test(long)) return { region: null };
    // These names contain no spaces (`FriuliVeneziaGiulia`, `ValledAosta`), so only letters are compared.
    const region = findRegion(long);
    if (region !== undefined) return { region: region.code };
  }
  return null;
}

/** Imports the reader on demand, because a refresh without new files does not need the reader. */
async function read(file: InputFile, sink: Sink): Promise<void> {
  await (await import('./read.ts')).read(file, sink);
}

export default defineSource({
  manifest,
  names: [/^(?:INDIR|STRAD)_[A-Z]{3,4}(?:_\d{8})?\.(?:csv|zip)$/i, /^(?:indirizzario|stradario)[A-Za-z]+\d{8}(?:\.zip|\.csv)?$/i],
  tables: {
    raw_access: {
      progressivo_accesso: 'int8 not null',
      progressivo_nazionale: 'int8 not null',
      belfiore: 'text not null',
      codice_comunale_accesso: 'text',
      civico: 'int4',
      esponente: 'text',
      specificita: 'text',
      metrico: 'int4',
      progressivo_snc: 'int4',
      coord_x: 'float8',
      coord_y: 'float8',
      quota_m: 'float8',
      metodo: 'int2',
      street: 'text[]',
      search_kinds: 'text[]',
      search_types: 'text[]',
      search_tokens: 'text[]',
    },
    raw_street: stagedColumns(STREET),
  },
  layers,
  keys: { raw_access: ['progressivo_accesso'], raw_street: ['progressivo_nazionale'] },
  places: { odonimo: { place: 'belfiore' }, odonimo_indir: { place: 'belfiore' }, accesso: { place: 'belfiore' } },
  unique: { odonimo: ['progressivo_nazionale'], odonimo_indir: ['progressivo_nazionale'], accesso: ['progressivo_accesso'] },
  recognise,
  read,
});
