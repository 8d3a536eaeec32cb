import type { Command } from 'commander';
import { CLOCK } from '../pipelines/clock.ts';
import { expandPath, readConfig, readProxies, sourceSettings } from '../pipelines/config.ts';
import { loadSources } from '../pipelines/contract/registry.ts';
import { MappaleError } from '../pipelines/errors.ts';
import { mustBePlace } from '../pipelines/formats/atomic-write.ts';
import { makeLog } from '../pipelines/log.ts';
import { withContext } from '../pipelines/run/context.ts';
import { collectPaths, command, parallelOption, parseRegion, MOST_MONTHS, parseWithin } from './command.ts';
import { continueWithoutOutput } from './output.ts';
import { foldersOf } from './refresh.ts';
import { retyped, withOption } from '../pipelines/typed.ts';

interface Options {
  readonly data?: string[];
  readonly parallel: number;
  readonly once?: boolean;
  readonly at: string;
  readonly webhook?: string;
  readonly webhookPrivate?: boolean;
  readonly metricsFile?: string;
  readonly keep?: number;
  readonly json?: boolean;
}

export function watchCommand(): Command {
  return command('watch', [
    'mappale watch molise --data /srv/downloads',
    'mappale watch --once --data /srv/downloads --metrics-file /var/lib/prometheus/node-exporter/mappale.prom',
    'MAPPALE_LOG=json mappale watch molise puglia --data /srv/downloads --webhook https://chat.example.org/hooks/mappale',
  ])
    .argument('[regions...]', 'names or ISTAT codes; default: all published regions')
    .option('--data <folder>', 'data folder; repeatable; downloads are saved in the first folder, other folders may contain files that you add', collectPaths)
    .addOption(parallelOption())
    .option('--once', 'run once and exit with the exit code of this run, for cron and timers')
    .option('--at <time>', 'local time of the nightly run; the first run starts at once', parseTime, '02:15')
    .option('--webhook <url>', 'POST the summary as JSON to this URL; if this fails, the command only prints a warning', parseAddress)
    .option('--webhook-private', 'allow a webhook whose host name resolves to a private address')
    .option('--keep <months>', 'prune after each run, and keep this number of months of history and of the ledger; default: no pruning', parseWithin(0, MOST_MONTHS))
    .option('--metrics-file <file>', 'write metrics to a Prometheus text file after each run')
    .option('--json', 'print each summary as JSON on one line, as with MAPPALE_LOG=json')
    .action(async (names: string[], options: Options) => {
      // Modules with the HTTP client and the metrics writer are imported only here, because other commands start faster without these modules.
      const { describeNight, sleepUntil, runNight, untilNext } = await import('../pipelines/operate/watch.ts');
      const config = readConfig();
      const [first = '', ...others] = foldersOf(options);
      const regions = names.map(parseRegion);
      // The command prints one line per night. Other messages are printed only if they are warnings.
      const log = Object.assign(makeLog(config, process.stderr), { debug: () => undefined, info: () => undefined, progress: () => undefined });
      const sources = await loadSources();
      const metrics = options.metricsFile === undefined ? null : expandPath(options.metricsFile);
      if (metrics !== null) await mustBePlace(metrics, '--metrics-file');
      continueWithoutOutput();
      // SIGHUP ends the program only after the current run, even if the signal is sent again. A closed terminal or a log rotation therefore does not
      // interrupt a run.
      const ending = new AbortController();
      process.on('SIGHUP', () => ending.abort());
      for (;;) {
        const line = await runNight({ sources, settings: sourceSettings, proxies: readProxies(), log, open: (work) => withContext({ access: 'write', log }, work) }, {
          regions: regions.length === 0 ? null : regions, data: [first, ...others], parallel: options.parallel, webhook: options.webhook ?? null,
          webhookPrivate: options.webhookPrivate === true, metrics, keep: options.keep ?? null,
        });
        process.stdout.write(`${options.json === true || config.log === 'json' ? JSON.stringify(line) : describeNight(line)}\n`);
        if (options.once === true) {
          process.exitCode = line.exit_code;
          return;
        }
        const ended = CLOCK.now();
        await sleepUntil(ended + untilNext(options.at, new Date(ended)), CLOCK, ending.signal);
        if (ending.signal.aborted) return;
      }
    });
}

/** @throws MappaleError `TIME_EXPECTED` (exit 2) */
function parseTime(text: string): string {
  if (/^(?:[01]\d|2[0-3]):[0-5]\d$/.test(text)) return text;
  throw new MappaleError('a time of day is required', { code: 'TIME_EXPECTED', kind: 'usage', detail: `expected hours and minutes such as 02:15, found ${text}`, hint: 'Omit --at for 02:15.', fix: retyped(withOption('--at', '02:15'), 'npx mappale watch --at 02:15') });
}

/** @throws MappaleError `ADDRESS_EXPECTED` (exit 2) */
function parseAddress(text: string): string {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text;
  throw new MappaleError('--webhook needs a URL', { code: 'ADDRESS_EXPECTED', kind: 'usage', detail: 'expected http://… or https://…, found a different scheme', hint: 'Give the complete URL, or omit --webhook.', fix: retyped(withOption('--webhook', 'https://HOST/PATH'), 'npx mappale watch --webhook https://HOST/PATH') });
}
