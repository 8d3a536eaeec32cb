import { Option, type Command } from 'commander';
import { expandPath } from '../pipelines/config.ts';
import { withContext, type Context } from '../pipelines/run/context.ts';
import { exitCodeOf, refresh } from '../pipelines/run/refresh.ts';
import { acceptance, collectPaths, command, parallelOption, parseRegion, print } from './command.ts';
import { describe } from './refresh-report.ts';

export interface RefreshArguments {
  readonly data?: string[];
  readonly parallel: number;
  readonly accept?: string;
  readonly force?: boolean;
  readonly concurrent?: boolean;
  /** Name that the option `--concurrent` had before version 0.2. */
  readonly beside?: boolean;
  readonly json?: boolean;
}

/** Creates a command that loads new files and publishes changes. All commands of this kind share these options. */
export function refreshing(name: string, examples: readonly string[]): Command {
  return command(name, examples)
    .option('--data <folder>', 'folder with downloaded files, searched recursively; repeatable', collectPaths)
    .addOption(parallelOption())
    .option('--accept <reason>', 'publish even if the quality gate refuses; the ledger records user, reason and statistics')
    .option('--force', 'start even if the disk seems too small')
    .option('--concurrent', 'allow other runs with this option at the same time, on any host; these runs take turns to read files, and build different regions')
    .addOption(new Option('--beside', 'old name of --concurrent').hideHelp())
    .option('--json', 'print the report as JSON');
}

/** Returns the folders of `--data`, or the default folder. */
export function foldersOf({ data = ['data'] }: { readonly data?: readonly string[] }): string[] {
  return data.map(expandPath);
}

interface RefreshWork {
  /** Data folders to read. */
  readonly data: readonly string[];
  /** ISTAT codes. Null: all regions that have data or are published. */
  readonly regions: readonly number[] | null;
  /** Returns the text that is printed below the report. */
  readonly more?: () => Promise<string>;
}

/** Refreshes regions and prints a report. @returns the exit code */
export async function bringUpToDate(
  context: Context, name: string, { parallel, accept, force, concurrent, beside, json }: RefreshArguments, { data, regions, more = async () => '' }: RefreshWork,
): Promise<number> {
  if (beside === true) context.log.warn('`--beside` is now called `--concurrent`; the old name will be removed in the next version');
  const report = await refresh(context, {
    command: name, data, regions, parallel, accept: acceptance(context, accept), force: force === true, concurrent: concurrent === true || beside === true,
  });
  const below = await more();
  print(json, report, () => `${describe(report)}${below}`);
  return exitCodeOf(report);
}

export function refreshCommand(): Command {
  return refreshing('refresh', [
    'mappale refresh --data /srv/downloads',
    'mappale refresh molise puglia --data /srv/downloads',
    'mappale refresh --data /srv/downloads --accept "ISTAT merged three comuni, checked by hand"',
  ])
    .argument('[regions...]', 'names or ISTAT codes; default: all regions that have data or are published')
    .option('--metrics <file>', 'write metrics to a Prometheus text file')
    .action(async (regions: string[], options: RefreshArguments & { metrics?: string }) => {
      const codes = regions.length === 0 ? null : regions.map((name) => parseRegion(name).code);
      process.exitCode = await withContext({ access: 'write' }, async (context) => {
        const code = await bringUpToDate(context, 'refresh', options, { data: foldersOf(options), regions: codes });
        // The module is imported only if metrics are requested.
        if (options.metrics !== undefined) await (await import('../pipelines/operate/metrics.ts')).writeMetrics(context.database, expandPath(options.metrics), code);
        return code;
      });
    });
}
