import type { Command } from 'commander';
import type { Context } from '../pipelines/run/context.ts';
import type { Violation } from '../pipelines/build/gate-rule.ts';
import { regionName, regionSlug } from '../pipelines/contract/regions.ts';
import { SECTIONS } from '../pipelines/contract/sections.ts';
import type { Database } from '../pipelines/db/index.ts';
import { statementsOf } from '../pipelines/db/statements.ts';
import { describeHold, holds } from '../pipelines/ledger/hold.ts';
import { Inventory } from '../pipelines/ledger/inventory.ts';
import { schemaWarnings } from '../pipelines/ledger/ledger.ts';
import { deadRuns } from '../pipelines/ledger/runs.ts';
import { vintageText } from '../pipelines/contract/vintage.ts';
import { leftOutByRegion } from '../pipelines/run/left-out.ts';
import { textTable } from '../pipelines/text-table.ts';
import { command, look } from './command.ts';
import { describeLeftOut, describeWarnings } from './refresh-report.ts';

const operate = statementsOf('operate');

export function statusCommand(): Command {
  return command('status', ['mappale status', 'mappale status --json'])
    .option('--json', 'print as JSON')
    .action((options: { json?: boolean }) => look(options, async (context) => {
      const status = await readStatus(context);
      return [status, () => describe(status)];
    }));
}

/** A current publication, with the row counts of its tables and the ids of its sources. */
type Published = {
  readonly unit: number;
  readonly publication: number;
  readonly published_at: string;
  /** Reason that a user gave to publish although the quality gate refused. Null: the quality gate accepted the publication. */
  readonly reason: string | null;
  /** User and time of the acceptance, and the statistics that the quality gate refused. */
  readonly accepted: { readonly who: string; readonly at: string; readonly figures: readonly Violation[] } | null;
  /** Number of rows of each table. */
  readonly tables: Readonly<Record<string, number>>;
  readonly sources: readonly string[];
};

type ReleaseRow = { readonly source: string; readonly vintage: string; readonly state: string }
  & Readonly<Record<'region' | 'records' | 'rows' | 'rejects' | 'duplicates', number | null>>;

type RunRow = Readonly<{ run: number; command: string; started_at: string; outcome: string | null; exit_code: number | null }>;

type Status = Awaited<ReturnType<typeof readStatus>>;

export async function readStatus({ database, sources }: Context) {
  const published = await database.query<Published>(operate('published_tables'));
  const inventory = await Inventory.read(database, sources);
  const dead = await deadRuns(database);
  const leftOut = await leftOutByRegion(database);
  const regions = [0, ...published.map(({ unit }) => unit).filter((region) => region > 0)];
  return {
    database: database.label,
    /** Current files that are missing from the data folders. */
    left: [...new Set(regions.flatMap((region) => inventory.used(region)))].filter(({ present }) => !present)
      .map(({ name, sourceId, vintage }) => ({ name, source: sourceId, vintage })),
    /** Regions that a refresh keeps unchanged. */
    held: [...(await holds(database)).values()].map(({ region, kind, reason, heldBy, heldAt }) => ({ unit: region, kind, reason, heldBy, heldAt })),
    regions: published.map(({ sources: used, ...region }) => ({
      ...region,
      name: regionName(region.unit),
      parcels: region.tables['core.parcel'] ?? 0,
      /** Files that the last refresh of the region could not use, with the affected sections. */
      left_out: (leftOut.get(region.unit) ?? []).flatMap((each) => {
        const sections = each.regions.find(({ unit }) => unit === region.unit)?.sections;
        const { source, vintage, files, failure: { error, message } } = each;
        return sections === undefined ? [] : [{ source, vintage, files, error, message, sections }];
      }),
      /** Sources, except reference sources, that no table of the publication uses. */
      not_loaded: region.unit === 0 ? [] : sources.filter(({ id, manifest }) => manifest.reference !== true && !used.includes(id)).map(({ id }) => id),
    })),
    /** Parcels without values of a raster section, because the raster was missing when the parcels were built. */
    unread: await unreadParcels(database),
    /** Warnings about files of current publications: added columns, and exports that may be truncated. */
    warnings: await schemaWarnings(database),
    releases: await database.query<ReleaseRow>(operate('releases')),
    runs: (await database.query<RunRow>(operate('last_runs'))).map((row) => ({ ...row, outcome: row.outcome ?? (dead.has(row.run) ? 'interrupted' : null) })),
  };
}

async function unreadParcels(database: Database): Promise<{ readonly section: string; readonly unit: number; readonly parcels: number }[]> {
  const swept = SECTIONS.flatMap(({ name, tables }) => Object.entries(tables).flatMap(([relation, { columns }]) => ('unread' in columns ? [{ name, relation }] : [])));
  const found = swept.map(async ({ name, relation }) => {
    const [schema = '', table = ''] = relation.split('.');
    const counts = await database.query<{ unit: number; parcels: number }>(operate('unread', { table: { schema, table } }));
    return counts.map(({ unit, parcels }) => ({ section: name, unit, parcels }));
  });
  return (await Promise.all(found)).flat();
}

/** Returns the status as text. */
export function describe({ database, regions, held, left, unread, warnings, releases, runs }: Status): string {
  const lines = [`database: ${database}`];
  if (regions.length === 0) lines.push('no region is published yet. To load a region, run: npx mappale load-region');
  for (const { name, publication, published_at, tables, reason, accepted, unit, left_out, not_loaded } of regions) {
    const rows = Object.entries(tables).sort(([a], [b]) => (a < b ? -1 : 1)).map(([table, count]) => [`  ${table}`, count]);
    lines.push('', `${name}: publication ${publication} of ${published_at}`, textTable(rows, ['  table', 'rows']));
    const by = accepted === null ? '' : ` by ${accepted.who}, although the quality gate refused ${accepted.figures.length} statistics`;
    if (reason !== null) lines.push(`  accepted${by}: ${reason}`);
    if (not_loaded.length > 0) lines.push(`  not loaded: ${not_loaded.join(', ')}`);
    const noted = left_out.map(({ error, message, sections, ...each }) => ({ ...each, failure: { error, message }, regions: [{ unit, name, sections }] }));
    lines.push(...describeLeftOut(noted).map((line) => `  ${line}`));
  }
  for (const hold of held) lines.push('', `${regionName(hold.unit)}: ${describeHold(hold)} (npx mappale unpin ${regionSlug(hold.unit)})`);
  if (left.length > 0) lines.push('', ...left.map(({ name, source, vintage }) => `still used, but missing from the data folders: ${name} (${source} ${vintageText(vintage)})`));
  for (const { section, unit, parcels } of unread) {
    lines.push('', `${regionName(unit)}: ${parcels} parcels without ${section}, because the raster was missing when these parcels were built (restore the raster and run npx mappale refresh)`);
  }
  if (warnings.length > 0) lines.push('', ...describeWarnings(warnings));
  if (releases.length > 0) {
    lines.push('', textTable(releases.map((r) => [r.source, vintageText(r.vintage), r.region === null ? '' : regionName(r.region), r.state, r.records, r.rows, r.rejects, r.duplicates]),
      ['source', 'vintage', 'region', 'state', 'records', 'rows', 'rejects', 'duplicates']));
  }
  if (runs.length > 0) {
    lines.push('', textTable(runs.map((r) => [String(r.run), r.command, r.started_at, r.outcome ?? 'running', String(r.exit_code ?? '')]),
      ['run', 'command', 'started', 'outcome', 'exit']));
  }
  return lines.join('\n');
}
