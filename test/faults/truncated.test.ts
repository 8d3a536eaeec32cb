/** Tests files that end too early, as after a failed download. Each of these files is reported, and the next load of the complete file has the full content. */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Context } from '../../pipelines/run/context.ts';
import { randomOf } from '../../pipelines/synthetic/random.ts';
import { exitCodeOf, refresh } from '../../pipelines/run/refresh.ts';
import { describeEngines } from '../harness/database.ts';
import { testEnvironment } from '../harness/environment.ts';
import { freshContext } from '../harness/fresh-context.ts';
import { loadOptions } from '../harness/region.ts';
import { currentContent, orphans, recount } from '../harness/published.ts';
import { REGION, smallRegion, type Region } from '../harness/faults/region.ts';

const { seed } = testEnvironment();
/** Formats with a recognisable end. In a text file, only the last line can show that the file was cut (`TableEnd`). */
const CONTAINER = /\.(zip|kmz|gpkg|xlsx|kml|geojson|json)$/i;

describeEngines('truncated files', (engine) => {
  let region: Region;
  let context: Context;
  let folder: string;
  let before: Record<string, string>;
  const random = randomOf('truncated', seed);

  beforeAll(async () => {
    region = await smallRegion();
    folder = await region.version(0);
    context = await freshContext(engine);
    expect((await refresh(context, loadOptions([folder], [REGION]))).failures).toEqual([]);
    before = await currentContent(context.database);
  });
  afterAll(() => region.remove());

  it('cause exit code 3, keep the region unchanged and leave no partial data, wherever the files are cut', async () => {
    const names = (await readdir(folder, { recursive: true })).filter((name) => CONTAINER.test(name)).sort();
    expect(names.length).toBeGreaterThan(15);
    const codes: Record<string, number> = {};
    for (const name of names) {
      const path = join(folder, name);
      const whole = await readFile(path);
      await writeFile(path, whole.subarray(0, Math.floor(whole.length * (0.05 + 0.9 * random.next()))));
      codes[name] = exitCodeOf(await refresh(context, loadOptions([folder], [REGION])));
      await writeFile(path, whole);
      expect(await currentContent(context.database), name).toEqual(before);
    }
    expect(codes).toEqual(Object.fromEntries(names.map((name) => [name, 3])));
    expect((await refresh(context, loadOptions([folder], [REGION]))).failures).toEqual([]);
    expect(await recount(context.database)).toEqual(before);
    expect(await orphans(context.database)).toEqual([]);
  });

  it('cause exit code 3 if a text file ends in the middle of a line, and the next load of the complete file restores the content', async () => {
    const names = (await readdir(folder, { recursive: true })).filter((name) => /\.(csv|txt)$/i.test(name)).sort();
    expect(names.length).toBeGreaterThan(4);
    const rejected = async (): Promise<string[]> => {
      const rows = await context.database.query<{ raw: string }>("select encode(raw, 'hex') as raw from ledger.reject");
      return rows.map(({ raw }) => Buffer.from(raw, 'hex').toString());
    };
    /** Returns whether one of the rejects is a record that ends with the given line. Files are encoded in UTF-8 or latin1, and rejects in UTF-8. */
    const isAmong = (rejects: readonly string[], line: Buffer): boolean => (['utf8', 'latin1'] as const).some((encoding) => {
      const text = line.toString(encoding).replace(/\r?\n$/, '');
      return rejects.some((raw) => raw === text || raw.endsWith(`\n${text}`));
    });
    for (const name of names) {
      const path = join(folder, name);
      const whole = await readFile(path);
      const startOf = (end: number): number => whole.lastIndexOf('\n', end - 2) + 1;
      const known = await rejected();
      // The test removes the last lines that are rejected anyway, and keeps half of the last valid line. A number that lost its last digit is still a number,
      // so no reader can detect the loss.
      let end = whole.length;
      while (startOf(end) > 0 && isAmong(known, whole.subarray(startOf(end), end))) end = startOf(end);
      const start = startOf(end);
      expect(start, name).toBeGreaterThan(0);
      let cut = start + Math.floor((end - start) / 2);
      // Keeps characters of several bytes whole.
      while ((whole[cut]! & 0xc0) === 0x80) cut -= 1;
      await writeFile(path, whole.subarray(0, cut));
      const report = await refresh(context, loadOptions([folder], [REGION]));
      // A file that a newer file supersedes is not read, but reported as unused.
      const unread = report.unused.some((each) => each.path.endsWith(name));
      expect(unread || exitCodeOf(report) === 3, `${name}: the cut file was loaded`).toBe(true);
      if (!unread) expect(await currentContent(context.database), name).toEqual(before);
      await writeFile(path, whole);
      expect((await refresh(context, loadOptions([folder], [REGION]))).failures).toEqual([]);
      expect(await recount(context.database), name).toEqual(before);
    }
  });
}, ['postgres']);
