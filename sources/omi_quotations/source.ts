import { defineSource, inputError, type Probe, type Recognition } from '../../pipelines/kit/source.ts';
import { manifest } from './manifest.ts';
import { read } from './read.ts';
import { parseDocumentName, parseTitle, tables, type Title } from './schema.ts';
import { decodeLine } from './text.ts';

/** A file for all Italy has more than 12 MB of VALORI and 2.5 MB of ZONE (18.8 and 3.6 MB since 2016). */
const NATIONAL_BYTES = { VALORI: 12_000_000, ZONE: 2_500_000 } as const;
/** KML entries that are looked at before a zip is given up: the first may be the index. */
const KML_PROBES = 3;

function titleOf(head: Buffer): Title | null {
  const end = head.indexOf(0x0a);
  return parseTitle(decodeLine(head.subarray(0, end === -1 ? head.length : end)).trimEnd());
}

/** Half-year of a KML of OMI perimeters; null when the KML is something else. `''` when it is one but does not say its half-year. */
function perimeterVintage(head: Buffer, name: string): string | null {
  const text = head.toString('latin1');
  if (!/<kml[\s>]/.test(text)) return null;
  const document = parseDocumentName(/<Document>\s*<name>([^<]*)<\/name>/.exec(text)?.[1] ?? '');
  if (document !== null && /Zona OMI|CODZONA|<Style/.test(text)) return document.semester.text;
  if (!/Zona OMI|Zone OMI|"CODZONA"/.test(text)) return null;
  const named = /(\d{4})[-_]([12])\.km[lz]$/i.exec(name) ?? /Anno \/ Semestre<\/b><\/td><td>\s*(\d{4})\s*\/\s*([12])/.exec(text);
  return named === null ? '' : `${named[1]}_${named[2]}`;
}

async function recogniseArchive(probe: Probe): Promise<Recognition | null> {
  const vintages: string[] = [];
  const national = { VALORI: false, ZONE: false };
  for (const entry of probe.entries!) {
    if (!/\.csv$/i.test(entry.path)) continue;
    const title = titleOf(await probe.headOf(entry.path));
    if (title === null) continue;
    vintages.push(title.semester.text);
    if (entry.size >= NATIONAL_BYTES[title.kind]) national[title.kind] = true;
  }
  if (vintages.length === 0) {
    const kml = probe.entries!.filter((entry) => /\.kml$/i.test(entry.path)).slice(0, KML_PROBES);
    for (const entry of kml) {
      const vintage = perimeterVintage(await probe.headOf(entry.path), entry.path);
      if (vintage !== null && vintage !== '') vintages.push(vintage);
    }
  }
  if (vintages.length === 0) {
    // Provincial KMZ packed together.
    const kmz = probe.entries!.find((entry) => /\.kmz$/i.test(entry.path));
    if (kmz === undefined) return null;
    const inner = (await probe.entriesOf(kmz.path)).filter((entry) => /\.kml$/i.test(entry.path)).slice(0, KML_PROBES);
    for (const entry of inner) {
      const vintage = perimeterVintage(await probe.headOf(`${kmz.path}/${entry.path}`), entry.path);
      if (vintage !== null && vintage !== '') vintages.push(vintage);
    }
    if (vintages.length === 0) return null;
  }
  vintages.sort();
  return { role: 'ARCHIVE', vintage: vintages.at(-1)!, region: null, complete: national.VALORI && national.ZONE };
}

async function recognise(probe: Probe): Promise<Recognition | null> {
  if (probe.entries !== null) return recogniseArchive(probe);
  const title = titleOf(probe.head);
  if (title !== null) return { role: title.kind, vintage: title.semester.text, region: null, complete: false };
  if (/^(?:\u00ef\u00bb\u00bf)?Area_territoriale;/.test(probe.head.toString('latin1', 0, 64))) {
    throw inputError('OMI file has no title line', {
      code: 'TITLE_UNREADABLE', at: `${probe.name}:1`, detail: 'expected "Quotazioni Immobiliari : … - Semestre 2025/1 - elaborazione del 23-NOV-25", found the header',
      hint: 'Give the file as the Agenzia delle Entrate delivers it: only its first line says which half-year it is of.',
    });
  }
  const vintage = perimeterVintage(probe.head, probe.name);
  // Without a half-year the perimeters cannot be placed in the series: not ours to guess.
  if (vintage === null || vintage === '') return null;
  return { role: 'PERIMETER', vintage, region: null, complete: false };
}

export default defineSource({
  manifest,
  names: [/^QI_[^/]*(?:VALORI|ZONE)\.csv$/i, /\b\d{4}-[12]\.km[lz]$/i, /^[A-Z]\d{3}(?: - [^/]*)?\.km[lz]$/, /^(?:QI_[^/]*|\d{4}-[12])\.zip$/i],
  tables,
  keys: { raw_quotation: ['half_year', 'link_zona', 'cod_tip', 'stato'], raw_zone: ['half_year', 'belfiore', 'zona'], raw_perimeter: ['half_year', 'belfiore', 'zona'] },
  recognise,
  read,
});
