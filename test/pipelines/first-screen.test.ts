/** Tests the output of `mappale` without a command, which is the state of this machine and the next commands. */
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { firstScreen } from '../../cli/first-screen.ts';
import { program } from '../../cli/main.ts';
import { rollback, withdraw } from '../../pipelines/build/publish.ts';
import { findRegion } from '../../pipelines/contract/regions.ts';
import { parcelHistory } from '../../pipelines/operate/history.ts';
import { mustBePublished } from '../../pipelines/ledger/published.ts';
import { refresh } from '../../pipelines/run/refresh.ts';
import { describeDatabase } from '../harness/database.ts';
import { onOneDay } from '../harness/days.ts';
import { contextOn, loadOptions, syntheticFiles } from '../harness/region.ts';
import { openRun } from '../harness/run.ts';

const commands = new Set((await program()).commands.map((each) => each.name()));

/** @returns the printed text, and the commands in it */
async function screen(url: string): Promise<{ text: string; next: string[] }> {
  vi.stubEnv('DATABASE_URL', url);
  const text = await firstScreen();
  const next = [...text.matchAll(/^ {2}npx mappale ([a-z-]+)/gm)].map((match) => match[1]!);
  for (const name of next.filter((each) => each !== '--help')) expect(commands, text).toContain(name);
  return { text, next };
}

afterEach(() => vi.unstubAllEnvs());

describe('without a database, mappale', () => {
  it('prints the properties of this machine and the commands of a first load, and creates nothing', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'mappale-first-'));
    try {
      const { text, next } = await screen(`pglite:${join(folder, 'none', 'database')}`);
      expect(text).toContain(`Node ${process.versions.node}`);
      expect(text).toContain('does not exist yet. The first load creates the database');
      expect(next.slice(0, 4)).toEqual(['load-region', 'fetch', 'load-region', 'sources']);
      expect(existsSync(join(folder, 'none'))).toBe(false);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  it('reports before the first load that its database cannot be created in the folder, and what to set', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'mappale-first-'));
    try {
      await writeFile(join(folder, 'file'), '');
      expect((await screen(`pglite:${join(folder, 'file', 'database')}`)).text).toMatch(/PGLITE_FOLDER[\s\S]*export DATABASE_URL=/);
      vi.spyOn(process, 'cwd').mockReturnValue(folder);
      expect((await screen(`pglite:${join(folder, 'file')}`)).text).toContain('export DATABASE_URL=pglite:.mappale/database ');
      await mkdir(join(folder, '.mappale'));
      await writeFile(join(folder, '.mappale', 'database'), '');
      expect((await screen(`pglite:${join(folder, '.mappale', 'database')}`)).text).toContain('export DATABASE_URL=pglite:/OTHER_FOLDER/mappale ');
    } finally {
      vi.restoreAllMocks();
      await rm(folder, { recursive: true, force: true });
    }
  });

  it('names the problem with a server that does not answer, without printing the password', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    await new Promise((resolve) => taken.close(resolve));
    const { text, next } = await screen(`postgres://me:secret@127.0.0.1:${port}/italy`);
    expect(text).toContain('SQL_ECONNREFUSED');
    expect(text).toContain('Start the server');
    expect(text).not.toContain('secret');
    expect(next[0]).toBe('doctor');
  });
});

describeDatabase('on a database, mappale', (engine) => {
  let url: string;
  beforeAll(async () => {
    url = await engine.createDatabase();
  });

  it('reports an empty database, a database without regions, a published and a withdrawn region, and a failed run', async () => {
    await onOneDay();
    expect((await screen(url)).text).toContain('empty. The first load creates the tables');
    const database = await engine.openDatabase(url);
    const context = await contextOn(database);
    expect((await screen(url)).text).toContain('no region is published');

    const { folder, region, remove } = await syntheticFiles(40, 4, { only: ['ade_cadastre', 'istat_comuni', 'istat_soppressi'], comuni: 2 });
    try {
      expect((await refresh(context, loadOptions([folder], [region.code]))).failures).toEqual([]);
    } finally {
      await remove();
    }
    const [parcel] = await database.query<{ fid: number; parcels: number }>("select min(fid) filter (where kind = 'land') as fid, count(*)::int4 as parcels from core.parcel");
    const { text, next } = await screen(url);
    expect(text).toContain(`Molise: ${parcel!.parcels} parcels, published today`);
    expect(text).toContain(`npx mappale parcel ${parcel!.fid} `);
    expect(text).not.toContain('exit code');
    expect(next).toEqual(['parcel', 'serve', 'refresh', 'status', '--help']);

    // A withdrawn region must not be reported as never loaded.
    const away = await openRun(database);
    await withdraw(database, region.code, away, 'an error of the publisher');
    const withdrawn = await screen(url);
    expect(withdrawn.text).toMatch(/no region is published\n +Molise: withdrawn by \S+ on \d{4}-\d\d-\d\d: an error of the publisher\n/);
    expect(withdrawn.text).toContain('npx mappale rollback molise ');
    // Commands and queries for the withdrawn region fail with the same message.
    for (const ask of [
      () => mustBePublished(database, findRegion(region.code)!), () => withdraw(database, region.code, away, null), () => parcelHistory(database, parcel!.fid),
    ]) {
      await expect(ask()).rejects.toMatchObject({ code: 'NOT_PUBLISHED', exitCode: 2, message: 'Molise is withdrawn', fix: 'npx mappale rollback molise' });
    }
    await rollback(database, region.code, away);
    await database.query('update ledger.run set ended_at = now(), exit_code = 0 where run_id = $1', [away]);
    expect((await screen(url)).text).not.toContain('withdrawn');
    await expect(mustBePublished(database, findRegion(region.code)!)).resolves.toBeUndefined();

    const runId = await openRun(database);
    await database.query("update ledger.run set ended_at = now(), outcome = 'failed', exit_code = 5 where run_id = $1", [runId]);
    expect((await screen(url)).text).toMatch(/the last run, \S+, ended with exit code 5\. For details, run: npx mappale status/);
  });

  it('suggests the command that continues a killed run if no run is active', async () => {
    const database = await engine.openDatabase(url);
    const runId = await openRun(database);
    await database.query("update ledger.run set command = 'load-region', arguments = $2 where run_id = $1", [runId, JSON.stringify({ data: ['/srv/my data'], regions: [14] })]);
    const { text } = await screen(url);
    expect(text).toContain('the last run, load-region, was interrupted');
    expect(text).toContain("npx mappale load-region molise --data '/srv/my data' ");
    expect(text).toContain("npx mappale refresh --data '/srv/my data' ");
    await database.query('delete from ledger.run where run_id = $1', [runId]);
  });

  it('does not suggest migrate if the database has a newer version, because migrate would refuse this database', async () => {
    const database = await engine.openDatabase(url);
    await database.query("insert into ledger.applied_file (file, sha256) values ('sql/migrations/9999_later.sql', 'x')");
    const { text, next } = await screen(url);
    expect(text).toContain('DATABASE_NEWER');
    expect(next).toEqual(['doctor', '--help']);
    await database.query("delete from ledger.applied_file where file = 'sql/migrations/9999_later.sql'");
  });

  it('suggests migrate if the database has a different version', async () => {
    const database = await engine.openDatabase(url);
    await database.query("update ledger.applied_file set sha256 = 'of another version' where file = 'sql/api/health.sql'");
    const { text, next } = await screen(url);
    expect(text).toContain('the database does not match this version of the program');
    expect(next).toEqual(['migrate', '--help']);
  });
});
