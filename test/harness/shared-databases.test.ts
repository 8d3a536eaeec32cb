/** Tests databases that several suites share. */
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SharedDatabases } from './shared-databases.ts';

describe('a shared database', () => {
  it('is prepared by the first suite while other suites wait', async () => {
    const shared = new SharedDatabases();
    expect(await shared.find('region')).toBeNull();
    const others = [shared.find('region'), shared.find('region')];
    shared.finish('region', 'postgres://server/region');
    expect(await Promise.all(others)).toEqual(['postgres://server/region', 'postgres://server/region']);
    expect(await shared.find('another region')).toBeNull();
  });

  it('is prepared by the next suite if the first suite fails', async () => {
    const shared = new SharedDatabases();
    expect(await shared.find('region')).toBeNull();
    const others = [shared.find('region'), shared.find('region')];
    shared.finish('region', null);
    expect(await Promise.race(others)).toBeNull();
    shared.finish('region', 'postgres://server/second');
    expect(await Promise.all(others)).toEqual(expect.arrayContaining([null, 'postgres://server/second']));
  });

  it('is removed with its folder at the end of the run, even if another database was never finished', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'mappale-shared-'));
    try {
      await mkdir(join(folder, 'made', 'database'), { recursive: true });
      const shared = new SharedDatabases();
      await shared.find('embedded');
      shared.finish('embedded', `pglite:${join(folder, 'made', 'database')}`);
      await shared.find('unfinished');
      await shared.remove();
      expect(await readdir(folder)).toEqual([]);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
