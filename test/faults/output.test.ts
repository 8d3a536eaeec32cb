/** Tests output and logs that are lost or rotated while a command runs. The causes are a full disk, a closed pipe, SIGHUP and copytruncate. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, openSync, readdirSync } from 'node:fs';
import { readFile, rename, truncate } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ROOT } from '../../pipelines/config.ts';
import { describeDatabase } from '../harness/database.ts';
import { childEnvironment } from '../harness/environment.ts';
import { PROGRAM } from '../harness/program.ts';
import { syntheticFiles } from '../harness/region.ts';
import { mappale, scratch, succeeded } from '../harness/faults/machine.ts';
import { withDatabase } from '../harness/published.ts';

/** A device on which every write fails with ENOSPC. */
const FULL = '/dev/full';
const full = existsSync(FULL) ? null : `no ${FULL}`;

type Stream = 'pipe' | number;

const started: ChildProcess[] = [];
const start = (args: readonly string[], env: Readonly<Record<string, string>>, [stdout, stderr]: readonly [Stream, Stream]): ChildProcess => {
  const child = spawn(process.execPath, [PROGRAM, ...args], { env: childEnvironment({ MAPPALE_LOG: 'json', ...env }), stdio: ['ignore', stdout, stderr] });
  started.push(child);
  return child;
};
const endOf = async (child: ChildProcess): Promise<number | null> => (child.exitCode ?? child.signalCode) === null ? (await once(child, 'exit'))[0] as number | null : child.exitCode;

afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL');
});

describe('a command whose output is lost', () => {
  it.skipIf(full !== null)(`reports DISK_FULL without a stack trace and exits with code 2${full === null ? '' : ` [not run: ${full}]`}`, async () => {
    const child = start(['sources'], {}, [openSync(FULL, 'w'), 'pipe']);
    let stderr = '';
    child.stderr!.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    expect((await once(child, 'close'))[0]).toBe(2);
    expect(stderr).toMatch(/^error: the output cannot be written \[DISK_FULL\]\n/);
    expect(stderr).not.toContain('    at ');
  });

  it('ends without an error if the reader closes the pipe', async () => {
    const child = start(['sources'], {}, ['pipe', 'pipe']);
    child.stdout!.destroy();
    let stderr = '';
    child.stderr!.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    expect((await once(child, 'close'))[0]).toBe(0);
    expect(stderr).toBe('');
  });
});

describeDatabase('a server whose log is rotated', (engine) => {
  let url: string;
  beforeAll(async () => {
    url = await engine.createDatabase();
    succeeded(await mappale(url, 'migrate'));
  });
  /** Starts a server and closes the pipe of its standard output after the first line. */
  const serve = async (more: readonly string[], stderr: Stream): Promise<{ child: ChildProcess; health: () => Promise<number> }> => {
    const child = start(['serve', '--port', '0', ...more], { DATABASE_URL: url }, ['pipe', stderr]);
    const [base] = (await once(createInterface(child.stdout!), 'line')) as [string];
    child.stdout!.destroy();
    return { child, health: async () => (await fetch(`${base}/health`)).status };
  };
  const stopped = (child: ChildProcess): Promise<number | null> => {
    child.kill('SIGTERM');
    return endOf(child);
  };
  const written = async (path: string, pattern: RegExp): Promise<string> => {
    for (;;) {
      const text = await readFile(path, 'utf8');
      if (pattern.test(text)) return text;
      await sleep(20);
    }
  };

  it('keeps serving and logging if its log is renamed or truncated', async () => {
    const { folder, remove } = await scratch('log');
    const log = join(folder, 'serve.log');
    const { child, health } = await serve([], openSync(log, 'a'));
    await written(log, /listening/);
    await rename(log, `${log}.1`);
    child.kill('SIGHUP');
    // A process keeps writing to the file that its shell opened, even if the file is renamed.
    await written(`${log}.1`, /SIGHUP/);
    expect([await health(), existsSync(log)]).toEqual([200, false]);
    // The server logs a request after it sends the response.
    await written(`${log}.1`, /health 200/);
    await truncate(`${log}.1`);
    child.kill('SIGHUP');
    const after = await written(`${log}.1`, /SIGHUP.*\n/);
    expect(after.trimEnd().split('\n').map((line) => (JSON.parse(line) as { level: string }).level)).toEqual(['info']);
    expect([await health(), await stopped(child)]).toEqual([200, 0]);
    await remove();
  });

  it.for([['a closed pipe', 'pipe', null], ['a full disk', 'full', full]] as const)('keeps serving if its log is %s', async ([_name, kind, missing], context) => {
    if (missing !== null) return context.skip(missing);
    // Only one process can open the embedded database.
    const workers = kind === 'pipe' && engine.name === 'postgres' ? ['--workers', '2', '--connections', '8'] : [];
    const { child, health } = await serve(workers, kind === 'pipe' ? 'pipe' : openSync(FULL, 'w'));
    child.stderr?.destroy();
    // Each signal makes the server write a line.
    for (let count = 0; count < 3; count += 1) {
      child.kill('SIGHUP');
      await sleep(50);
      expect(await health()).toBe(200);
    }
    expect(await stopped(child)).toBe(0);
  });
});

describeDatabase('a watch whose log is rotated', (engine) => {
  /** Starts a publisher without files. Each response is delayed until `release` is called. `asked` resolves at the first request. */
  async function slowPublisher(): Promise<{ server: Server; url: string; asked: Promise<void>; release: () => void }> {
    let asked: () => void = () => undefined;
    let release: () => void = () => undefined;
    const isAsked = new Promise<void>((resolve) => (asked = resolve));
    const released = new Promise<void>((resolve) => (release = resolve));
    const server = createServer((_request, response) => {
      asked();
      void released.then(() => response.writeHead(404).end());
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, asked: isAsked, release };
  }

  it('finishes its run after two SIGHUP signals and with closed pipes, then ends', async () => {
    const files = await syntheticFiles(40, 4, { comuni: 2, only: ['ade_cadastre', 'istat_comuni', 'istat_soppressi'] });
    const publisher = await slowPublisher();
    const url = await engine.createDatabase();
    const ids = readdirSync(join(ROOT, 'sources'), { withFileTypes: true }).filter((entry) => entry.isDirectory()).map(({ name }) => name);
    const child = start(['watch', 'molise', '--data', files.folder], { DATABASE_URL: url, ...Object.fromEntries(ids.map((id) => [`MAPPALE_${id.toUpperCase()}_URL`, publisher.url])) }, ['pipe', 'pipe']);
    try {
      await publisher.asked;
      child.stdout!.destroy();
      child.stderr!.destroy();
      for (let count = 0; count < 2; count += 1) {
        child.kill('SIGHUP');
        await sleep(50);
      }
      publisher.release();
      expect(await endOf(child)).toBe(0);
    } finally {
      publisher.server.closeAllConnections();
      publisher.server.close();
      await files.remove();
    }
    const runs = await withDatabase(url, (database) => database.query('select command, ended_at is not null as ended from ledger.run'));
    const regions = await withDatabase(url, (database) => database.query<{ region: number }>("select unit_code::int4 as region from ledger.publication where state = 'current' order by 1"));
    expect(runs).toEqual([{ command: 'watch', ended: true }]);
    expect(regions.map(({ region }) => region)).toEqual([0, 14]);
  });
});
