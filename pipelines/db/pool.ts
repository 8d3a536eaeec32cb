/** Pools of connections to a PostgreSQL server. */
import pg from 'pg';
import type { ServerAddress } from './server-address.ts';

/**
 * Opens a pool. Keep-alive packets stop firewalls from dropping idle connections.
 * @param settings that connections start with, as `name=value`; empty behind a pooler, which drops or refuses them
 */
export function openPool({ connectionString, options }: ServerAddress, settings: readonly string[], config: pg.PoolConfig): pg.Pool {
  const pool = new pg.Pool({
    ...config, connectionString, keepAlive: true, keepAliveInitialDelayMillis: 60_000,
    ...(settings.length === 0 ? {} : { options: [options, ...settings.map((setting) => `-c ${setting}`)].join(' ') }),
  });
  // An idle connection that the server drops is reported by the next query that needs it.
  pool.on('error', () => undefined);
  // A connection that breaks while it works rejects its query. Without a listener the event would end the process.
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}
