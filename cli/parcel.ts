/** Commands that print the record of one parcel and the origin of its values. */
import { basename } from 'node:path';
import type { Command } from 'commander';
import { plainReference } from '../pipelines/contract/regions.ts';
import { parseInclude, SECTION_NAMES } from '../pipelines/contract/sections.ts';
import { one } from '../pipelines/db/index.ts';
import { MappaleError } from '../pipelines/errors.ts';
import { explain, type Explanation } from '../pipelines/operate/explain.ts';
import { withContext, type Context } from '../pipelines/run/context.ts';
import { command, look } from './command.ts';

export function parcelCommand(): Command {
  return command('parcel', [
    'mappale parcel 1400000000',
    `mappale parcel H833_001300.594 --include ${SECTION_NAMES.slice(0, 2).join(',')}`,
  ])
    .argument('<id>', 'fid or national cadastral reference, CCCCZFFFFAS.label')
    .option('--include <sections>', 'comma-separated names; default: all')
    .option('--json', 'no effect: the record is always JSON')
    .action(async (id: string, options: { include?: string }) => {
      const include = parseInclude(options.include);
      await withContext({ access: 'read' }, async (context) => {
        const fid = await findParcel(context, id);
        const { record } = await one<{ record: unknown }>(context.database, 'select api.parcel($1, $2) as record', [fid, include]);
        if (record === null) throw await goneParcel(context, id, fid);
        process.stdout.write(`${JSON.stringify(record, null, 2)}\n`);
      });
    });
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

/** Reason why a section of a record is empty, by its coverage. */
const EMPTY: Readonly<Record<string, string>> = {
  mapped: 'the loaded files cover this place and contain nothing here',
  not_mapped: 'the loaded files do not cover this place',
  not_loaded: 'no release is loaded',
};

function describe({ fid, section, not_applicable: notApplicable, rules, rows, reproduced, empty, coverage, evidence, context }: Explanation): string {
  if (notApplicable !== null) return `parcel ${fid}, ${section}: ${notApplicable}`;
  const count = rows.length === 1 ? 'one row' : `${rows.length === 0 ? 'no' : rows.length} rows`;
  const outcome = reproduced ? 'as published' : 'NOT as published: refresh the region';
  const why = coverage === null ? '' : `: ${EMPTY[coverage] ?? coverage}`;
  const given = empty
    ? `the record has nothing of ${section}${why}${reproduced ? '' : `; the rule gives ${count}, ${outcome}`}`
    : rows.length === 0 && reproduced ? 'the rule gives nothing for this parcel' : `the rule gives ${count}, ${outcome}`;
  return [`parcel ${fid}, ${section}, by ${rules.join(', ')}`, given, ...[...evidence, ...context].flatMap((found) => {
    const measure = found.measure === null ? '' : `, ${Number(found.measure.toPrecision(6))} ${found.unit ?? ''}`;
    const place = `${basename(found.file)}${found.member === '' ? '' : `!${found.member}`}:${found.position}`;
    return ['', `${found.field}: ${found.value ?? 'nothing'}${measure}`, `  ${found.rule}`, `  ${found.source} ${found.vintage}, ${place}, sha256 ${found.sha256.slice(0, 16)}…`];
  })].join('\n');
}

/** Parses a fid. Returns null if the text is not a fid. */
export function asFid(id: string): number | null {
  return /^\d{9,10}$/.test(id) && Number(id) <= 2_147_483_647 ? Number(id) : null;
}

/** @throws MappaleError `NOT_FOUND` (exit 2) */
export async function findParcel({ database }: Context, id: string): Promise<number> {
  const given = asFid(id);
  if (given !== null) return given;
  // PostgreSQL text cannot contain this character.
  if (id.includes('\0')) throw notFound(id);
  const { fid } = await one<{ fid: number | null }>(database, 'select api.parcel_by_reference($1) as fid', [plainReference(id)]);
  if (fid === null) throw notFound(id);
  return fid;
}

/** Returns the error for a missing record: the parcel is retired, or never existed. */
async function goneParcel({ database }: Context, id: string, fid: number): Promise<MappaleError> {
  const { retired } = await one<{ retired: { successor_fid: number | null } | null }>(database, 'select api.retired_parcel($1) as retired', [fid]);
  if (retired === null) return notFound(id);
  const { successor_fid: successor } = retired;
  return new MappaleError(`parcel ${id} is no longer published`, {
    code: 'GONE', kind: 'usage',
    detail: successor === null ? 'no current parcel, or more than one, has the same geometry' : `its successor is ${successor}: same geometry, in another comune or region`,
    hint: successor === null ? 'List what is published now.' : 'Print its successor.', fix: successor === null ? 'npx mappale status' : `npx mappale parcel ${successor}`,
  });
}

export function notFound(id: string): MappaleError {
  return new MappaleError(`there is no parcel ${id}`, {
    code: 'NOT_FOUND', kind: 'usage', detail: 'expected a fid of a published region, or a reference like H833_001300.594',
    hint: 'List the published regions.', fix: 'npx mappale status',
  });
}
