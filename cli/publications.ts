/** Commands `pin`, `unpin`, `rollback`, `withdraw`, `forget` and `prune`, which manage published and loaded data. */
import type { Command } from 'commander';
import { rollback, withdraw } from '../pipelines/build/publish.ts';
import { regionName, regionSlug, type Region } from '../pipelines/contract/regions.ts';
import { releaseHold, setHold } from '../pipelines/ledger/hold.ts';
import { forget } from '../pipelines/operate/forget.ts';
import { prune } from '../pipelines/operate/prune.ts';
import { withContext } from '../pipelines/run/context.ts';
import { exitCodeOf } from '../pipelines/run/refresh.ts';
import { group } from '../pipelines/progress.ts';
import { acceptance, change, changeAtOnce, command, MOST_MONTHS, parseRegion, parseWithin, print } from './command.ts';
import { describe } from './refresh-report.ts';

const REGION = 'name or ISTAT code';

const REGION_OR_ITALY = `${REGION}; italia: the lists of regions, provinces and comuni`;

interface Options {
  readonly json?: boolean;
  readonly reason?: string;
}

function parseRegionOrItaly(name: string): number {
  return name.toLowerCase() === 'italia' ? 0 : parseRegion(name).code;
}

export function pinCommand(): Command {
  return command('pin', ['mappale pin molise --reason "until the new quotations are checked"'])
    .argument('<region>', REGION_OR_ITALY)
    .option('--reason <text>', 'reason, kept in the ledger and shown by plan and status')
    .option('--json', 'print as JSON')
    .action((name: string, options: Options) => {
      const region = parseRegionOrItaly(name);
      return changeAtOnce(options, async ({ database, config }) => {
        await setHold(database, { region, kind: 'pinned', fingerprint: null, reason: options.reason ?? null }, config.host);
        return [{ unit: region, pinned: true }, () => `${regionName(region)} is pinned. No run publishes this region, not even an active run. To undo this: npx mappale unpin ${regionSlug(region)}`];
      });
    });
}

export function unpinCommand(): Command {
  return command('unpin', ['mappale unpin molise'])
    .argument('<region>', REGION_OR_ITALY, parseRegionOrItaly)
    .option('--json', 'print as JSON')
    .action((region: number, options: Options) => changeAtOnce(options, async ({ database }) => {
      const held = await releaseHold(database, region, null);
      return [{ unit: region, held }, () => `${regionName(region)} ${held ? 'is no longer pinned, withdrawn or rolled back. The next refresh updates the region' : 'was neither pinned nor withdrawn nor rolled back'}`];
    }));
}

export function rollbackCommand(): Command {
  return command('rollback', [
    'mappale rollback molise', 'mappale rollback italia',
  ])
    .argument('<region>', REGION_OR_ITALY, parseRegionOrItaly)
    .option('--json', 'print as JSON')
    .action((region: number, options: Options) => change(options, 'rollback', { unit: region }, async ({ database }, run) => {
      const done = await rollback(database, region, run);
      const instead = done.from === null ? '' : ` instead of ${done.from}`;
      const changed = done.tables.length === 0 ? 'no table changed' : `changed: ${done.tables.join(', ')}`;
      return [done, () => `${regionName(region)}: publication ${done.to} is current again${instead}; ${changed}`];
    }));
}

export function withdrawCommand(): Command {
  return command('withdraw', [
    'mappale withdraw molise --reason "wrong perimeters"',
  ])
    .argument('<region>', REGION, parseRegion)
    .option('--reason <text>', 'reason, kept in the ledger and shown by status')
    .option('--json', 'print as JSON')
    .action(({ code, name, slug }: Region, options: Options) => change(options, 'withdraw', { unit: code }, async ({ database }, run) => {
      const done = await withdraw(database, code, run, options.reason ?? null);
      return [done, () => `${name}: publication ${done.publication} is withdrawn and no longer served. To restore the publication: npx mappale rollback ${slug}. `
        + `To let a refresh publish this region again: npx mappale unpin ${slug}`];
    }));
}

export function forgetCommand(): Command {
  return command('forget', [
    'mappale forget MOLISE.zip',
    'mappale forget ~/downloads/QI_294577_1_20182_VALORI.csv --reason "cut download" --accept "checked by hand"',
    'mappale forget MOLISE.zip --undo',
  ])
    .argument('<file>', 'path or name of the file, or the first characters of its SHA-256')
    .option('--undo', 'use the file again')
    .option('--reason <text>', 'reason, kept in the ledger')
    .option('--accept <reason>', 'publish even if the quality gate refuses; the ledger keeps the reason')
    .option('--json', 'print as JSON')
    .action(async (file: string, { undo = false, reason, accept, json }: Options & { undo?: boolean; accept?: string }) => {
      process.exitCode = await withContext({ access: 'write' }, async (context) => {
        const done = await forget(context, file, { undo, reason: reason ?? null, accept: acceptance(context, accept) });
        const names = [...new Set(done.files.map(({ name }) => name))].join(', ');
        const outcome = done.report.failures.length > 0 ? 'unchanged' : undo ? 'current again' : 'no longer used';
        const restored = done.restored.map((region) => `\n${regionName(region)}: the earlier publication is current again`).join('');
        print(json, done, () => `${names}: ${outcome}\n${describe(done.report)}${restored}`);
        return exitCodeOf(done.report);
      });
    });
}

export function pruneCommand(): Command {
  return command('prune', [
    'mappale prune --dry-run', 'mappale prune', 'mappale prune --keep 12',
  ])
    .option('--keep <months>', 'months of runs and of history (as_of, mappale history) to keep; default: all', parseWithin(0, MOST_MONTHS))
    .option('--dry-run', 'list what would be deleted, without deleting')
    .option('--json', 'print as JSON')
    .action((options: Options & { dryRun?: boolean; keep?: number }) => change(options, 'prune', options, async ({ database, sources }) => {
      const { dryRun = false, keep = null } = options;
      const pruned = await prune(database, sources, { dry: dryRun, keep });
      const [partitions, releases, workspaces] = [pruned.partitions.length, pruned.releases.length, pruned.workspaces.length];
      const history = pruned.history === null ? '' : `, ${group(pruned.history.rows)} rows of the history of ${pruned.history.swaps} publications`;
      return [pruned, () => `${dryRun ? 'would free' : 'freed'}: ${partitions} old partitions, ${releases} releases, ${workspaces} workspaces${history}`];
    }));
}
