/** Opens pools of connections to a PostgreSQL server. */
import pg from 'pg';
import type { ServerAddress } from './server-address.ts';

/**
 * Opens a pool. Keep-alive packets stop firewalls from dropping idle connections.
 * @param settings startup settings of the connections, as `name=value`; empty behind a pooler, because poolers drop or refuse startup settings
 */
export function openPool({ connectionString, options }: ServerAddress, settings: readonly string[], config: pg.PoolConfig): pg.Pool {
  const pool = new pg.Pool({
    ...config, connectionString, keepAlive: true, keepAliveInitialDelayMillis: 60_000,
    ...(settings.length === 0 ? {} : { options: [options, ...settings.map((setting) => `-c ${setting}`)].join(' ') }),
  });
  // Ignores the loss of an idle connection, because the next query reports the loss.
  pool.on('error', () => undefined);
  // If a connection breaks during a query, the query fails. Without this listener, the error event would also end the process.
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}
