/** Writes Prometheus metrics of the published data and the last refresh. The API server and the text file of a refresh use the same metric names. */
import { writeFile } from 'node:fs/promises';
import { Counter, Gauge, Registry } from 'prom-client';
import { CLOCK } from '../clock.ts';
import { findRegion, regionSlug } from '../contract/regions.ts';
import type { Database } from '../db/index.ts';
import { one } from '../db/types.ts';
import { writeAtomically } from '../formats/atomic-write.ts';

/** Result of `api.published_state`. Times are seconds since 1970. */
export interface PublishedState {
  readonly regions: readonly { readonly code: number; readonly published: number; readonly age: number; readonly parcels: number }[];
  readonly sources: readonly { readonly id: string; readonly records: number; readonly rejects: number }[];
  /** Numbers of added columns and of possibly incomplete exports in current files, by source and region. Region 0 is Italy. */
  readonly warnings: readonly { readonly source: string; readonly region: number; readonly columns: number; readonly cutExports: number }[];
  /** Last success of each published region: the time of the current publication, or the end of a later run with exit code 0 or 3 that checked the region. */
  readonly succeeded: readonly { readonly region: number; readonly ended: number }[];
  /** Failures of the last run. `region` is a slug. A null region or source means that the failure concerns several regions or sources, or none. */
  readonly failures: readonly { readonly region: string | null; readonly source: string | null; readonly exitCode: number }[];
  /** Number of publications that the quality gate refused, in all runs in the ledger. */
  readonly refusals: readonly { readonly region: string | null; readonly section: string; readonly count: number }[];
  /** Regions that are pinned, withdrawn or rolled back; 0 for Italy. */
  readonly held: readonly number[];
  readonly databaseBytes: number;
  readonly previousBytes: number;
  /** Last refresh; null if there was no refresh. */
  readonly refreshed: { readonly exitCode: number; readonly ended: number } | null;
}

/** State of a database. If the database does not answer, only `refreshed` has content. */
type DescribedState = PublishedState | Pick<PublishedState, 'regions' | 'sources' | 'warnings' | 'refreshed'>;

/** Results of the downloads by `watch`, for each source. */
export type Downloads = readonly {
  readonly source: string;
  /** Time when all files of the source were last requested, in seconds since 1970; null if never. */
  readonly asked: number | null;
  /** Numbers of failed files and of received bytes in the last nightly run. */
  readonly failed: number;
  readonly bytes: number;
}[];

/** SQL statement that reads the state. Every role that may execute the API functions may run this statement. */
export const STATE_STATEMENT = 'select state from api.published_state()';

/**
 * Describes the state in Prometheus' text format.
 * @param read `later` if the text is read later from a file. Ages are then left out, because ages would be outdated
 * @param downloads null if this program downloads nothing
 */
export function describeState(state: DescribedState, read: 'now' | 'later', downloads: Downloads | null = null): Promise<string> {
  const { regions, sources, warnings, refreshed } = state;
  const registry = new Registry();
  const gauge = <L extends string>(name: string, help: string, labels: readonly L[], values: readonly (readonly [Record<L, string>, number])[]): void => {
    const made = new Gauge({ name: `mappale_${name}`, help, labelNames: labels, registers: [registry] });
    for (const [label, value] of values) made.set(label, value);
  };
  const ofRegion = (code: number): { region: string } => ({ region: findRegion(code)?.slug ?? String(code) });
  if (refreshed !== null) {
    gauge('last_run_exit_code', 'Exit code of the last refresh (0: done).', [], [[{}, refreshed.exitCode]]);
    gauge('last_run_timestamp_seconds', 'Time of the last refresh that changed something, or that wrote these metrics.', [], [[{}, refreshed.ended]]);
  }
  gauge('published_timestamp_seconds', 'Time of the current publication.', ['region'], regions.map(({ code, published }) => [ofRegion(code), published]));
  if (read === 'now') gauge('published_age_seconds', 'Age of the current publication.', ['region'], regions.map(({ code, age }) => [ofRegion(code), age]));
  gauge('parcels', 'Number of current parcels.', ['region'], regions.map(({ code, parcels }) => [ofRegion(code), parcels]));
  gauge('records', 'Records of loaded releases.', ['source'], sources.map(({ id, records }) => [{ source: id }, records]));
  gauge('rejects', 'Records refused in loaded releases.', ['source'], sources.map(({ id, rejects }) => [{ source: id }, rejects]));
  gauge('schema_warnings', 'Columns that publishers added to files in use and that this version does not read.', ['source', 'region'],
    warnings.flatMap(({ source, region, columns }) => (columns === 0 ? [] : [[{ source, region: regionSlug(region) }, columns] as const])));
  gauge('cut_exports', 'Files in use that may be incomplete exports of a web service.', ['source', 'region'],
    warnings.flatMap(({ source, region, cutExports }) => (cutExports === 0 ? [] : [[{ source, region: regionSlug(region) }, cutExports] as const])));
  if ('held' in state) {
    gauge('last_success_timestamp_seconds', 'Time of the last run with exit code 0 or 3 that published or checked the region.', ['region'],
      state.succeeded.map(({ region, ended }) => [ofRegion(region), ended]));
    gauge('last_failure_code', 'Exit code of a failure in the last run, by region and source; none without failures.', ['region', 'source'],
      state.failures.map(({ region, source, exitCode }) => [{ region: region ?? '', source: source ?? '' }, exitCode]));
    gauge('region_held', '1 if the region is pinned, withdrawn or rolled back, 0 for any other published region.', ['region'],
      [...new Set([...regions.map(({ code }) => code), ...state.held])].map((region) => [{ region: regionSlug(region) }, state.held.includes(region) ? 1 : 0]));
    gauge('database_bytes', 'Size of the database.', [], [[{}, state.databaseBytes]]);
    gauge('previous_bytes', 'Size of the previous publications, which rollback needs.', [], [[{}, state.previousBytes]]);
    const refusals = new Counter({ name: 'mappale_gate_refusals_total', help: 'Publications that the quality gate refused, in the runs that the ledger keeps.', labelNames: ['region', 'section'], registers: [registry] });
    for (const { region, section, count } of state.refusals) refusals.inc({ region: region ?? '', section }, count);
  }
  if (downloads !== null) {
    const asked = downloads.flatMap(({ source, asked: at }) => (at === null ? [] : [[{ source }, at] as const]));
    gauge('download_asked_timestamp_seconds', 'Time when all files of the source were last requested.', ['source'], asked);
    gauge('download_failed_files', 'Number of files that could not be downloaded in the last run.', ['source'], downloads.map(({ source, failed }) => [{ source }, failed]));
    gauge('download_received_bytes', 'Bytes received in the last run.', ['source'], downloads.map(({ source, bytes }) => [{ source }, bytes]));
  }
  return registry.metrics();
}

/**
 * Writes a file for node exporter's textfile collector. Replaces the file atomically, so that the collector never reads an incomplete file.
 * @param database null if the database does not answer. Metrics of the database are then left out
 * @param exitCode exit code of the refresh that ends now
 */
export async function writeMetrics(database: Database | null, path: string, exitCode: number, downloads: Downloads | null = null): Promise<void> {
  const { state } = database === null ? { state: { regions: [], sources: [], warnings: [] } } : await one<{ state: PublishedState }>(database, STATE_STATEMENT);
  const refreshed = { exitCode, ended: Math.floor(CLOCK.now() / 1000) };
  const text = await describeState({ ...state, refreshed }, 'later', downloads);
  await writeAtomically(path, (unfinished) => writeFile(unfinished, text));
}
