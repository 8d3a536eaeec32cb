/** Tests full disks under the embedded database and under written files. The error names the path, nothing is partly written, and a later run recovers. */
import { cpSync, existsSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, it, type TestContext } from 'vitest';
import { describeDatabase, describeEngines } from '../harness/database.ts';
import { Machine, mappale, scratch, succeeded, outcomeOf, type Ended } from '../harness/faults/machine.ts';
import { migratedDatabase } from '../harness/fresh-context.ts';
import { loadedRegion, REGIONS } from '../harness/loaded-region.ts';
import { currentContent, orphans, recount, withDatabase } from '../harness/published.ts';
import { publish, smallRegion, type Region } from '../harness/faults/region.ts';
import { SmallDisk } from '../harness/faults/small-disk.ts';

const FORMATS = ['geoparquet', 'flatgeobuf', 'geopackage', 'pmtiles', 'csv'] as const;

/** Number of parcels. More parcels would only make each load longer. */
const PARCELS = 160;

const disks: SmallDisk[] = [];

afterEach(async () => {
  for (const disk of disks.splice(0)) await disk.unmount();
});

/** Mounts a small disk on a folder. If this machine cannot create one, skips the test with the reason and returns null. */
async function smallDisk(context: TestContext, folder: string): Promise<SmallDisk | null> {
  const disk = await SmallDisk.mount(folder);
  if (typeof disk === 'string') {
    context.skip(`this machine cannot create a small disk: ${disk}`);
    return null;
  }
  disks.push(disk);
  return disk;
}

describeEngines('a full disk', (engine) => {
  let work: Awaited<ReturnType<typeof scratch>>;
  let region: Region;
  /** A home folder with version 0 of the region, and a folder with the files of version 1. */
  let home: string;
  let version1: string;
  let before: Record<string, string>;

  beforeAll(async () => {
    work = await scratch('full');
    region = await smallRegion(['ade_cadastre', 'dpc_seismic', 'ingv_mps04', 'istat_comuni', 'istat_soppressi'], PARCELS);
    home = dirname((await migratedDatabase(engine)).slice('pglite:'.length));
    const version0 = await region.version(0);
    before = await withDatabase(urlOf(home), async (database) => {
      await publish(database, version0);
      return currentContent(database);
    });
    version1 = await region.version(1);
  });
  afterAll(async () => {
    await region?.remove();
    await work?.remove();
  });

  const urlOf = (folder: string): string => `pglite:${join(folder, 'database')}`;
  const refreshed = (folder: string, data: string): Machine => (
    new Machine(urlOf(folder), ['--verbose', 'refresh', 'molise', '--data', data, '--accept', 'a test', '--parallel', '1'])
  );

  function expectFull({ code, stderr, stdout }: Ended, folder: string): void {
    expect(code, stderr).toBe(6);
    expect(stdout + stderr).toContain('[SQL_53100]');
    expect(stdout + stderr).toContain(`at: ${join(folder, 'database')}`);
    expect(stdout + stderr).toContain('Free space on the disk of this folder, then run the same command again. Published data is unchanged.');
    expect(stderr).not.toMatch(/\n {4}at /);
  }

  /** Expects version 0 to be published, and publishes version 1. */
  async function recovers(folder: string): Promise<void> {
    await withDatabase(urlOf(folder), async (database) => {
      expect(await currentContent(database)).toEqual(before);
      expect(await recount(database)).toEqual(before);
      await publish(database, version1);
    });
    await withDatabase(urlOf(folder), async (database) => {
      const now = await currentContent(database);
      expect(now).not.toEqual(before);
      expect(await recount(database)).toEqual(now);
      expect(await orphans(database)).toEqual([]);
    });
  }

  it('causes an error with the path while a refresh loads files or builds tables in the embedded database, keeps the publication readable, and allows recovery', async (context) => {
    const folder = join(work.folder, 'full-home');
    const disk = await smallDisk(context, folder);
    if (disk === null) return;
    cpSync(home, folder, { recursive: true });
    for (const step of ['loading', 'building', 'core.parcel']) {
      const machine = refreshed(folder, version1);
      await machine.printed(step);
      await disk.shrink(0);
      expectFull(await machine.ended, folder);
      await disk.shrink(5 * 1024);
      const record = await mappale(urlOf(folder), 'parcel', '1400000000', '--include', 'basic');
      expect(record.code, outcomeOf(record)).toBe(0);
      await disk.grow();
    }
    await recovers(folder);
  });

  it('causes an error that names the folder before the embedded database is opened', async (context) => {
    const folder = join(work.folder, 'refused-home');
    const disk = await smallDisk(context, folder);
    if (disk === null) return;
    cpSync(home, folder, { recursive: true });
    await disk.shrink(0);
    for (const args of [['parcel', '1400000000'], ['refresh', 'molise', '--data', version1]]) {
      const ended = await mappale(urlOf(folder), ...args);
      expect(ended.code, outcomeOf(ended)).toBe(2);
      expect(ended.stderr).toMatch(/not enough disk space for the embedded database \[DISK_FULL\]\n {2}at: .*refused-home\/database\n.*found 0 MiB\n.*Published data is unchanged/);
    }
    await disk.grow();
    await recovers(folder);
  });

  it('causes no loss of a publication if the write-ahead log of the embedded database has no space', async (context) => {
    const folder = join(work.folder, 'log-home');
    cpSync(home, folder, { recursive: true });
    const current = await withDatabase(urlOf(folder), async (database) => {
      // Leaves 6 MB free in the current log segment, and makes the next refresh build all tables. The build writes more than 6 MB. PostgreSQL creates the next
      // segment in advance only if less than a quarter of the segment, 4 MiB, is left.
      await database.query(`
        select pg_logical_emit_message(false, 'test', repeat('x', ((2 * 16777216 - 6000000 - (pg_current_wal_insert_lsn() - '0/0') % 16777216) % 16777216)::int))`);
      await database.query("update ledger.publication_table set fingerprint = '', inputs = '{}'");
      return (await database.query<{ name: string }>('select pg_walfile_name(pg_current_wal_insert_lsn()) as name'))[0]!.name;
    });
    const log = join(folder, 'database', 'pg_wal');
    await rename(log, join(work.folder, 'log'));
    const disk = await smallDisk(context, log);
    if (disk === null) return;
    // Without reserve segments, the log must grow.
    const reserve = (await readdir(join(work.folder, 'log'))).filter((name) => /^[0-9A-F]{24}$/.test(name) && name > current);
    await cp(join(work.folder, 'log'), log, { recursive: true });
    for (const name of reserve) await rm(join(log, name));
    await disk.shrink(100);
    for (let run = 0, ended: Ended | null = null; ended === null || ended.code === 0; run += 1) {
      ended = await refreshed(folder, await region.version(2 + (run % 2))).ended;
      if (ended.code !== 0) expectFull(ended, folder);
      else before = await withDatabase(urlOf(folder), currentContent);
    }
    await disk.grow();
    version1 = await region.version(1);
    await recovers(folder);
    before = await withDatabase(urlOf(home), currentContent);
  });

  it('interrupts the creation of the embedded database, and the next run completes the database', async (context) => {
    const folder = join(work.folder, 'new-home');
    const disk = await smallDisk(context, folder);
    if (disk === null) return;
    const machine = new Machine(urlOf(folder), ['load-region', 'molise', '--data', region.folder]);
    while (!existsSync(join(folder, 'database.unfinished'))) await sleep(5);
    await disk.shrink(0);
    const ended = await machine.ended;
    expect(ended.code, outcomeOf(ended)).toBe(2);
    expect(ended.stderr).toMatch(/\[DISK_FULL\]\n {2}at: .*new-home\/database\n/);
    await disk.grow();
    succeeded(await mappale(urlOf(folder), 'load-region', 'molise', '--data', region.folder));
  });
}, ['pglite']);

// Files are written in the same way on each engine.
describeDatabase('a full disk', (engine) => {
  let work: Awaited<ReturnType<typeof scratch>>;
  let url: string;

  beforeAll(async () => {
    work = await scratch('full');
    url = await loadedRegion(engine, ...REGIONS.usual);
  });
  afterAll(() => work?.remove());

  it.for(FORMATS)('keeps the earlier files of an export as %s and leaves no new files', async (format, context) => {
    const folder = join(work.folder, `export-${format}`);
    const disk = await smallDisk(context, folder);
    if (disk === null) return;
    const out = join(folder, 'out');
    const exported = (): Promise<Ended> => mappale(url, 'export', 'molise', '--format', format, '--out', out);
    succeeded(await exported());
    const names = (await readdir(folder)).sort();
    for (const name of names) await writeFile(join(folder, name), 'earlier');
    await disk.shrink(40);
    const ended = await exported();
    expect(ended.code, outcomeOf(ended)).toBe(2);
    expect(ended.stderr).toMatch(/\[(?:DISK_FULL|FILE_NOT_WRITTEN)\]/);
    expect(ended.stderr).toContain(`at: ${out}\n`);
    expect((await readdir(folder)).sort()).toEqual(names);
    for (const name of names) expect(await readFile(join(folder, name), 'utf8')).toBe('earlier');
  });

  it('is reported without a stack trace while the files of a synthetic region are written', async (context) => {
    const folder = join(work.folder, 'synth');
    const disk = await smallDisk(context, folder);
    if (disk === null) return;
    await mkdir(folder, { recursive: true });
    await disk.shrink(100);
    const ended = await mappale(url, 'synth', '--out', folder, '--parcels', '600');
    expect(ended.code, outcomeOf(ended)).toBe(2);
    expect(ended.stderr).toMatch(/^error: .*\[(?:DISK_FULL|FILE_NOT_WRITTEN)\]\n {2}at: .*synth\//);
  });
});
