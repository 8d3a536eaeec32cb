import type { Command } from 'commander';
import { withContext, type Context } from '../run/context.ts';
import type { Offence } from '../build/gate-rule.ts';
import { unitName } from '../contract/regions.ts';
import { holds } from '../ledger/hold.ts';
import { Inventory } from '../ledger/inventory.ts';
import { command, print, table } from './command.ts';

export function statusCommand(): Command {
  return command('status', 'What is published, from which releases, and how the last runs ended.', ['mappale status', 'mappale status --json'])
    .option('--json', 'print as JSON')
    .action(async (options: { json?: boolean }) => {
      await withContext({ access: 'read' }, async (context) => {
        const status = await readStatus(context);
        print(options.json, status, () => describe(status));
      });
    });
}

export interface Status {
  readonly database: string;
  readonly regions: readonly {
    readonly unit: number; readonly name: string; readonly publication: number; readonly published_at: string; readonly parcels: number;
    /** Why it was published although the quality gate refused, who said so, and the figures; null: it did not refuse. */
    readonly reason: string | null;
    readonly accepted: { readonly who: string; readonly at: string; readonly figures: readonly Offence[] } | null;
    readonly tables: Readonly<Record<string, number>>;
    /** Sources whose layers the sections could use and that were not loaded. */
    readonly not_loaded: readonly string[];
  }[];
  readonly releases: readonly { readonly source: string; readonly vintage: string; readonly region: number | null; readonly state: string; readonly records: number | null; readonly rows: number | null; readonly rejects: number | null; readonly duplicates: number | null }[];
  /** Files in force that are not in the data folders any more. */
  readonly left: readonly { readonly name: string; readonly source: string; readonly vintage: string }[];
  /** Regions that a refresh leaves as they are. */
  readonly held: readonly { readonly unit: number; readonly kind: string; readonly reason: string | null; readonly heldBy: string; readonly heldAt: string }[];
  readonly runs: readonly { readonly run: number; readonly command: string; readonly started_at: string; readonly outcome: string | null; readonly exit_code: number | null }[];
}

export async function readStatus(context: Context): Promise<Status> {
  const { database, sources } = context;
  const regions = await database.query<{ unit: number; publication: number; published_at: string; reason: string | null; accepted: Status['regions'][number]['accepted']; tables: Record<string, number>; sources: string[] }>(
    `select p.unit_code::int4 as unit, p.publication_id as publication, to_char(p.published_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as published_at, p.reason, p.accepted,
       (select jsonb_object_agg(t.relation, t.rows) from ledger.publication_table t where t.publication_id = p.publication_id) as tables,
       array(select distinct split_part(i, ' ', 1) from ledger.publication_table t, jsonb_object_keys(t.inputs) i where t.publication_id = p.publication_id) as sources
     from ledger.publication p where p.state = 'current' order by p.unit_code`,
  );
  const releases = await database.query<Status['releases'][number] & Record<string, unknown>>(
    'select source_id as source, vintage, region_code::int4 as region, state, records, rows, rejects, duplicates from ledger.release order by source_id, vintage, release_id',
  );
  const runs = await database.query<Status['runs'][number] & Record<string, unknown>>(
    `select run_id as run, command, to_char(started_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as started_at, outcome, exit_code::int4 as exit_code
     from ledger.run order by run_id desc limit 5`,
  );
  const inventory = await Inventory.read(database, sources);
  const units = [0, ...regions.map(({ unit }) => unit).filter((unit) => unit > 0)];
  const left = [...new Set(units.flatMap((unit) => inventory.used(unit)))].filter(({ present }) => !present).map(({ name, sourceId, vintage }) => ({ name, source: sourceId, vintage }));
  return {
    database: database.label,
    left,
    held: [...(await holds(database)).values()].map(({ unit, kind, reason, heldBy, heldAt }) => ({ unit, kind, reason, heldBy, heldAt })),
    regions: regions.map(({ sources: used, ...region }) => ({
      ...region,
      name: unitName(region.unit),
      parcels: region.tables['core.parcel'] ?? 0,
      not_loaded: region.unit === 0 ? [] : sources.filter(({ id, manifest }) => manifest.reference !== true && !used.includes(id)).map(({ id }) => id),
    })),
    releases,
    runs,
  };
}

function describe(status: Status): string {
  const lines = [`database: ${status.database}`];
  if (status.regions.length === 0) lines.push('nothing is published yet; try: npx mappale load-region');
  for (const region of status.regions) {
    lines.push('', `${region.name}: publication ${region.publication} of ${region.published_at}`,
      table(Object.entries(region.tables).sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, rows]) => [`  ${name}`, rows]), ['  table', 'rows']));
    if (region.reason !== null) {
      const by = region.accepted === null ? '' : ` by ${region.accepted.who}, although ${region.accepted.figures.length} figures were refused`;
      lines.push(`  accepted${by}: ${region.reason}`);
    }
    if (region.not_loaded.length > 0) lines.push(`  not loaded: ${region.not_loaded.join(', ')}`);
  }
  for (const { unit, kind, reason, heldBy, heldAt } of status.held) lines.push('', `${unitName(unit)}: ${kind.replace('_', ' ')} by ${heldBy} on ${heldAt.slice(0, 10)}${reason === null ? '' : `: ${reason}`} (mappale unpin ${unitName(unit)})`);
  if (status.left.length > 0) lines.push('', ...status.left.map(({ name, source, vintage }) => `in force, not in the data folders any more: ${name} (${source} ${vintage})`));
  if (status.releases.length > 0) {
    lines.push('', table(status.releases.map((r) => [r.source, r.vintage, r.region === null ? '' : unitName(r.region), r.state, r.records, r.rows, r.rejects, r.duplicates]),
      ['source', 'vintage', 'region', 'state', 'records', 'rows', 'rejects', 'duplicates']));
  }
  if (status.runs.length > 0) {
    lines.push('', table(status.runs.map((r) => [String(r.run), r.command, r.started_at, r.outcome ?? 'running', r.exit_code === null ? '' : String(r.exit_code)]), ['run', 'command', 'started', 'outcome', 'exit']));
  }
  return lines.join('\n');
}
