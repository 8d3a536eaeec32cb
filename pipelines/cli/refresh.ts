import type { Command } from 'commander';
import { expandPath } from '../config.ts';
import { withContext, type Context } from '../run/context.ts';
import { exitCodeOf, refresh } from '../run/refresh.ts';
import { acceptance, collectPaths, command, parseCount, parseRegion, print } from './command.ts';
import { describe } from './refresh-report.ts';

export interface RefreshArguments {
  readonly data?: string[];
  readonly parallel: number;
  readonly accept?: string;
  readonly force?: boolean;
  readonly beside?: boolean;
  readonly json?: boolean;
}

/** A command that loads what came and publishes what changed, with the options of all such commands. */
export function refreshing(name: string, purpose: string, examples: readonly string[]): Command {
  return command(name, purpose, examples)
    .option('--data <folder>', 'folder with downloaded files, searched recursively; may be given more than once', collectPaths)
    .option('--parallel <n>', 'releases, regions or tables of a region at the same time', parseCount, 2)
    .option('--accept <reason>', 'publish although the quality gate refuses; who, why and the figures are kept in the ledger')
    .option('--force', 'start although the disk seems too small')
    .option('--beside', 'work at the same time as other loads that are given it, on any host: one reads files at a time, each region is built by one')
    .option('--json', 'print the report as JSON');
}

/** Folders that are named, or the one that is not. */
export function foldersOf({ data = ['data'] }: { readonly data?: readonly string[] }): string[] {
  return data.map(expandPath);
}

/** Brings regions up to date, and prints the report. @param more what stands below it for people @returns the exit code */
export async function bringUpToDate(
  context: Context, name: string, { parallel, accept, force, beside, json }: RefreshArguments, data: readonly string[], regions: readonly number[] | null,
  more: () => Promise<string> = async () => '',
): Promise<number> {
  const report = await refresh(context, {
    command: name, data, regions, parallel, accept: acceptance(context, accept), force: force === true, beside: beside === true,
  });
  const below = await more();
  print(json, report, () => `${describe(report)}${below}`);
  return exitCodeOf(report);
}

export function refreshCommand(): Command {
  return refreshing('refresh', 'Bring every region up to date: find new files, rebuild what is stale, check, publish region by region.', [
    'mappale refresh --data /srv/downloads',
    'mappale refresh molise puglia --data /srv/downloads',
    'mappale refresh --data /srv/downloads --accept "ISTAT merged three comuni, checked by hand"',
  ])
    .argument('[regions...]', 'names or ISTAT codes; none: all that are in the data or published')
    .option('--metrics <file>', 'write the state as a Prometheus text file')
    .action(async (regions: string[], options: RefreshArguments & { metrics?: string }) => {
      const units = regions.length === 0 ? null : regions.map((name) => parseRegion(name).code);
      process.exitCode = await withContext({ access: 'write' }, async (context) => {
        const code = await bringUpToDate(context, 'refresh', options, foldersOf(options), units);
        // What writes figures is loaded when it is asked for.
        if (options.metrics !== undefined) await (await import('../operate/metrics.ts')).writeMetrics(context.database, expandPath(options.metrics), code);
        return code;
      });
    });
}
