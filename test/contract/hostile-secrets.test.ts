/**
 * Tests that a password in DATABASE_URL is never shown, in any spelling. The password must not be on the screen, in logs, in JSON, in the ledger or in
 * process arguments.
 */
import { spawn } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { ROOT } from '../../pipelines/config.ts';
import { openDatabase } from '../../pipelines/db/index.ts';
import { serverAddress } from '../../pipelines/db/server-address.ts';
import type { MappaleError } from '../../pipelines/errors.ts';
import { describeEngines } from '../harness/database.ts';
import { PROGRAM } from '../harness/program.ts';

const folder = mkdtempSync(join(tmpdir(), 'mappale-secrets-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Matches every part of the password, even if a character of the password was parsed as a separator. */
const PIECES = /Qx7kf|Zw9pt/i;

describe('an invalid or unreachable address', () => {
  it.each<[string, string, string]>([
    ['a slash in the password', 'postgres://me:Qx7kf/Zw9pt@127.0.0.1:1/italy', 'DATABASE_URL_UNREADABLE'],
    ['a slash after digits, parsed as a port', 'postgres://me:12/Qx7kfZw9pt@127.0.0.1:1/italy', 'DATABASE_URL_UNREADABLE'],
    ['@ and a slash, with the rest parsed as a host', 'postgres://me:Qx7kf@Zw9pt/x@127.0.0.1:1/italy', 'DATABASE_URL_UNREADABLE'],
    ['a question mark', 'postgres://me:12?Qx7kfZw9pt@127.0.0.1:1/italy', 'DATABASE_URL_UNREADABLE'],
    ['a number sign', 'postgres://me:12#Qx7kfZw9pt@127.0.0.1:1/italy', 'DATABASE_URL_UNREADABLE'],
    ['a blank', 'postgres://me:Qx7kf Zw9pt@127.0.0.1:1/italy', 'DATABASE_URL_UNREADABLE'],
    ['a percent sign', 'postgres://me:Qx7kf%Zw9pt@127.0.0.1:1/italy', 'DATABASE_URL_UNREADABLE|SQL_ECONNREFUSED'],
    ['a password in the position of the port', 'postgres://me@127.0.0.1:Qx7kfZw9pt/italy', 'DATABASE_URL_UNREADABLE'],
    ['key-value pairs', 'host=127.0.0.1 port=1 user=me password=Qx7kfZw9pt dbname=italy', 'DATABASE_URL_UNKNOWN'],
    ['key-value pairs without a host, the password first', 'password=Qx7kfZw9pt dbname=italy', 'DATABASE_URL_UNKNOWN'],
    ['a different kind of database', 'mysql://me:Qx7kfZw9pt@127.0.0.1:1/italy', 'DATABASE_URL_UNKNOWN'],
    ['a URL scheme in capitals', 'POSTGRES://me:Qx7kfZw9pt@127.0.0.1:1/italy', 'DATABASE_URL_UNKNOWN'],
    ['only a password', 'Qx7kfZw9pt', 'DATABASE_URL_UNKNOWN'],
    ['a TLS key file that does not exist', 'postgres://me:Qx7kfZw9pt@127.0.0.1:1/italy?sslkey=/nowhere', 'DATABASE_URL_UNREADABLE'],
    ['@ in the password, which can be parsed', 'postgres://me:Qx7kf@Zw9pt@127.0.0.1:1/italy', 'SQL_ECONNREFUSED'],
    ['an escaped password', 'postgres://me:Qx7kf%2F%40Zw9pt@127.0.0.1:1/italy', 'SQL_ECONNREFUSED'],
    ['a parameter', 'postgres://me@127.0.0.1:1/italy?password=Qx7kfZw9pt', 'SQL_ECONNREFUSED'],
    ['a repeated parameter', 'postgres://127.0.0.1:1/italy?password=Qx7kf&user=me&password=Zw9pt', 'SQL_ECONNREFUSED'],
    ['a parameter whose name is escaped', 'postgres://me@127.0.0.1:1/italy?p%61ssword=Qx7kfZw9pt', 'SQL_ECONNREFUSED'],
    ['a parameter with a slash and @', 'postgres://me@127.0.0.1:1/italy?password=Qx7kf/@Zw9pt', 'DATABASE_URL_UNREADABLE'],
  ])('causes an error without any part of the password: %s', async (_what, url, codes) => {
    const error = await openDatabase(url).then(() => null, (thrown: unknown) => thrown as MappaleError);
    expect(error?.code).toMatch(new RegExp(`^(?:${codes})$`));
    expect(error!.exitCode).toBe(error!.kind === 'database' ? 6 : 2);
    // The checked texts are the printed error, the JSON, and the stack of an unexpected failure.
    for (const text of [error!.report(), JSON.stringify(error), String(error!.stack)]) expect(text).not.toMatch(PIECES);
    if (error!.kind === 'usage') expect(error!.report()).toMatch(/not shown.*\n.*\n.*(?:%40|postgres:\/\/user:password@host:port\/database|unset it)/s);
  });

  it.each([
    ['postgres://me:Qx7kf@db.example:5433/italy?sslmode=disable&password=Zw9pt', 'postgres db.example:5433, database italy, user me'],
    ['postgresql://me:Qx7kf@[::1]/it%C3%A0', 'postgres [::1]:5432, database ità, user me'],
    ['postgres://me:Qx7kf@/italy?host=/run/postgresql', 'postgres /run/postgresql, database italy, user me'],
    ['postgres://me@localhost', 'postgres localhost:5432, database me, user me'],
  ])('%s is shown as %s', (url, label) => {
    expect(serverAddress(url).label).toBe(label);
  });
});

/** Returns the command lines of this process and its descendants. */
function commandLines(): string {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc').filter((each) => /^\d+$/.test(each))) {
    try {
      parents.set(Number(name), Number(/\) \S (\d+)/.exec(readFileSync(`/proc/${name}/stat`, 'latin1'))?.[1]));
    } catch {
      // The process has ended meanwhile.
    }
  }
  const mine = (pid: number | undefined): boolean => pid !== undefined && (pid === process.pid || mine(parents.get(pid)));
  return [...parents.keys()].filter((pid) => mine(pid)).map((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'latin1');
    } catch {
      return '';
    }
  }).join('\n');
}

describeEngines('a run with a password in its URL', (engine) => {
  it('never writes the password to output, logs, JSON, the ledger or process arguments', async () => {
    const url = await engine.createDatabase();
    copyFileSync(join(ROOT, 'sources/dpc_seismic/fixture/several-zones_2024.csv'), join(folder, 'several-zones_2024.csv'));
    // The connection works because the test server requires no password, or because the URL contains the right password. If the URL has no password, the test
    // adds two password parameters. A parameter takes precedence over the password before the host.
    const withSecrets = `${url}${url.includes('?') ? '&' : '?'}application_name=Qx7kfZw9pt&${new URL(url).password === '' ? 'password=Qx7kf&p%61ssword=Zw9pt' : ''}`;
    const child = spawn(process.execPath, [PROGRAM, 'refresh', '--json', '--data', folder], { env: { PATH: '/usr/bin:/bin', DATABASE_URL: withSecrets, MAPPALE_LOG: 'json' } });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
    let processes = commandLines();
    const timer = setInterval(() => (processes += commandLines()), 200);
    const code = await new Promise((resolve) => child.on('close', resolve));
    clearInterval(timer);
    expect(code).toBe(3);
    expect(output).toContain('dpc_seismic');
    expect(processes).toContain('refresh');
    const database = await engine.openDatabase(url);
    const tables = await database.query<{ name: string }>("select table_name::text as name from information_schema.tables where table_schema = 'ledger'");
    const ledger = (await Promise.all(tables.map(({ name }) => database.query<{ text: string }>(`select to_jsonb(t)::text as text from ledger.${name} as t`)))).flat().map(({ text }) => text).join('\n');
    expect(ledger).toContain('several-zones_2024.csv');
    const { password } = new URL(url);
    for (const text of [output, processes, ledger]) {
      expect(text).not.toMatch(PIECES);
      for (const secret of password === '' ? [] : [password, decodeURIComponent(password)]) expect(text).not.toContain(secret);
    }
  });
}, ['postgres']);
