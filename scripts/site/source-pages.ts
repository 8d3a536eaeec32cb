/** A page for each source, from its manifest, its download and its notes. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../pipelines/config.ts';
import { loadDownload, type Cycle, type Download } from '../../pipelines/contract/download.ts';
import { REGIONS } from '../../pipelines/contract/regions.ts';
import type { RegisteredSource } from '../../pipelines/contract/registry.ts';
import { SECTIONS } from '../../pipelines/contract/sections.ts';
import { tableOf } from '../../pipelines/contract/sql-files.ts';
import { rendered } from './documents.ts';
import { feeding } from './feeds.ts';
import { code, escaped, facts, heading, link, list, paragraph, prose, table } from './html.ts';
import type { Page } from './page.ts';

/** Day for which addresses are listed. The newest edition depends on the publisher's answer. */
const SOME_DAY = new Date('2026-11-01');

function cycleText(cycle: Cycle): string {
  return cycle === 'daily' ? 'every day' : `after ${cycle.join(', ')} (month-day)`;
}

/** Describes the download of the files, for any region. */
function downloadLines(download: Download, id: string): string[] {
  const asked = REGIONS.filter((region) => (download.files?.(region, SOME_DAY) ?? []).length > 0).length;
  const hands = [...new Set(REGIONS.flatMap((region) => download.byHand?.(region) ?? []))];
  return [
    ...(asked === 0 ? [] : [`${code(`npx mappale fetch REGION --sources ${id}`)} downloads it${asked === REGIONS.length ? '' : ` (${asked} of ${REGIONS.length} regions)`}${download.tokenParameter === undefined ? '' : ` with a token in ${code(`MAPPALE_${id.toUpperCase()}_TOKEN`)}`}`]),
    ...(download.onlyNamed === undefined ? [] : [`only if it is named: ${prose(download.onlyNamed)}`]),
    ...hands.map((hand) => `by hand: ${prose(hand)}`),
  ];
}

function body(source: RegisteredSource, download: Download, notes: string): string {
  const { id, manifest, layer } = source;
  const fed = SECTIONS.filter((section) => feeding(section, [source]).length > 0);
  const tables = SECTIONS.length === 0 ? [] : layer.writes.map(tableOf);
  return [
    facts([
      ['Publisher', escaped(manifest.attribution.holder)],
      ['Licence', escaped(manifest.attribution.license)],
      ['To be shown', `${escaped(manifest.attribution.text)}${manifest.attribution.mandatory === true ? ' (in every answer)' : ''}`],
      ['About it', prose(manifest.attribution.url)],
      ['Feeds', fed.length === 0 ? 'the base of all sections: parcels, comuni, addresses' : fed.map(({ name, title }) => link(`/sections/${name}.html`, title)).join(', ')],
      ['Issued', `${escaped(manifest.cadence)}; ${code('mappale watch')} asks ${escaped(cycleText(download.cycle))}`],
      ['Vintage', prose(manifest.vintageRule)],
      ['Coordinates', manifest.crs === null ? 'none' : prose(manifest.crs)],
      ['Names of files', source.names.map(({ source: pattern }) => code(pattern)).join('<br>')],
      ['Layers', tables.map((name) => link(`/tables.html#layer-${name}`, `layer.${name}`)).join(', ')],
      ['Rejects allowed', `${manifest.envelope.rejectShare * 100} % of the records`],
      ['Version of the reader', String(manifest.version)],
    ]),
    heading(2, 'Where it comes from'), list([...downloadLines(download, id), ...manifest.downloads.map(({ url, note }) => `${prose(url)}: ${prose(note)}`)]),
    heading(2, 'Published fields that are not used'),
    Object.keys(manifest.ignored).length === 0 ? paragraph('None; all fields are read.') : table(['Field', 'Why not'], Object.entries(manifest.ignored).map(([name, why]) => [code(name), prose(why)])),
    notes,
  ].join('');
}

/** @param dead is called for each broken link, with page and address */
export async function sourcePages(sources: readonly RegisteredSource[], dead: (page: string, href: string) => void): Promise<Page[]> {
  const pages = await Promise.all(sources.map(async (source): Promise<Page> => {
    const path = `sources/${source.id}.html`;
    const file = `${source.folder}/notes.md`;
    const notes = rendered(file, readFileSync(join(ROOT, file), 'utf8'), (href) => dead(path, href));
    return {
      path, title: `${source.manifest.title} (${source.id})`, part: 'Reference', below: 'sources.html',
      body: body(source, await loadDownload(source.id), heading(2, 'Quirks and decisions') + notes.body.replace(/<(\/?)h2/g, '<$1h3')),
    };
  }));
  return [{
    path: 'sources.html', title: 'Sources', part: 'Reference', below: null,
    body: paragraph('Datasets with their publishers and licences.') + table(['Source', 'Publisher', 'Licence', 'Issued', 'Feeds'], sources.map((source) => [
      link(`/sources/${source.id}.html`, source.manifest.title), escaped(source.manifest.attribution.holder), escaped(source.manifest.attribution.license), escaped(source.manifest.cadence),
      SECTIONS.filter((section) => feeding(section, [source]).length > 0).map(({ name }) => link(`/sections/${name}.html`, name)).join(', '),
    ])),
  }, ...pages];
}
