/** Endpoints of the changelog: changes of parcels by publication, and the feed of publications. */
import { z } from 'zod';
import { findRegion, REGIONS, regionName, type Region } from '../pipelines/contract/regions.ts';
import { belfiore, nullable, whole } from '../pipelines/contract/schemas.ts';
import { SECTION_NAMES } from '../pipelines/contract/sections.ts';
import type { Reader } from '../pipelines/db/reader.ts';
import { changesBatch, type ChangeLine, type ChangesFrom, type ChangesRefusal } from '../pipelines/deliver/changes.ts';
import { licencesOf, type Ask } from '../pipelines/deliver/columns.ts';
import { licenses } from './answers.ts';
import { endpoint, type Answer, type Described, type Endpoint } from './endpoint.ts';
import { invalidParameter, refusal, type ApiError } from './errors.ts';
import { changesParameters, feedParameters, noParameters, publicationPath, REGION_FORMS } from './parameters.ts';

/** Maximum number of batches of parcels that the server compares for a page. If most parcels are unchanged, a page may have fewer changes than `limit`. */
const BATCHES = 5;

const operation = z.enum(['add', 'remove', 'change']);

const change = z.strictObject({
  publication: whole.describe('Number of the publication, rollback or withdrawal'),
  published_at: z.iso.datetime().describe('Time of the publication; UTC'),
  op: operation.describe('Effect of the publication on the parcel'),
  fid: whole.describe('Parcel identifier'),
  cadastral_reference: z.string().describe('National cadastral reference; for a removed parcel, its last reference'),
  comune: nullable(belfiore, 'Null: the comune of the parcel is unknown, because its region is withdrawn and the parcel is from a land register'),
  columns: z.record(z.string(), z.unknown())
    .describe('Values by column name of `mappale export`, and the geometry. An added parcel has all values, a changed parcel only the new values, and a removed parcel none'),
}).meta({ id: 'Change', description: 'A parcel that a publication added, removed or changed' });

const changesAnswer = z.strictObject({
  data: z.array(change).describe('Sorted by publication, then fid'),
  meta: z.strictObject({
    region: whole.describe('ISTAT code of the region'),
    count: whole.min(0).describe('Number of elements in data'),
    publication: whole.min(0).describe('Number of the last publication of the region. To get only later changes in the next request, use this number as since'),
    cursor: nullable(z.string(), 'Cursor of the next page; null: this is the last page. A page that is not the last may have fewer elements than limit, or no element'),
    licenses,
  }).describe('Number of results, and the attributions that must be shown'),
}).meta({ id: 'Changes', description: 'A page of changes' });

const kind = z.enum(['publication', 'rollback', 'withdrawal']);

const counts = {
  added: whole.min(0).describe('Parcels that were not published before'),
  removed: whole.min(0).describe('Parcels that are no longer published'),
  changed: whole.min(0).describe('Parcels that were published before and have at least one changed value'),
  unchanged: whole.min(0).describe('Parcels whose values are all the same as before'),
};

const countsAnswer = z.strictObject({
  data: z.array(z.strictObject({ region: whole.describe('ISTAT code of the region'), comune: belfiore, ...counts })).describe('By comune'),
  meta: z.strictObject({
    publication: whole.describe('Number of the publication, rollback or withdrawal'),
    region: whole.min(0).describe('ISTAT code of the region; 0: the national lists'),
    published_at: z.iso.datetime().describe('Time of the publication; UTC'),
    kind: kind.describe('Kind of publication'),
    counts: z.strictObject(counts).nullable().describe('Sums over all comuni; null: not counted, because too many parcels may have changed, or an earlier version of mappale made the publication'),
    comuni: nullable(whole.min(0), 'Number of comuni that have changed parcels; null: not counted'),
    sources: z.record(z.string(), z.iso.date().nullable()).nullable()
      .describe('Last day of the period that each source describes, by source; null for a source whose files have no date. Null instead of the sources: the publication is a withdrawal, or its sources were not recorded'),
  }).describe('The publication'),
}).meta({ id: 'PublicationCounts', description: 'Parcels that a publication added, removed, changed and left unchanged, by comune' });

const feed = z.string().meta({ id: 'PublicationFeed', description: 'Atom feed (RFC 4287)' });

/** @throws ApiError `INVALID_PARAMS` */
function regionOf(text: string): Region {
  const region = findRegion(text);
  if (region === undefined) throw invalidParameter('region', REGION_FORMS);
  return region;
}

/** Returns the position at which a page starts, from `cursor` or `since`. @throws ApiError `INVALID_PARAMS` */
function startOf(since: string | undefined, cursor: string | undefined): ChangesFrom {
  const allowed = 'exactly one of since and cursor';
  if (cursor !== undefined) {
    if (since !== undefined) throw invalidParameter('cursor', allowed, 'cannot be combined with since');
    const [publication = '', fid] = cursor.split('.');
    return { publication: Number(publication), fid: fid === undefined ? null : Number(fid) };
  }
  if (since === undefined) throw invalidParameter('since', allowed, 'is required');
  return since.includes('-') ? { day: since } : { publication: Number(since), fid: null };
}

function refused(region: Region, parameter: 'since' | 'cursor', { reason, kept_since: keptSince = '', kept_after: keptAfter = 0 }: ChangesRefusal): ApiError {
  switch (reason) {
    case 'never_kept': return refusal.NO_HISTORY();
    case 'not_published': return refusal.NO_REGION(region.name);
    case 'not_kept': return refusal.CHANGES_GONE(keptSince, keptAfter);
    case 'unknown': return parameter === 'since'
      ? invalidParameter(parameter, 'a day, or the number of a publication', 'is not the number of a kept publication')
      : invalidParameter(parameter, 'meta.cursor of the previous page', 'does not begin with the number of a kept publication');
  }
}

async function page(
  reader: Reader, region: Region, { since, cursor, limit }: Omit<z.output<typeof changesParameters>, 'region'>,
): Promise<Answer> {
  const ask: Ask = (statement, parameters) => reader.call(statement, parameters);
  const data: ChangeLine[] = [];
  let from = startOf(since, cursor);
  for (let batches = 1; ; batches += 1) {
    const batch = await changesBatch(ask, { region: region.code, from, until: null, most: limit - data.length });
    if ('reason' in batch) throw refused(region, cursor === undefined ? 'since' : 'cursor', batch);
    data.push(...batch.lines);
    const { next, last, tag } = batch;
    if (next !== null && data.length < limit && batches < BATCHES) {
      from = next;
      continue;
    }
    const meta = {
      region: region.code, count: data.length, publication: last, cursor: next === null ? null : [next.publication, ...(next.fid === null ? [] : [next.fid])].join('.'),
      licenses: await licencesOf(ask, region.code, SECTION_NAMES),
    };
    return { publication: tag, answer: JSON.stringify({ data, meta }) };
  }
}

/** A publication in the feed. */
type Entry = z.output<typeof countsAnswer>['meta'];

/** Maximum number of publications in the feed. */
const ENTRIES = 50;

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

function entryOf({ publication, region, published_at: time, kind, counts, comuni, sources }: Entry, base: string): string {
  const { slug } = REGIONS.find(({ code }) => code === region) ?? { slug: null };
  const where = region === 0 ? 'Italy' : regionName(region);
  const counted = counts === null ? [] : [`Parcels: ${counts.added} added, ${counts.removed} removed, ${counts.changed} changed, ${counts.unchanged} unchanged. Comuni with changes: ${comuni ?? 0}.`];
  const cited = Object.entries(sources ?? {}).map(([source, day]) => `${source} ${day ?? 'without a date'}`);
  const summary = [...counted, ...(cited.length === 0 ? [] : [`Sources until: ${cited.join(', ')}.`])].join(' ');
  return [
    '  <entry>', `    <id>urn:mappale:publication:${publication}</id>`, `    <title>${escaped(`${where}: ${kind} ${publication}`)}</title>`, `    <updated>${time}</updated>`,
    `    <link rel="alternate" type="application/json" href="${escaped(`${base}/changes/publications/${publication}`)}"/>`,
    ...(slug === null ? [] : [`    <link rel="related" type="application/json" href="${escaped(`${base}/changes?region=${slug}&since=${publication - 1}`)}"/>`]),
    `    <category term="${kind}"/>`, `    <summary>${escaped(summary)}</summary>`, '  </entry>',
  ].join('\n');
}

/** Returns the feed as Atom. @param base base URL for links */
function feedOf(entries: readonly Entry[], region: Region | null, base: string): string {
  const name = region === null ? '' : ` of ${region.name}`;
  const self = `${base}/changes/feed.atom${region === null ? '' : `?region=${region.slug}`}`;
  return [
    '<?xml version="1.0" encoding="utf-8"?>', '<feed xmlns="http://www.w3.org/2005/Atom">', `  <id>urn:mappale:publications:${region?.slug ?? 'italy'}</id>`,
    `  <title>${escaped(`mappale: publications${name}`)}</title>`, `  <updated>${entries[0]?.published_at ?? '1970-01-01T00:00:00Z'}</updated>`,
    '  <author><name>mappale</name></author>', `  <link rel="self" type="application/atom+xml" href="${escaped(self)}"/>`,
    ...entries.map((entry) => entryOf(entry, base)), '</feed>', '',
  ].join('\n');
}

export const CHANGES_ENDPOINTS: readonly Endpoint[] = [
  endpoint({
    path: '/changes',
    operation: 'listChanges',
    scope: 'parcels:read',
    summary: 'List the parcels that publications added, removed or changed',
    description: 'Returns the changes of a region after a publication (`since=41`) or from the start of a day (`since=2026-01-31`, Europe/Rome), sorted by publication and fid. '
      + 'Rollbacks and withdrawals are publications, too. A client that applies all changes to an old export gets the content of the new export. '
      + 'The names in `columns` are the column names of `mappale export`. Geometries are GeoJSON. To get all pages, send `meta.cursor` as `cursor` until `meta.cursor` is null. A cursor remains valid after new publications. '
      + 'If the changes are no longer kept, the endpoint returns 410. In this response, `details.kept_since` is the first accepted day, and `details.kept_after` is the first accepted publication. '
      + 'For a withdrawn region, only removed parcels are listed. On a database on several nodes, which keeps no history, the endpoint returns 501.',
    parameters: changesParameters,
    answer: changesAnswer,
    errors: ['NOT_FOUND', 'GONE', 'NO_HISTORY'],
    missing: refusal.NO_REGION('Molise'),
    gone: refusal.CHANGES_GONE('2026-01-31', 41),
    example: { region: 'molise', since: '2026-01-31' },
    otherExamples: { cursor: '41.1400000000', limit: '1000' },
    refused: { region: 'molise', since: 'yesterday' },
    lookup: (reader, { region, ...query }) => page(reader, regionOf(region), query),
  }),
  endpoint({
    path: '/changes/publications/{publication}',
    operation: 'getPublication',
    scope: 'parcels:read',
    summary: 'Count the parcels that a publication changed',
    description: 'Returns the numbers of parcels that a publication, rollback or withdrawal added, removed, changed and left unchanged, by comune, and the last day that each '
      + 'source describes. A publication of the national lists (of comuni, for example) has numbers for each region.',
    parameters: feedParameters,
    pathParameters: publicationPath,
    answer: countsAnswer,
    errors: ['NOT_FOUND'],
    missing: refusal.NO_PUBLICATION(42),
    example: { publication: '42' },
    otherExamples: { region: 'molise' },
    refused: { region: '' },
    lookup: async (reader, { region }, { publication }) => {
      const found = await reader.call<Answer>('select publication, answer from api.publication_counts($1, $2)', [publication, region === undefined ? null : regionOf(region).code]);
      if (found.answer === null) throw refusal.NO_PUBLICATION(publication);
      return found;
    },
  }),
];

/** The feed needs no key, because the feed has no parcel data. */
export const FEED_ENDPOINT: Described = {
  path: '/changes/feed.atom',
  operation: 'getPublicationFeed',
  scope: null,
  summary: 'Feed of publications',
  description: `Returns the last ${ENTRIES} publications, rollbacks and withdrawals as an Atom feed, newest first, with numbers of parcels and the last day that each source describes.`,
  parameters: feedParameters,
  pathParameters: noParameters,
  answer: feed,
  type: 'application/atom+xml; charset=utf-8',
  errors: [],
  example: {},
  otherExamples: { region: 'molise' },
  refused: { region: '' },
};

/** @param base base URL for links @throws ApiError `INVALID_PARAMS`; MappaleError (kind `database`) */
export async function publicationFeed(reader: Reader, { region: named }: z.output<typeof feedParameters>, base: string): Promise<Omit<Answer, 'answer'> & { readonly text: string }> {
  const region = named === undefined ? null : regionOf(named);
  const { publication, answer } = await reader.call<Answer>('select publication, answer from api.publication_feed($1, $2)', [region?.code ?? null, ENTRIES]);
  return { publication, text: feedOf(JSON.parse(answer ?? '[]') as Entry[], region, base) };
}
