/** Finds a parcel by its fid or its national cadastral reference. */
import { spellingsOf } from '../pipelines/contract/regions.ts';
import { one } from '../pipelines/db/index.ts';
import type { Ask } from '../pipelines/deliver/columns.ts';
import { MappaleError } from '../pipelines/errors.ts';
import { fidOf } from '../pipelines/operate/history.ts';
import type { Context } from '../pipelines/run/context.ts';

/** Parses a fid. Returns null if the text is not a fid. */
export function asFid(id: string): number | null {
  return /^\d{9,10}$/.test(id) && Number(id) <= 2_147_483_647 ? Number(id) : null;
}

/** Returns the fid of a published parcel. A fid is returned without a lookup. @throws MappaleError `NOT_FOUND`, `GONE` (exit 2) */
export async function findParcel({ database }: Context, id: string): Promise<number> {
  return asFid(id) ?? publishedFid((statement, parameters) => one(database, statement, parameters), id);
}

/** Returns the fid of the published parcel with a reference. @throws MappaleError `NOT_FOUND`, `GONE` (exit 2) */
async function publishedFid(ask: Ask, reference: string): Promise<number> {
  // Text in PostgreSQL cannot contain the character NUL.
  if (reference.includes('\0')) throw notFound(reference);
  const { fid, successors } = await ask<{ fid: number | null; successors: readonly { fid: number }[] | null }>(
    'select current_fid as fid, successors from api.parcels_of_reference($1)', [spellingsOf(reference)],
  );
  if (fid !== null) return fid;
  if (successors === null) throw notFound(reference);
  throw gone(reference, successors.length === 1 ? successors[0]?.fid ?? null : null);
}

/** Returns the fid of a parcel that is or was published. A fid is returned without a lookup. @throws MappaleError `NOT_FOUND` (exit 2) */
export async function findEver({ database }: Context, id: string): Promise<number> {
  const fid = asFid(id) ?? (await fidOf(database, id));
  if (fid === null) throw notFound(id);
  return fid;
}

/** Returns the error for a parcel without a record: `GONE` for a retired parcel, `NOT_FOUND` for an unknown parcel. */
export async function goneParcel(ask: Ask, id: string, fid: number): Promise<MappaleError> {
  const { retired } = await ask<{ retired: { successor_fid: number | null } | null }>('select api.retired_parcel($1) as retired', [fid]);
  return retired === null ? notFound(id) : gone(id, retired.successor_fid);
}

/** Returns the error for a retired parcel. @param successor fid of the only published parcel with the same geometry, or null */
export function gone(id: string, successor: number | null): MappaleError {
  return new MappaleError(`parcel ${id} is no longer published`, {
    code: 'GONE', kind: 'usage',
    detail: successor === null ? 'it has no single successor, because no published parcel or more than one has the same geometry' : `its successor is ${successor}, with the same geometry in another comune or region`,
    hint: successor === null ? 'Check which regions are published.' : 'Print the record of the successor.', fix: successor === null ? 'npx mappale status' : `npx mappale parcel ${successor}`,
  });
}

export function notFound(id: string): MappaleError {
  return new MappaleError(`there is no parcel ${id}`, {
    code: 'NOT_FOUND', kind: 'usage', detail: 'expected a fid of a published region, or a reference like H833_001300.594',
    hint: 'List the published regions.', fix: 'npx mappale status',
  });
}
