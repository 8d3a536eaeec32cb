/** What commands share: options with one meaning, output for people and for machines, exit codes. */
import { extname } from 'node:path';
import { Command, type CommanderError } from 'commander';
import { openDatabase, type Database } from '../db/index.ts';
import { VERSION, withContext, type Context } from '../run/context.ts';
import { EXIT, MappaleError } from '../errors.ts';
import { isUnfinished } from '../ingest/walk.ts';
import { findRegion, REGIONS, type Region } from '../contract/regions.ts';
import { group } from '../progress.ts';
import { withRun, type Acceptance } from '../ledger/ledger.ts';
import { didYouMean, nearest, retyped, withOption, withWord } from '../typed.ts';

/** A command with a one-line purpose and examples that a newcomer can type. @param name as it is typed, behind that of a command that it belongs to */
export function command(name: string, purpose: string, examples: readonly string[]): Command {
  return new Command(name.slice(name.lastIndexOf(' ') + 1))
    .description(purpose)
    .exitOverride(usageExit)
    .showHelpAfterError(`(see the examples: npx mappale ${name} --help)`)
    .addHelpText('after', `\nExamples:\n${examples.map((example) => `  $ ${example.replace(/(^|\s)mappale /, '$1npx mappale ')}`).join('\n')}`);
}

/** What was typed wrong ends with the exit code of usage; help and the version are no failures. */
export function usageExit({ exitCode }: CommanderError): never {
  process.exit(exitCode === 0 ? EXIT.done : EXIT.usage);
}

/** `--data` may be given more than once. */
export function collectPaths(path: string, before: readonly string[] = []): string[] {
  return [...before, path];
}

/** @throws MappaleError `REGION_UNKNOWN` (exit 2), with the list and the nearest */
export function parseRegion(text: string): Region {
  const region = findRegion(text);
  if (region === undefined) {
    const slugs = REGIONS.map(({ slug }) => slug);
    const [meant = 'REGION'] = nearest(text, slugs);
    throw new MappaleError(`there is no region ${text}`, {
      code: 'REGION_UNKNOWN', kind: 'usage', detail: `expected one of ${slugs.join(', ')}, or a code 1–20`, hint: `${didYouMean(text, slugs)}Type one of these.`,
      fix: retyped(withWord(text, meant), `npx mappale load-region ${meant}`),
    });
  }
  return region;
}

/** What `--accept` says, and who said it. @throws MappaleError `REASON_MISSING` (exit 2) */
export function acceptance({ config }: Context, why: string | undefined): Acceptance | null {
  if (why?.trim() === '') throw new MappaleError('--accept needs a reason', { code: 'REASON_MISSING', kind: 'usage', hint: 'Say why: --accept "ISTAT merged three comuni, checked by hand".', fix: retyped(withOption('--accept', 'REASON'), 'npx mappale refresh --accept REASON') });
  return why === undefined ? null : { who: `${config.user}@${config.host}`, why };
}

/** A whole number within bounds. @throws MappaleError `NUMBER_EXPECTED` (exit 2) */
export function parseWithin(minimum: number, maximum: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d{1,16}$/.test(text) && value >= minimum && value <= maximum) return value;
    const expected = maximum === Number.MAX_SAFE_INTEGER ? '' : `expected ${minimum}–${maximum}, `;
    throw new MappaleError('a whole number is expected', { code: 'NUMBER_EXPECTED', kind: 'usage', detail: `${expected}found ${text}`, hint: 'Write digits only.', fix: retyped(withWord(text, String(minimum)), 'npx mappale --help') });
  };
}

export const parseCount = parseWithin(0, Number.MAX_SAFE_INTEGER);

/** Results: text for people, or one JSON document. */
export function print(json: boolean | undefined, value: unknown, text: () => string): void {
  process.stdout.write(json === true ? `${JSON.stringify(value, null, 2)}\n` : `${text()}\n`);
}

/** What a command found or did: for programs, and for people. */
export type Outcome = readonly [value: unknown, text: () => string];

/** Looks at the database, and prints what it found. */
export function look({ json }: { json?: boolean }, work: (context: Context) => Promise<Outcome>): Promise<void> {
  return withContext({ access: 'read' }, async (context) => print(json, ...await work(context)));
}

/** Looks at a database of whatever state. @param work gets null where an embedded one was never made */
export async function looking<T>(url: string, work: (database: Database | null) => Promise<T>): Promise<T> {
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

/** Changes something as a run of the ledger, and prints what was done. @param arguments_ as the ledger keeps them */
export function change(
  { json }: { json?: boolean }, command: string, arguments_: object, work: (context: Context, runId: number) => Promise<Outcome>,
): Promise<void> {
  return withContext({ access: 'write' }, async (context) => {
    const facts = { command, arguments: arguments_, version: VERSION, host: context.config.host };
    await withRun(context.database, facts, async ({ runId }) => print(json, ...await work(context, runId)));
  });
}

/** Most months that can be kept: a century. */
export const MOST_MONTHS = 1200;

/** Runs a command that writes next to a run under way, because it changes nothing that a run writes. */
export function changeAtOnce({ json }: { json?: boolean }, work: (context: Context) => Promise<Outcome>): Promise<void> {
  return withContext({ access: 'write' }, async (context) => print(json, ...await work(context)));
}

/** Strangers that are named one by one; of the others only how many there are. */
const NAMED = 10;

export function describeUnknown(paths: readonly string[]): string[] {
  const named = paths.slice(0, NAMED).map((path) => `no source reads: ${path}${isUnfinished(path) ? ' (its download has not ended: wait, or type npx mappale fetch REGION)' : ''}`);
  if (paths.length <= NAMED) return named;
  const kinds = new Map<string, number>();
  for (const kind of paths.slice(NAMED).map((path) => extname(path).toLowerCase())) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  const most = [...kinds].sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1)).slice(0, 5).map(([kind, count]) => `${group(count)} ${kind || 'without an ending'}`);
  return [...named, `no source reads ${group(paths.length - NAMED)} more: ${most.join(', ')}${kinds.size > most.length ? ', …' : ''} (all of them: --json)`];
}
