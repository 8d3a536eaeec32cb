/** Commands `parcel` and `explain`: print the record of a parcel, and the origin of its values. */
import { basename } from 'node:path';
import type { Command } from 'commander';
import { parseInclude, SECTION_NAMES } from '../pipelines/contract/sections.ts';
import { one } from '../pipelines/db/index.ts';
import { openReader } from '../pipelines/db/reader.ts';
import type { Ask } from '../pipelines/deliver/columns.ts';
import { EXIT, MappaleError } from '../pipelines/errors.ts';
import { explain, type Explanation } from '../pipelines/operate/explain.ts';
import { withContext, type Context } from '../pipelines/run/context.ts';
import { command, compileOnce, look } from './command.ts';
import { findParcel, goneParcel } from './parcel-id.ts';

interface Options {
  readonly include?: string;
  readonly stdin?: boolean;
}

export function parcelCommand(): Command {
  return command('parcel', [
    'mappale parcel 1400000000',
    `mappale parcel H833_001300.594 --include ${SECTION_NAMES.slice(0, 2).join(',')}`,
    'mappale parcel --stdin < references.txt > records.jsonl',
  ])
    .argument('[id]', 'fid or national cadastral reference, CCCCZFFFFAS.label')
    .option('--stdin', 'read one fid or reference per line from standard input, and print one JSON object per line, in the same order; exits with code 3 if a parcel is not found')
    .option('--include <sections>', 'comma-separated names; default: all')
    .option('--json', 'has no effect, because the record is always JSON')
    .action(async (id: string | undefined, { include, stdin = false }: Options) => {
      const sections = parseInclude(include);
      if ((id === undefined) !== stdin) throw oneOf(id);
      if (id !== undefined) compileOnce();
      await withContext({ access: 'read' }, async (context) => {
        if (id === undefined) process.exitCode = await printMany(context, sections);
        else process.stdout.write(`${JSON.stringify(await recordOf(context, id, sections), null, 2)}\n`);
      });
    });
}

function oneOf(id: string | undefined): MappaleError {
  return new MappaleError('parcel needs either an id or --stdin', {
    code: 'PARCEL_OF_WHAT', kind: 'usage', detail: `expected one of ID and --stdin, found ${id === undefined ? 'none' : 'both'}`, hint: 'List the published regions.', fix: 'npx mappale status',
  });
}

/** @throws MappaleError `NOT_FOUND`, `GONE` (exit 2) */
async function recordOf(context: Context, id: string, sections: readonly string[]): Promise<unknown> {
  const ask: Ask = (statement, parameters) => one(context.database, statement, parameters);
  const fid = await findParcel(context, id);
  const { record } = await ask<{ record: unknown }>('select api.parcel($1, $2) as record', [fid, sections]);
  if (record === null) throw await goneParcel(ask, id, fid);
  return record;
}

/** Number of database connections of `--stdin`. More connections would not make the command faster. */
const CONNECTIONS = 4;
const STATEMENT_MS = 20_000;

/** Answers the lines of standard input. @returns the exit code */
async function printMany({ database, config }: Context, sections: readonly string[]): Promise<number> {
  const { answerLines } = await import('./parcel-stream.ts');
  const reader = await openReader(database, config.databaseUrl, { connections: CONNECTIONS, statementTimeoutMs: STATEMENT_MS });
  try {
    return await answerLines(reader, process.stdin, process.stdout, sections) === 0 ? EXIT.done : EXIT.input;
  } finally {
    await reader.close();
  }
}

export function explainCommand(): Command {
  return command('explain', [
    ...SECTION_NAMES.slice(1, 2).map((name) => `mappale explain 1400000000 ${name}`),
    'mappale explain H833_001300.594 basic --json',
  ])
    .argument('<id>', 'fid or national cadastral reference')
    .argument('<section>', 'name of a section')
    .option('--json', 'print as JSON')
    .action((id: string, section: string, options: { json?: boolean }) => {
      const [name = section] = parseInclude(section);
      return look(options, async (context) => {
        const explanation = await explain(context, await findParcel(context, id), name);
        return [explanation, () => describe(explanation)];
      });
    });
}

/** Reasons for an empty section of a record, keyed by the coverage of the section. */
const EMPTY: Readonly<Record<string, string>> = {
  mapped: 'the loaded files cover this place and contain no feature here',
  not_mapped: 'the loaded files do not cover this place',
  not_loaded: 'no release of the section is loaded',
};

function describe({ fid, section, not_applicable: notApplicable, rules, rows, reproduced, empty, coverage, evidence, context }: Explanation): string {
  if (notApplicable !== null) return `parcel ${fid}, ${section}: ${notApplicable}`;
  const count = rows.length === 1 ? 'one row' : `${rows.length === 0 ? 'no' : rows.length} rows`;
  const outcome = reproduced ? 'as published' : 'NOT as published (refresh the region)';
  const why = coverage === null ? '' : `: ${EMPTY[coverage] ?? coverage}`;
  const given = empty
    ? `the record has no value in ${section}${why}${reproduced ? '' : `; the rule gives ${count}, ${outcome}`}`
    : rows.length === 0 && reproduced ? 'the rule gives no value for this parcel' : `the rule gives ${count}, ${outcome}`;
  return [`parcel ${fid}, ${section}, by ${rules.join(', ')}`, given, ...[...evidence, ...context].flatMap((found) => {
    const measure = found.measure === null ? '' : `, ${Number(found.measure.toPrecision(6))} ${found.unit ?? ''}`;
    const place = `${basename(found.file)}${found.member === '' ? '' : `!${found.member}`}:${found.position}`;
    return ['', `${found.field}: ${found.value ?? 'nothing'}${measure}`, `  ${found.rule}`, `  ${found.source} ${found.vintage}, ${place}, sha256 ${found.sha256.slice(0, 16)}…`];
  })].join('\n');
}
