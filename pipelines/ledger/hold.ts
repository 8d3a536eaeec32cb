/**
 * Reads and sets holds. A refresh does not change a pinned or withdrawn region. A refresh changes a rolled-back region only after the region's inputs have
 * changed.
 */
import { userName } from '../config.ts';
import type { Session } from '../db/index.ts';
import { statementsOf } from '../db/statements.ts';

const ledger = statementsOf('ledger');

export interface Hold {
  readonly region: number;
  readonly kind: 'rolled_back' | 'pinned' | 'withdrawn';
  /** Digest of the inputs of the publication that was rolled back; null if the region is pinned or withdrawn. */
  readonly fingerprint: string | null;
  readonly reason: string | null;
  readonly heldBy: string;
  readonly heldAt: string;
}

export async function holds(session: Session): Promise<Map<number, Hold>> {
  const rows = await session.query<Hold & Record<string, unknown>>(ledger('holds'));
  return new Map(rows.map((row) => [row.region, row]));
}

/** Error that stops a publication because a user pinned, withdrew or rolled back the region during the run. */
export class HeldBack extends Error {
  readonly hold: Hold;

  constructor(hold: Hold) {
    super(describeHold(hold));
    this.hold = hold;
  }
}

/**
 * Refuses to publish a pinned or withdrawn region. Call inside the publishing transaction, so that setting a hold waits until the transaction ends.
 * @returns true if the region has the hold of a rollback, which the transaction may release
 * @throws HeldBack if the region was pinned or withdrawn, or is rolled back while this function waits for the lock
 */
export async function mustNotBeHeld(session: Session, region: number): Promise<boolean> {
  const isRolledBack = (await holds(session)).get(region)?.kind === 'rolled_back';
  await session.query(ledger(isRolledBack ? 'lock_holds_to_release' : 'lock_holds'));
  const hold = (await holds(session)).get(region);
  if (hold !== undefined && !(isRolledBack && hold.kind === 'rolled_back')) throw new HeldBack(hold);
  return hold !== undefined;
}

/** Describes a hold: the kind, the user, the date and the reason. */
export function describeHold({ kind, reason, heldBy, heldAt }: Pick<Hold, 'kind' | 'reason' | 'heldBy' | 'heldAt'>): string {
  return `${kind.replace('_', ' ')} by ${heldBy} on ${heldAt.slice(0, 10)}${reason === null ? '' : `: ${reason}`}`;
}

/** Sets a hold and replaces an earlier hold. A hold of the kind `rolled_back` does not replace a pin. */
export async function setHold(session: Session, hold: Omit<Hold, 'heldAt' | 'heldBy'>, host: string): Promise<void> {
  await session.query(ledger('set_hold'), [hold.region, hold.kind, hold.fingerprint, hold.reason, who(host)]);
}

/** Replaces the hold that a rollback has set by an earlier hold, with its user and date, or by no hold. Keeps a pin that a user has set in the meantime. */
export async function restoreHold(session: Session, region: number, hold: Hold | null): Promise<void> {
  await releaseHold(session, region, 'rolled_back');
  if (hold !== null) await session.query(ledger('restore_hold'), [region, hold.kind, hold.fingerprint, hold.reason, hold.heldBy, hold.heldAt]);
}

/** Removes a hold. @param kind the kind of the removed hold, or null for any kind @returns whether there was a hold */
export async function releaseHold(session: Session, region: number, kind: Hold['kind'] | null): Promise<boolean> {
  const rows = await session.query(ledger('release_hold'), [region, kind]);
  return rows.length > 0;
}

/** Returns the user name and the host, as recorded in the ledger. */
export function who(host: string): string {
  return `${userName()}@${host}`;
}
