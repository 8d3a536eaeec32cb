/** Temporary databases of the benchmarks. */
import { openDatabase, type Database } from '../../pipelines/db/index.ts';

export interface Fresh {
  readonly url: string;
  readonly name: string;
  /** A connection to the named database, which is not changed. */
  readonly server: Database;
}

/** Creates a database with PostGIS for the work, and drops it afterwards. */
export async function onFreshDatabase<T>(databaseUrl: string, work: (fresh: Fresh) => Promise<T>): Promise<T> {
  const name = `mappale_bench_${process.pid}`;
  const server = await openDatabase(databaseUrl);
  try {
    await server.query(`create database ${name}`);
    const url = new URL(databaseUrl);
    url.pathname = `/${name}`;
    await onDatabase(url.href, (database) => database.query('create extension postgis'));
    return await work({ url: url.href, name, server });
  } finally {
    await server.query(`drop database if exists ${name} with (force)`);
    await server.close();
  }
}

/** Opens connections for the work, and closes them afterwards. */
export async function onDatabase<T>(url: string, work: (database: Database) => Promise<T>): Promise<T> {
  const database = await openDatabase(url);
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

/** Returns the connection string for ogr2ogr. An empty password is left out, because libpq would read the next word as the password. */
export function ogrTarget(databaseUrl: string): string {
  const { hostname, port, username, password, pathname } = new URL(databaseUrl);
  const secret = password === '' ? '' : ` password=${decodeURIComponent(password)}`;
  return `PG:host=${hostname} port=${port || '5432'} user=${decodeURIComponent(username)}${secret} dbname=${pathname.slice(1)}`;
}
