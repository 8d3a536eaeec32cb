/** Provides functions that commands share, for common options, output as text or JSON, and access to the database. */
import { availableParallelism } from 'node:os';
import { extname } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { Command, Option } from 'commander';
import { openDatabase, type Database } from '../pipelines/db/index.ts';
import { VERSION } from '../pipelines/program.ts';
import { withContext, type Context } from '../pipelines/run/context.ts';
import { MappaleError } from '../pipelines/errors.ts';
import { isUnfinished } from '../pipelines/ingest/walk.ts';
import { findRegion, REGIONS, type Region } from '../pipelines/contract/regions.ts';
import { group } from '../pipelines/progress.ts';
import type { Acceptance } from '../pipelines/ledger/ledger.ts';
import { withRun } from '../pipelines/ledger/runs.ts';
import { usageExit } from './usage.ts';
import { asInstalled, didYouMean, nearest, retyped, withOption, withWord } from '../pipelines/typed.ts';

/**
 * Creates a command with examples. The one-line description of a command is in `commands.ts`, unless the command is a subcommand.
 * @param name full name, such as `serve`, or `token create` for a subcommand
 */
export function command(name: string, examples: readonly string[]): Command {
  return new Command(name.slice(name.lastIndexOf(' ') + 1))
    .exitOverride(usageExit)
    .configureHelp({ showGlobalOptions: true })
    .showHelpAfterError(asInstalled(`(see the examples: npx mappale ${name} --help)`))
    .addHelpText('after', `\nExamples:\n${examples.map((example) => `  $ ${example.replace(/(^|\s)mappale /, asInstalled('$1npx mappale '))}`).join('\n')}`);
}

/** Collects the values of a repeatable path option. */
export function collectPaths(path: string, before: readonly string[] = []): string[] {
  return [...before, path];
}

/** Returns the option `--parallel`, the maximum number of jobs that run at the same time. Each statement of a job uses one core of the database server. */
export function parallelOption(): Option {
  return new Option('--parallel <n>', 'number of releases, regions or tables to work on at the same time')
    .argParser(parseCount)
    .default(Math.min(4, Math.max(2, availableParallelism())), 'number of cores, at least 2 and at most 4');
}

/** @throws MappaleError `REGION_UNKNOWN` (exit 2), with the list of regions and the most similar name */
export function parseRegion(text: string): Region {
  const region = findRegion(text);
  if (region === undefined) {
    const slugs = REGIONS.map(({ slug }) => slug);
    const [meant = 'REGION'] = nearest(text, slugs);
    throw new MappaleError(`there is no region ${text}`, {
      code: 'REGION_UNKNOWN', kind: 'usage', detail: `expected one of ${slugs.join(', ')}, or a code 1–20`, hint: `${didYouMean(text, slugs)}Use one of these names.`,
      fix: retyped(withWord(text, meant), `npx mappale load-region ${meant}`),
    });
  }
  return region;
}

/** Returns the reason given with `--accept`, with user and host, or null without the option. @throws MappaleError `REASON_MISSING` (exit 2) */
export function acceptance({ config }: Context, why: string | undefined): Acceptance | null {
  if (why?.trim() === '') throw new MappaleError('--accept needs a reason', { code: 'REASON_MISSING', kind: 'usage', hint: 'Give a reason: --accept "ISTAT merged three comuni, checked by hand".', fix: retyped(withOption('--accept', 'REASON'), 'npx mappale refresh --accept REASON') });
  return why === undefined ? null : { who: `${config.user}@${config.host}`, why };
}

/** Returns a parser for a whole number within limits. @throws MappaleError `NUMBER_EXPECTED` (exit 2) */
export function parseWithin(minimum: number, maximum: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d{1,16}$/.test(text) && value >= minimum && value <= maximum) return value;
    const expected = maximum === Number.MAX_SAFE_INTEGER ? '' : `expected ${minimum}–${maximum}, `;
    throw new MappaleError('a whole number is expected', { code: 'NUMBER_EXPECTED', kind: 'usage', detail: `${expected}found ${text}`, hint: 'Give the number in digits.', fix: retyped(withWord(text, String(minimum)), 'npx mappale --help') });
  };
}

export const parseCount = parseWithin(0, Number.MAX_SAFE_INTEGER);

/** Prints a result as text or as one JSON document. */
export function print(json: boolean | undefined, value: unknown, text: () => string): void {
  process.stdout.write(json === true ? `${JSON.stringify(value, null, 2)}\n` : `${asInstalled(text())}\n`);
}

/** Result of a command: the value for JSON output, and a function that returns the text. */
export type Outcome = readonly [value: unknown, text: () => string];

/**
 * Makes this process compile WebAssembly once, without optimisation. With this setting, a short command on the embedded database takes half the CPU
 * time, and on Node 24 less than half the memory.
 */
export function compileOnce(): void {
  for (const flag of ['--liftoff-only', '--no-wasm-tier-up', '--no-wasm-dynamic-tiering']) setFlagsFromString(flag);
}

/** Runs a read-only command and prints its result. */
export function look({ json }: { json?: boolean }, work: (context: Context) => Promise<Outcome>): Promise<void> {
  compileOnce();
  return withContext({ access: 'read' }, async (context) => print(json, ...await work(context)));
}

/** Opens a database for reading, without checking whether it is up to date. @param work receives null if the embedded database does not exist */
export async function looking<T>(url: string, work: (database: Database | null) => Promise<T>): Promise<T> {
  compileOnce();
  const database = await openDatabase(url, 'read').catch((error: unknown) => {
    if (error instanceof MappaleError && error.code === 'DATABASE_OUT_OF_DATE') return null;
    throw error;
  });
  try {
    return await work(database);
  } finally {
    await database?.close();
  }
}

/** Runs a command that changes data, records the run in the ledger, and prints the result. @param arguments_ arguments that are stored in the ledger */
export function change(
  { json }: { json?: boolean }, command: string, arguments_: object, work: (context: Context, runId: number) => Promise<Outcome>,
): Promise<void> {
  return withContext({ access: 'write' }, async (context) => {
    const facts = { command, arguments: arguments_, version: VERSION, host: context.config.host };
    await withRun(context.database, facts, async ({ runId }) => print(json, ...await work(context, runId)));
  });
}

/** Maximum number of months of history to keep (a century). */
export const MOST_MONTHS = 1200;

/** Runs a command that writes, even while a run is active. Use only for changes that are safe during a run, such as pinning a region. */
export function changeAtOnce({ json }: { json?: boolean }, work: (context: Context) => Promise<Outcome>): Promise<void> {
  return withContext({ access: 'write' }, async (context) => print(json, ...await work(context)));
}

/** Maximum number of unrecognised files that are listed by name. Further unrecognised files are only counted, by extension. */
const NAMED = 10;

export function describeUnknown(paths: readonly string[]): string[] {
  const named = paths.slice(0, NAMED).map((path) => `no source reads: ${path}${isUnfinished(path) ? ' (unfinished download: wait, or run npx mappale fetch REGION)' : ''}`);
  if (paths.length <= NAMED) return named;
  const kinds = new Map<string, number>();
  for (const kind of paths.slice(NAMED).map((path) => extname(path).toLowerCase())) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  const most = [...kinds].sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1)).slice(0, 5).map(([kind, count]) => `${group(count)} ${kind || 'without an extension'}`);
  return [...named, `no source reads ${group(paths.length - NAMED)} more: ${most.join(', ')}${kinds.size > most.length ? ', …' : ''} (to list all files, use --json)`];
}
