/** What is published and how the last refresh ended, as figures for Prometheus: one list of names, for the server and for the text file of a refresh. */
import { writeFile } from 'node:fs/promises';
import { Counter, Gauge, Registry } from 'prom-client';
import { CLOCK } from '../clock.ts';
import { findRegion, unitSlug } from '../contract/regions.ts';
import type { Database } from '../db/index.ts';
import { one } from '../db/types.ts';
import { writeAtomically } from '../formats/atomic-write.ts';

/** As `api.published_state` tells it. Moments are seconds since 1970. */
export interface PublishedState {
  readonly regions: readonly { readonly code: number; readonly published: number; readonly age: number; readonly parcels: number }[];
  readonly sources: readonly { readonly id: string; readonly records: number; readonly rejects: number }[];
  /** Columns that publishers added to files in use, and files in use that may be cut exports, counted by source and region; region 0: Italy. */
  readonly warnings: readonly { readonly source: string; readonly region: number; readonly columns: number; readonly cutExports: number }[];
  /** Last successful run that published or looked at the region, with exit code 0 or 3. */
  readonly succeeded: readonly { readonly region: number; readonly ended: number }[];
  /** Failures of the last run. Region by slug; null: of no single region or source. */
  readonly failures: readonly { readonly region: string | null; readonly source: string | null; readonly exitCode: number }[];
  /** Publications that the quality gate refused in the runs of the ledger. */
  readonly refusals: readonly { readonly region: string | null; readonly section: string; readonly count: number }[];
  /** Regions that are pinned, withdrawn or rolled back; 0: Italy. */
  readonly held: readonly number[];
  readonly databaseBytes: number;
  readonly previousBytes: number;
  /** Null: never. */
  readonly refreshed: { readonly exitCode: number; readonly ended: number } | null;
}

/** State of a database, or what is known while it does not answer. */
type DescribedState = PublishedState | Pick<PublishedState, 'regions' | 'sources' | 'warnings' | 'refreshed'>;

/** What `watch` knows of each source that it downloads. */
export type Downloads = readonly {
  readonly source: string;
  /** When all its files were last asked for; null: never. */
  readonly asked: number | null;
  /** Files that could not be downloaded, and bytes that came, in the last turn. */
  readonly failed: number;
  readonly bytes: number;
}[];

/** Whoever may execute the interface may ask it. */
export const STATE_STATEMENT = 'select state from api.published_state()';

/**
 * @param aged whether the text is read now, so that ages are true
 * @param downloads null: this program does not download
 * @returns the state in Prometheus' text format
 */
export function describeState(state: DescribedState, aged: boolean, downloads: Downloads | null = null): Promise<string> {
  const { regions, sources, warnings, refreshed } = state;
  const registry = new Registry();
  const gauge = <L extends string>(name: string, help: string, labels: readonly L[], values: readonly (readonly [Record<L, string>, number])[]): void => {
    const made = new Gauge({ name: `mappale_${name}`, help, labelNames: labels, registers: [registry] });
    for (const [label, value] of values) made.set(label, value);
  };
  const ofRegion = (code: number): { region: string } => ({ region: findRegion(code)?.slug ?? String(code) });
  if (refreshed !== null) {
    gauge('last_run_exit_code', 'Exit code of the last refresh (0: done).', [], [[{}, refreshed.exitCode]]);
    gauge('last_run_timestamp_seconds', 'When the last refresh ended that had something to do, or that wrote this.', [], [[{}, refreshed.ended]]);
  }
  gauge('published_timestamp_seconds', 'When the region in force was published.', ['region'], regions.map(({ code, published }) => [ofRegion(code), published]));
  if (aged) gauge('published_age_seconds', 'How long ago the region in force was published.', ['region'], regions.map(({ code, age }) => [ofRegion(code), age]));
  gauge('parcels', 'Parcels in force.', ['region'], regions.map(({ code, parcels }) => [ofRegion(code), parcels]));
  gauge('records', 'Records of loaded releases.', ['source'], sources.map(({ id, records }) => [{ source: id }, records]));
  gauge('rejects', 'Records refused in loaded releases.', ['source'], sources.map(({ id, rejects }) => [{ source: id }, rejects]));
  gauge('schema_warnings', 'Columns that publishers added to files in use and that this version does not know.', ['source', 'region'],
    warnings.flatMap(({ source, region, columns }) => (columns === 0 ? [] : [[{ source, region: unitSlug(region) }, columns] as const])));
  gauge('cut_exports', 'Files in use that may be cut exports of a web service.', ['source', 'region'],
    warnings.flatMap(({ source, region, cutExports }) => (cutExports === 0 ? [] : [[{ source, region: unitSlug(region) }, cutExports] as const])));
  if ('held' in state) {
    gauge('last_success_timestamp_seconds', 'When a run that published the region, or found it up to date, last ended with exit code 0 or 3.', ['region'],
      state.succeeded.map(({ region, ended }) => [ofRegion(region), ended]));
    gauge('last_failure_code', 'Exit code of a failure in the last run, by region and source; none without failures.', ['region', 'source'],
      state.failures.map(({ region, source, exitCode }) => [{ region: region ?? '', source: source ?? '' }, exitCode]));
    gauge('region_held', 'Regions that are pinned, withdrawn or rolled back (1), and other published regions (0).', ['region'],
      [...new Set([...regions.map(({ code }) => code), ...state.held])].map((unit) => [{ region: unitSlug(unit) }, state.held.includes(unit) ? 1 : 0]));
    gauge('database_bytes', 'Size of the database.', [], [[{}, state.databaseBytes]]);
    gauge('previous_bytes', 'Size of the previous publications, which rollback needs.', [], [[{}, state.previousBytes]]);
    const refusals = new Counter({ name: 'mappale_gate_refusals_total', help: 'Publications that the quality gate refused, in the runs that the ledger keeps.', labelNames: ['region', 'section'], registers: [registry] });
    for (const { region, section, count } of state.refusals) refusals.inc({ region: region ?? '', section }, count);
  }
  if (downloads !== null) {
    const asked = downloads.flatMap(({ source, asked: at }) => (at === null ? [] : [[{ source }, at] as const]));
    gauge('download_asked_timestamp_seconds', 'When all files of the source were last asked for.', ['source'], asked);
    gauge('download_failed_files', 'Files that could not be downloaded in the last turn.', ['source'], downloads.map(({ source, failed }) => [{ source }, failed]));
    gauge('download_received_bytes', 'Bytes that came in the last turn.', ['source'], downloads.map(({ source, bytes }) => [{ source }, bytes]));
  }
  return registry.metrics();
}

/**
 * For node exporter's textfile collector: written beside and renamed, so that a collector never reads half a file.
 * @param database null: it does not answer, and nothing is said of what it holds
 * @param exitCode of the refresh that ends now
 */
export async function writeMetrics(database: Database | null, path: string, exitCode: number, downloads: Downloads | null = null): Promise<void> {
  const { state } = database === null ? { state: { regions: [], sources: [], warnings: [] } } : await one<{ state: PublishedState }>(database, STATE_STATEMENT);
  const refreshed = { exitCode, ended: Math.floor(CLOCK.now() / 1000) };
  const text = await describeState({ ...state, refreshed }, false, downloads);
  await writeAtomically(path, (unfinished) => writeFile(unfinished, text));
}
