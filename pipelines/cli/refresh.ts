import type { Command } from 'commander';
import { expandPath } from '../config.ts';
import { withContext } from '../run/context.ts';
import { writeMetrics } from '../operate/metrics.ts';
import { exitCodeOf, refresh } from '../run/refresh.ts';
import { acceptance, collectPaths, command, parseCount, parseRegion, print } from './command.ts';
import { describe } from './load-region.ts';

export function refreshCommand(): Command {
  return command('refresh', 'Bring every region up to date: find new files, rebuild what is stale, check, publish region by region.', [
    'mappale refresh --data /srv/downloads',
    'mappale refresh molise puglia --data /srv/downloads',
    'mappale refresh --data /srv/downloads --accept "ISTAT merged three comuni, checked by hand"',
  ])
    .argument('[regions...]', 'names or ISTAT codes; none: all that are in the data or published')
    .option('--data <folder>', 'folder with downloaded files; may be given more than once', collectPaths)
    .option('--parallel <n>', 'releases or regions at the same time', parseCount, 2)
    .option('--accept <reason>', 'publish although the quality gate refuses; who, why and the figures are kept in the ledger')
    .option('--metrics <file>', 'write the state as a Prometheus text file')
    .option('--force', 'start although the disk seems too small')
    .option('--json', 'print the report as JSON')
    .action(async (regions: string[], options: { data?: string[]; parallel: number; accept?: string; force?: boolean; metrics?: string; json?: boolean }) => {
      process.exitCode = await withContext({ access: 'write' }, async (context) => {
        const report = await refresh(context, {
          command: 'refresh', data: (options.data ?? ['data']).map(expandPath), regions: regions.length === 0 ? null : regions.map((name) => parseRegion(name).code),
          parallel: options.parallel, accept: acceptance(context, options.accept), force: options.force === true,
        });
        print(options.json, report, () => describe(report, null));
        if (options.metrics !== undefined) await writeMetrics(context.database, expandPath(options.metrics), exitCodeOf(report));
        return exitCodeOf(report);
      });
    });
}
