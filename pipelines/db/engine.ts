/** Which engine this is, as far as it decides what is made. */
import { ENGINE, type Facts } from '../contract/fingerprint.ts';
import { statementsOf } from './statements.ts';
import { one, type Session } from './types.ts';

/** Versions that may decide a coordinate or a value: a patch mends, and makes nothing stale. */
export async function engineOf(session: Session): Promise<Facts> {
  const found = await one<Record<(typeof ENGINE)[number], string>>(session, statementsOf('server')('engine'));
  return Object.fromEntries(ENGINE.map((name) => [name, /^\d+(?:\.\d+)?/.exec(found[name])?.[0] ?? found[name]]));
}
