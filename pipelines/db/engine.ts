/** Which engine this is, as far as it decides what is made. */
import { ENGINE, type Facts } from '../contract/fingerprint.ts';
import type { Session } from './types.ts';

/** Versions that may decide a coordinate or a value: a patch mends, and makes nothing stale. */
export async function engineOf(session: Session): Promise<Facts> {
  const [found] = await session.query<Record<(typeof ENGINE)[number], string>>(
    `select (current_setting('server_version_num')::int4 / 10000)::text as "PostgreSQL", postgis_lib_version() as "PostGIS", postgis_geos_version() as "GEOS", postgis_proj_version() as "PROJ"`,
  );
  return Object.fromEntries(ENGINE.map((name) => [name, /^\d+(?:\.\d+)?/.exec(found![name])![0]]));
}
