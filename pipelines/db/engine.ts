/** Finds the versions of the database engine and its libraries that can affect built values. */
import { ENGINE, type Facts } from '../contract/fingerprint.ts';
import { statementsOf } from './statements.ts';
import { one, type Session } from './types.ts';

/** Returns the versions that may affect a coordinate or a value. Omits patch numbers, so that a patch release makes no table stale. */
export async function engineOf(session: Session): Promise<Facts> {
  const found = await one<Record<(typeof ENGINE)[number], string>>(session, statementsOf('server')('engine'));
  return Object.fromEntries(ENGINE.map((name) => [name, /^\d+(?:\.\d+)?/.exec(found[name])?.[0] ?? found[name]]));
}
