/** Tests data folders that fail during a read. A mount disappears, a disk returns EIO, or a path becomes a link to itself. */
import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, rename, rm, symlink, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it, type TestContext } from 'vitest';
import { describeEngines } from '../harness/database.ts';
import { Gate, nameOf } from '../harness/faults/gate.ts';
import { Machine, mappale, scratch, succeeded, outcomeOf } from '../harness/faults/machine.ts';
import { currentContent, orphans, recount, withDatabase } from '../harness/published.ts';
import { smallRegion, type Region } from '../harness/faults/region.ts';
import { SmallDisk } from '../harness/faults/small-disk.ts';

const run = promisify(execFile);

/** A data folder with version 1 of the files. Tests make the folder fail while a run reads the files. */
interface Flaky {
  breakDown(): Promise<void>;
  remove(): Promise<void>;
}

describeEngines('a data folder that fails while it is read', (engine) => {
  let region: Region;
  let work: Awaited<ReturnType<typeof scratch>>;
  let url: string;
  let data: string;
  let version1: string;
  let before: Record<string, string>;
  let boundary: string;

  beforeAll(async () => {
    region = await smallRegion(['ade_cadastre', 'dpc_seismic', 'ingv_mps04', 'istat_comuni', 'istat_soppressi']);
    work = await scratch('mount');
    data = join(work.folder, 'data');
    url = await engine.createDatabase();
    succeeded(await mappale(url, 'load-region', 'molise', '--data', await region.version(0)));
    version1 = await region.version(1);
    before = await withDatabase(url, currentContent);
    const steps = await withDatabase(url, (database) => database.query<{ step: string; subject: string }>("select step, subject from ledger.step where step = 'stage' and subject like 'ade_cadastre %'"));
    boundary = nameOf({ ...steps[0]!, edge: 'begins' });
  });
  afterAll(async () => {
    await region?.remove();
    await work?.remove();
  });

  const refresh = (): Machine => new Machine(url, ['refresh', 'molise', '--data', data, '--accept', 'a test', '--parallel', '1']);

  /** Runs a refresh whose data folder fails before the cadastre is read. */
  async function brokenRun(flaky: Flaky): Promise<void> {
    const gate = await Gate.open(url);
    await gate.shut(boundary);
    const machine = refresh();
    expect(await gate.reached(machine)).toBe(true);
    await flaky.breakDown();
    await gate.lift(boundary);
    const ended = await machine.ended;
    await gate.close();
    await flaky.remove();
    expect(ended.code, outcomeOf(ended)).toBe(3);
    expect(outcomeOf(ended)).toMatch(/\[(?:FILE_UNREADABLE|FILE_CHANGED_WHILE_READ|FILE_GONE|LINK_CIRCULAR)\][\s\S]*MOLISE\.zip/);
    expect(outcomeOf(ended)).not.toMatch(/\n {4}at /);
    await withDatabase(url, async (database) => {
      expect(await currentContent(database)).toEqual(before);
      expect(await recount(database)).toEqual(before);
    });
  }

  async function onMount(context: TestContext): Promise<SmallDisk | null> {
    const disk = await SmallDisk.mount(data);
    if (typeof disk !== 'string') return disk;
    context.skip(`this machine cannot mount a file system: ${disk}`);
    return null;
  }

  it('causes no publication and an error that names the file if the folder becomes a link to itself', async () => {
    const moved = join(work.folder, 'moved');
    await cp(version1, data, { recursive: true });
    await brokenRun({
      breakDown: async () => {
        await rename(data, moved);
        await symlink(data, data);
      },
      remove: async () => {
        await rm(data);
        await rm(moved, { recursive: true });
      },
    });
  });

  it('causes no publication and an error that names the file if the mount disappears', async (context) => {
    const disk = await onMount(context);
    if (disk === null) return;
    await cp(version1, data, { recursive: true });
    await brokenRun({ breakDown: () => disk.unmount(), remove: () => rm(data, { recursive: true }) });
  });

  it('causes no publication and an error that names the file if the disk returns EIO', async (context) => {
    const image = join(work.folder, 'image');
    await mkdir(data);
    let device = '';
    try {
      await run('mkfs.ext4', ['-q', '-d', version1, image, '64M']);
      device = (await run('losetup', ['--find', '--show', image])).stdout.trim();
      await run('mount', ['-o', 'ro', device, data]);
    } catch (error) {
      if (device !== '') await run('losetup', ['-d', device]);
      await rm(data, { recursive: true });
      return context.skip(`this machine cannot create a file system in a file: ${(error as Error).message.trim().split('\n').at(-1)!}`);
    }
    await brokenRun({
      breakDown: async () => {
        for (const entry of await readdir(data, { recursive: true, withFileTypes: true })) {
          // Drops the pages of the file from the cache.
          if (entry.isFile()) await run('dd', [`if=${join(entry.parentPath, entry.name)}`, 'iflag=nocache', 'count=0']);
        }
        await truncate(image, 65_536);
        await run('losetup', ['--set-capacity', device]);
      },
      remove: async () => {
        await run('umount', [data]);
        await run('losetup', ['-d', device]);
        await rm(data, { recursive: true });
      },
    });
  });

  it('is published by a later run, even if the mount becomes read-only during that run', async (context) => {
    const disk = await SmallDisk.mount(data);
    if (typeof disk === 'string') return context.skip(`this machine cannot create a small disk: ${disk}`);
    await cp(version1, data, { recursive: true });
    const machine = refresh();
    await run('mount', ['-o', 'remount,ro', data]);
    const ended = await machine.ended;
    await disk.unmount();
    succeeded(ended);
    await withDatabase(url, async (database) => {
      const now = await currentContent(database);
      expect(await recount(database)).toEqual(now);
      expect(now).not.toEqual(before);
      expect(await orphans(database)).toEqual([]);
      // Version 1 puts every comune into this zone.
      expect(await database.query('select distinct seismic_zone as zone from section.risk')).toEqual([{ zone: 2 }]);
    });
  });
}, ['postgres']);
