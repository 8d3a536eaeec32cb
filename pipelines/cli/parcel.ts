import type { Command } from 'commander';
import { withContext, type Context } from '../run/context.ts';
import { MappaleError } from '../errors.ts';
import { parseInclude, SECTION_NAMES } from '../contract/sections.ts';
import { command } from './command.ts';

export function parcelCommand(): Command {
  return command('parcel', 'Print one parcel\'s record, as the server answers it.', [
    'mappale parcel 1400000000',
    `mappale parcel H833_001300.594 --include ${SECTION_NAMES.slice(0, 2).join(',')}`,
  ])
    .argument('<id>', 'fid, or national cadastral reference CCCCZFFFFAS.label')
    .option('--include <sections>', 'comma-separated names; none: all')
    .option('--json', 'the record is JSON either way; accepted for uniformity')
    .action(async (id: string, options: { include?: string }) => {
      const include = parseInclude(options.include);
      await withContext({ access: 'read' }, async (context) => {
        const fid = await findParcel(context, id);
        const [row] = await context.database.query<{ record: unknown }>('select api.parcel($1, $2) as record', [fid, include]);
        if (row?.record === null || row === undefined) throw (await goneParcel(context, id, fid)) ?? notFound(id);
        process.stdout.write(`${JSON.stringify(row.record, null, 2)}\n`);
      });
    });
}

/** @throws MappaleError `NOT_FOUND` (exit 2) */
export async function findParcel(context: Context, id: string): Promise<number> {
  if (/^\d{9,10}$/.test(id) && Number(id) <= 2_147_483_647) return Number(id);
  const [row] = await context.database.query<{ fid: number | null }>('select api.parcel_by_reference($1) as fid', [id]);
  if (row?.fid === null || row === undefined) throw notFound(id);
  return row.fid;
}

/** Null when it was never published. */
async function goneParcel(context: Context, id: string, fid: number): Promise<MappaleError | null> {
  const [row] = await context.database.query<{ retired: { successor_fid: number | null } | null }>('select api.retired_parcel($1) as retired', [fid]);
  if (row === undefined || row.retired === null) return null;
  const { successor_fid: successor } = row.retired;
  return new MappaleError(`parcel ${id} is no longer published`, {
    code: 'GONE', kind: 'usage', detail: successor === null ? 'no parcel in force, or several, are drawn the same' : `its successor is ${successor}: drawn the same, in another comune or region`,
    hint: successor === null ? 'Look for what is there now: mappale diff' : `mappale parcel ${successor}`,
  });
}

function notFound(id: string): MappaleError {
  return new MappaleError(`there is no parcel ${id}`, {
    code: 'NOT_FOUND', kind: 'usage', detail: 'expected a fid of a published region, or a reference like H833_001300.594',
    hint: 'See which regions are published: mappale status',
  });
}
