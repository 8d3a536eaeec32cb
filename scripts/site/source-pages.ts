/** Writes a page for each source, from the source's manifest, download and notes. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../pipelines/config.ts';
import { loadDownload, type Cycle, type Download } from '../../pipelines/contract/download.ts';
import { REGIONS } from '../../pipelines/contract/regions.ts';
import type { RegisteredSource } from '../../pipelines/contract/registry.ts';
import { SECTIONS } from '../../pipelines/contract/sections.ts';
import { tableOf } from '../../pipelines/contract/sql-files.ts';
import { tableLink } from './dictionary.ts';
import { sourcesOf } from './feeds.ts';
import { code, escaped, facts, link, list, page, prose, table, type Page } from './markdown.ts';

/** Date for which the files of a region are listed. Any date gives the same number of files. */
const SOME_DAY = new Date('2026-11-01');

function cycleText(cycle: Cycle): string {
  return cycle === 'daily' ? 'every day' : `after ${cycle.join(', ')} (month-day)`;
}

/** Returns lines that explain how to get the files of the source. */
function downloadLines(download: Download, id: string): string[] {
  const regions = REGIONS.filter((region) => (download.files?.(region, SOME_DAY) ?? []).length > 0).length;
  const manual = [...new Set(REGIONS.flatMap((region) => download.byHand?.(region) ?? []))];
  return [
    ...(regions === 0 ? [] : [`${code(`npx mappale fetch REGION --sources ${id}`)} downloads the files${regions === REGIONS.length ? '' : ` (${regions} of ${REGIONS.length} regions)`}${download.tokenParameter === undefined ? '' : ` with a token in ${code(`MAPPALE_${id.toUpperCase()}_TOKEN`)}`}`]),
    ...(download.onlyNamed === undefined ? [] : [`downloaded only if the source is named: ${prose(download.onlyNamed)}`]),
    ...manual.map((hand) => `by hand: ${prose(hand)}`),
  ];
}

/** Returns the notes of a source without the title, with each heading one level lower. */
function notesBelow(notes: string): string {
  return notes.replace(/^# .*\n+/, '').replace(/^##/gm, '###').trim();
}

function sourcePage(source: RegisteredSource, download: Download): Page {
  const { id, folder, manifest, layer } = source;
  const { attribution, ignored } = manifest;
  const fed = SECTIONS.filter((section) => sourcesOf(section, [source]).length > 0);
  return page(`sources/${id}.md`, `${manifest.title} (${id})`, [
    facts([
      ['Publisher', escaped(attribution.holder)],
      ['Licence', escaped(attribution.license)],
      ['Attribution', `${escaped(attribution.text)}${attribution.mandatory === true ? ' (in every API response)' : ''}`],
      ['Web page', prose(attribution.url)],
      ['Sections', fed.length === 0 ? 'the base of all sections: parcels, comuni, addresses' : fed.map(({ name, title }) => link(`/sections/${name}.md`, title)).join(', ')],
      ['Published', `${escaped(manifest.cadence)}; ${code('mappale watch')} checks ${escaped(cycleText(download.cycle))}`],
      ['Vintage', prose(manifest.vintageRule)],
      ['Coordinates', manifest.crs === null ? 'none' : prose(manifest.crs)],
      ['File names', source.names.map(({ source: pattern }) => code(pattern)).join(', ')],
      ['Layers', layer.writes.map((relation) => tableLink(`layer.${tableOf(relation)}`)).join(', ')],
      ['Rejects allowed', `${manifest.envelope.rejectShare * 100} % of the records`],
      ['Version of the reader', String(manifest.version)],
    ]),
    '## Downloads',
    list([...downloadLines(download, id), ...manifest.downloads.map(({ url, note }) => `${prose(url)}: ${prose(note)}`)]),
    '## Published fields that mappale does not use',
    Object.keys(ignored).length === 0 ? 'None.' : table(['Field', 'Reason'], Object.entries(ignored).map(([name, why]) => [code(name), prose(why)])),
    '## Quirks and decisions',
    notesBelow(readFileSync(join(ROOT, folder, 'notes.md'), 'utf8')),
  ]);
}

export async function sourcePages(sources: readonly RegisteredSource[]): Promise<Page[]> {
  return [
    page('sources.md', 'Sources', [
      table(['Source', 'Publisher', 'Licence', 'Published', 'Sections'], sources.map((source) => [
        link(`/sources/${source.id}.md`, source.manifest.title), escaped(source.manifest.attribution.holder), escaped(source.manifest.attribution.license),
        escaped(source.manifest.cadence),
        SECTIONS.filter((section) => sourcesOf(section, [source]).length > 0).map(({ name }) => link(`/sections/${name}.md`, name)).join(', '),
      ])),
    ]),
    ...await Promise.all(sources.map(async (source) => sourcePage(source, await loadDownload(source.id)))),
  ];
}
