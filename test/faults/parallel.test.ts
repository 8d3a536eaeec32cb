/** Tests that the publication does not depend on how many releases are read, or regions built, at the same time. */
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { refresh } from '../../pipelines/run/refresh.ts';
import { describeEngines } from '../harness/database.ts';
import { freshContext } from '../harness/fresh-context.ts';
import { syntheticFiles, loadOptions } from '../harness/region.ts';
import { currentContent, orphans, recount } from '../harness/published.ts';
import { REGION, smallRegion, type Region } from '../harness/faults/region.ts';

describeEngines('releases and regions processed in parallel', (engine) => {
  let region: Region;
  beforeAll(async () => {
    region = await smallRegion();
  });
  afterAll(() => region.remove());

  it('give the same content whether one, two or eight releases are read at a time', async () => {
    const folder = await region.version(0);
    const contents: Record<string, string>[] = [];
    for (const parallel of [1, 2, 8]) {
      const context = await freshContext(engine);
      expect((await refresh(context, loadOptions([folder], [REGION], { parallel }))).failures).toEqual([]);
      contents.push(await recount(context.database));
      expect(await currentContent(context.database)).toEqual(contents.at(-1));
      expect(await orphans(context.database)).toEqual([]);
    }
    expect(Object.keys(contents[0]!).filter((key) => key.startsWith(`${REGION} section.`)).length).toBeGreaterThan(7);
    expect(contents[1]).toEqual(contents[0]);
    expect(contents[2]).toEqual(contents[0]);
  });

  it('give the same content as regions built one after another', async () => {
    // Only the cadastre is loaded. Without a list of comuni, two regions may have the same comune.
    const { folder, remove } = await syntheticFiles(600, 11, { only: ['ade_cadastre'] });
    try {
      await copyFile(join(folder, 'MOLISE.zip'), join(folder, 'ABRUZZO.zip'));
      const contents: Record<string, string>[] = [];
      for (const parallel of [1, 2]) {
        const context = await freshContext(engine);
        const report = await refresh(context, loadOptions([folder], null, { parallel }));
        expect(report.failures).toEqual([]);
        expect(report.units.map(({ name }) => name)).toEqual(expect.arrayContaining(['Abruzzo', 'Molise']));
        contents.push(await recount(context.database));
        expect(await currentContent(context.database)).toEqual(contents.at(-1));
        expect(await orphans(context.database)).toEqual([]);
      }
      expect(contents[1]).toEqual(contents[0]);
    } finally {
      await remove();
    }
  });
}, ['postgres']);
