/**
 * Measures CPU time, memory, WAL and disk usage of a database server during some work. CPU time and memory come from `/proc`. Both are null if the server runs
 * on another machine, or if the server's processes are not readable. Both cover the whole server, so no other client should use the server.
 */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { one, type Database } from '../../pipelines/db/index.ts';

export interface ServerUse {
  /** User and system time of the server in seconds; null if not readable. */
  readonly cpuSeconds: number | null;
  /** Highest sampled memory of all server processes in total, without shared buffers; null if not readable. */
  readonly peakMiB: number | null;
  readonly walBytes: number;
  /** Highest sampled size of the database plus temporary files. */
  readonly peakDiskBytes: number;
}

const MEMORY_MS = 100;
const DISK_MS = 1000;

/**
 * Measures CPU time, memory, WAL and disk usage of a database server while `work` runs.
 * @param server a connection to a different database of the server
 * @param name name of the database that `work` uses
 */
export async function watchServer<T>(server: Database, name: string, work: () => Promise<T>): Promise<{ result: T; use: ServerUse }> {
  const postmaster = await localPostmaster(server);
  const ticks = Number((await promisify(execFile)('getconf', ['CLK_TCK'])).stdout);
  const { allowed } = await one<{ allowed: boolean }>(server, "select has_function_privilege('pg_ls_tmpdir()', 'execute') as allowed");
  let [peakKiB, peakDisk, isOver] = [0, 0, false];
  const before = postmaster === null ? null : cpuOf(postmaster);
  const { lsn } = await one<{ lsn: string }>(server, 'select pg_current_wal_lsn()::text as lsn');
  const sampleMemory = (): void => {
    if (postmaster !== null) peakKiB = Math.max(peakKiB, [postmaster, ...childrenOf(postmaster)].reduce((sum, pid) => sum + ownKiB(pid), 0));
  };
  const sampleDisk = async (): Promise<void> => {
    const { bytes } = await one<{ bytes: number }>(server, 'select pg_database_size($1)::float8 as bytes', [name]);
    const { spilled } = allowed ? await one<{ spilled: number }>(server, 'select coalesce(sum(size), 0)::float8 as spilled from pg_ls_tmpdir()') : { spilled: 0 };
    peakDisk = Math.max(peakDisk, bytes + spilled);
  };
  const memory = setInterval(sampleMemory, MEMORY_MS);
  const disk = (async () => {
    while (!isOver) {
      await sampleDisk();
      await sleep(DISK_MS);
    }
  })();
  try {
    const result = await work();
    await backendsGone(server, name);
    isOver = true;
    await disk;
    await sampleDisk();
    const { bytes } = await one<{ bytes: number }>(server, 'select pg_wal_lsn_diff(pg_current_wal_lsn(), $1::pg_lsn)::float8 as bytes', [lsn]);
    return {
      result,
      use: {
        cpuSeconds: postmaster === null || before === null ? null : spent(before, cpuOf(postmaster)) / ticks,
        peakMiB: postmaster === null ? null : Math.round(peakKiB / 1024), walBytes: bytes, peakDiskBytes: peakDisk,
      },
    };
  } finally {
    isOver = true;
    clearInterval(memory);
    await disk.catch(() => undefined);
  }
}

/** Waits up to five seconds until all client backends of the database have ended, because the CPU time of the main process includes only ended backends. */
async function backendsGone(server: Database, name: string): Promise<void> {
  for (let tries = 0; tries < 100; tries += 1) {
    const { left } = await one<{ left: number }>(server, "select count(*)::int4 as left from pg_stat_activity where datname = $1 and backend_type = 'client backend'", [name]);
    if (left === 0) return;
    await sleep(50);
  }
}

/** Returns the process id of the server, or null if the server runs on another machine or the server's processes are not readable. */
async function localPostmaster(server: Database): Promise<number | null> {
  try {
    return await server.session(async (session) => {
      const { pid, name } = await one<{ pid: number; name: string }>(session, 'select pg_backend_pid() as pid, current_database() as name');
      // Checks the command line, because this id belongs to a different process if the server runs on another machine or in a container.
      const title = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      if (!title.startsWith('postgres:') || !title.includes(` ${name} `)) return null;
      const parent = statOf(pid).parent;
      childrenOf(parent);
      return parent;
    });
  } catch (error) {
    if (isAbsent(error)) return null;
    throw error;
  }
}

interface Cpu {
  /** CPU ticks of the main process and of the ended child processes. */
  readonly main: number;
  /** CPU ticks of the running child processes, by process id. */
  readonly living: ReadonlyMap<number, number>;
}

function cpuOf(postmaster: number): Cpu {
  const living = new Map<number, number>();
  for (const pid of childrenOf(postmaster)) {
    try {
      living.set(pid, statOf(pid).own);
    } catch (error) {
      if (!isAbsent(error)) throw error;
    }
  }
  const { own, ended } = statOf(postmaster);
  return { main: own + ended, living };
}

/** Returns the CPU ticks that the server used between two readings. */
export function spent(before: Cpu, after: Cpu): number {
  let ticks = after.main - before.main;
  for (const [, now] of after.living) ticks += now;
  for (const [, then] of before.living) ticks -= then;
  return ticks;
}

function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter((each) => each !== '').map(Number);
}

/** Returns the parent of a process, the CPU ticks of the process, and the CPU ticks of the ended child processes. */
function statOf(pid: number): { parent: number; own: number; ended: number } {
  return parseStat(readFileSync(`/proc/${pid}/stat`, 'utf8'));
}

/** Parses `/proc/PID/stat`. The second field is the name of the program, which may contain spaces and brackets. */
export function parseStat(text: string): { parent: number; own: number; ended: number } {
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ').map(Number);
  const at = (index: number): number => fields[index] ?? Number.NaN;
  return { parent: at(1), own: at(11) + at(12), ended: at(13) + at(14) };
}

/** Returns the private memory of a process in KiB, or 0 if the process has ended. */
function ownKiB(pid: number): number {
  try {
    return Number(/^RssAnon:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
  } catch (error) {
    if (isAbsent(error)) return 0;
    throw error;
  }
}

function isAbsent(error: unknown): boolean {
  return error instanceof Error && 'code' in error && ['ENOENT', 'ESRCH', 'EACCES', 'EPERM'].includes(String(error.code));
}
