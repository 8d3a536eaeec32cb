import { defineSource, inputError, type Probe, type Recognition, type InputFile, type Sink } from '../../pipelines/contract/source.ts';
import type { ZipEntry } from '../../pipelines/formats/zip.ts';
import { layers } from './layers.ts';
import { manifest } from './manifest.ts';
import { parseDocumentName, parseTitle, tables, type Title } from './schema.ts';
import { decodeLine } from './text.ts';

/** Maximum number of KML entries that are inspected in a zip. The first KML may be the index. */
const KML_PROBES = 3;

function titleOf(head: Buffer): Title | null {
  const end = head.indexOf(0x0a);
  return parseTitle(decodeLine(head.subarray(0, end === -1 ? head.length : end)).trimEnd());
}

/** Half-year of a file or entry, and its date of elaboration or generation. */
interface Dated {
  readonly vintage: string;
  readonly dated: string | null;
}

/**
 * Returns the half-year of a KML of OMI perimeters and the time at which the KML was generated. Returns null if the file is not a KML of OMI perimeters or does
 * not state a half-year. The half-year is never guessed.
 */
function perimeterOf(head: Buffer, name: string): Dated | null {
  const text = head.toString('latin1');
  if (!/<kml[\s>]/.test(text)) return null;
  const document = parseDocumentName(/<Document>\s*<name>([^<]*)<\/name>/.exec(text)?.[1] ?? '');
  if (document !== null && /Zona OMI|CODZONA|<Style/.test(text)) {
    return { vintage: document.semester.text, dated: document.generated === null ? null : `${document.generated}${document.time === null ? '' : `T${document.time}`}` };
  }
  if (!/Zona OMI|Zone OMI|"CODZONA"/.test(text)) return null;
  const named = /(\d{4})[-_]([12])\.km[lz]$/i.exec(name) ?? /Anno \/ Semestre<\/b><\/td><td>\s*(\d{4})\s*\/\s*([12])/.exec(text);
  return named === null ? null : { vintage: named.slice(1).join('_'), dated: null };
}

/**
 * Returns the half-year and date of each table in a zip. If the zip has no tables, returns those of its first perimeters, which may be in a KMZ inside the zip.
 */
async function entriesOf(probe: Probe): Promise<Dated[]> {
  const found: Dated[] = [];
  const entries = probe.entries ?? [];
  for (const { path } of entries) {
    const title = /\.csv$/i.test(path) ? titleOf(await probe.headOf(path)) : null;
    if (title !== null) found.push({ vintage: title.semester.text, dated: title.elaborated });
  }
  if (found.length > 0) return found;
  const perimeters = async (inside: readonly ZipEntry[], prefix: string): Promise<void> => {
    for (const { path } of inside.filter((entry) => /\.kml$/i.test(entry.path)).slice(0, KML_PROBES)) {
      const perimeter = perimeterOf(await probe.headOf(`${prefix}${path}`), path);
      if (perimeter !== null) found.push(perimeter);
    }
  };
  await perimeters(entries, '');
  const kmz = entries.find(({ path }) => /\.kmz$/i.test(path));
  if (found.length === 0 && kmz !== undefined) await perimeters(await probe.entriesOf(kmz.path), `${kmz.path}/`);
  return found;
}

/** A user chose the content of a delivery, so every delivery counts as a part, even if the delivery covers all of Italy. */
function recognition(role: string, found: readonly Dated[]): Recognition {
  const newest = (values: readonly string[]): string | undefined => [...values].sort().at(-1);
  const dated = newest(found.flatMap((each) => each.dated ?? []));
  return { role, vintage: newest(found.map(({ vintage }) => vintage)) ?? '', region: null, complete: false, ...(dated === undefined ? {} : { dated }) };
}

async function recognise(probe: Probe): Promise<Recognition | null> {
  if (probe.entries !== null) {
    const found = await entriesOf(probe);
    return found.length === 0 ? null : recognition('ARCHIVE', found);
  }
  const title = titleOf(probe.head);
  if (title !== null) return recognition(title.kind, [{ vintage: title.semester.text, dated: title.elaborated }]);
  if (/^(?:\u00ef\u00bb\u00bf)?Area_territoriale;/.test(probe.head.toString('latin1', 0, 64))) {
    throw inputError('the OMI file has no title line', {
      code: 'TITLE_UNREADABLE', at: `${probe.name}:1`, detail: 'expected "Quotazioni Immobiliari : … - Semestre 2025/1 - elaborazione del 23-NOV-25", found the header',
      hint: 'Use the file as delivered by the Agenzia delle Entrate. Only the first line states the half-year.',
    });
  }
  const perimeter = perimeterOf(probe.head, probe.name);
  return perimeter === null ? null : recognition('PERIMETER', [perimeter]);
}

/** Imports the reader on demand, because a refresh without new files does not need the reader. */
async function read(file: InputFile, sink: Sink): Promise<void> {
  await (await import('./read.ts')).read(file, sink);
}

export default defineSource({
  manifest,
  names: [/^QI_[^/]*(?:VALORI|ZONE)\.csv$/i, /\b\d{4}-[12]\.km[lz]$/i, /^[A-Z]\d{3}(?: - [^/]*)?\.km[lz]$/, /^(?:QIP?\d*_[^/]*|\d{4}-[12])\.zip$/i],
  tables,
  layers,
  keys: { raw_quotation: ['half_year', 'link_zona', 'cod_tip', 'stato'], raw_zone: ['half_year', 'belfiore', 'zona'], raw_perimeter: ['half_year', 'belfiore', 'zona'] },
  places: {
    omi_quotation: { series: ['semester'], place: 'belfiore', likelyRegion: 'region_code', dated: 'elaborated' },
    omi_zone: { series: ['semester'], place: 'belfiore', likelyRegion: 'region_code', dated: 'elaborated' },
    omi_perimeter: { series: ['semester'], place: 'belfiore', dated: 'generated' },
  },
  recognise,
  read,
});
