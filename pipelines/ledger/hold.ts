/** Regions that a refresh leaves as they are: rolled back, pinned, withdrawn. */
import { userInfo } from 'node:os';
import type { Session } from '../db/index.ts';

export interface Hold {
  readonly unit: number;
  readonly kind: 'rolled_back' | 'pinned' | 'withdrawn';
  /** Digest of what made the publication that was taken back; null: pinned or withdrawn. */
  readonly fingerprint: string | null;
  readonly reason: string | null;
  readonly heldBy: string;
  readonly heldAt: string;
}

export async function holds(session: Session): Promise<Map<number, Hold>> {
  const rows = await session.query<Hold & Record<string, unknown>>(
    `select unit_code::int4 as unit, kind, fingerprint, reason, held_by as "heldBy", to_char(held_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as "heldAt" from ledger.hold`,
  );
  return new Map(rows.map((row) => [row.unit, row]));
}

export async function setHold(session: Session, hold: Omit<Hold, 'heldAt' | 'heldBy'>, host: string): Promise<void> {
  await session.query(
    `insert into ledger.hold (unit_code, kind, fingerprint, reason, held_by) values ($1, $2, $3, $4, $5)
     on conflict (unit_code) do update set kind = excluded.kind, fingerprint = excluded.fingerprint, reason = excluded.reason, held_by = excluded.held_by, held_at = now()`,
    [hold.unit, hold.kind, hold.fingerprint, hold.reason, who(host)],
  );
}

/** @param kind only a hold of this kind; null: any. @returns whether there was one */
export async function releaseHold(session: Session, unit: number, kind: Hold['kind'] | null): Promise<boolean> {
  const rows = await session.query('delete from ledger.hold where unit_code = $1 and ($2::text is null or kind = $2) returning unit_code', [unit, kind]);
  return rows.length > 0;
}

/** The person, as this machine knows them. */
export function who(host: string): string {
  return `${userInfo().username}@${host}`;
}
