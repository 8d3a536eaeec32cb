/**
 * Tests rasters that were removed from the data folder. Values that were computed from these rasters are kept. Parcels that changed later have no values
 * and are counted.
 */
import { readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readStatus } from '../../cli/status.ts';
import type { Context } from '../../pipelines/run/context.ts';
import { refresh } from '../../pipelines/run/refresh.ts';
import { describeDatabase } from '../harness/database.ts';
import { freshContext } from '../harness/fresh-context.ts';
import { syntheticFiles, loadOptions } from '../harness/region.ts';
import { rewriteZip } from '../harness/rewrite-zip.ts';

const SOURCES = [
  'ade_cadastre', 'istat_comuni', 'istat_soppressi', 'istat_boundaries', 'dpc_buildings', 'tinitaly_dem', 'copernicus_dem', 'gsa_pvout', 'viirs_nightlights',
];
const RASTER = /\.(tif|h5)$|_s10\.zip$|GISdata.*\.zip$/i;
const SWEPT = ['terrain', 'solar', 'nightlights'] as const;

const moved = (degrees: string): string => (Number(degrees) + 0.00004).toFixed(8);

describeDatabase('rasters that were removed from the data folder', (engine) => {
  let context: Context;
  let files: Awaited<ReturnType<typeof syntheticFiles>>;

  const load = async (): Promise<void> => {
    const report = await refresh(context, loadOptions([files.folder], [14], { accept: { who: 'a test', why: 'the test accepts every change' } }));
    expect(report.failures).toEqual([]);
  };
  const rowsOf = async (section: string): Promise<Map<number, string>> => {
    const rows = await context.database.query<{ fid: number; row: unknown }>(`select fid, to_jsonb(t) as row from section.${section} t order by fid`);
    return new Map(rows.map(({ fid, row }) => [fid, JSON.stringify(row)]));
  };
  const everything = async (): Promise<Map<number, string>[]> => Promise.all(SWEPT.map(rowsOf));
  const makeAllAnew = (): Promise<unknown> => context.database.query("update ledger.publication_table set fingerprint = '', inputs = '{}'");
  let before: Map<number, string>[];
  let changed: readonly number[];

  beforeAll(async () => {
    files = await syntheticFiles(300, 5, { only: SOURCES, comuni: 4 });
    context = await freshContext(engine);
    await load();
    before = await everything();
    const rasters = (await readdir(files.folder)).filter((name) => RASTER.test(name));
    expect(rasters.length).toBeGreaterThan(4);
    for (const name of rasters) await rename(join(files.folder, name), join(files.folder, `.${name}.aside`));
    // Moves the corners of the parcels of one comune by a few metres.
    await rewriteZip(join(files.folder, 'MOLISE.zip'), (path, content) => (!path.includes('/Z003_') || !path.endsWith('_ple.gml') ? content : Buffer.from(
      content.toString('utf8').replace(/(<gml:posList[^>]*>)([^<]*)</g, (_all, tag: string, list: string) => `${tag}${list.trim().split(/\s+/).map(moved).join(' ')} <`),
    )));
    await load();
    changed = (await context.database.query<{ fid: number }>("select fid from core.parcel where belfiore = 'Z003' and kind = 'land' order by fid")).map(({ fid }) => fid);
    expect(changed.length).toBeGreaterThan(30);
  });
  afterAll(() => files.remove());

  const holds = async (): Promise<void> => {
    const now = await everything();
    for (const [index, section] of SWEPT.entries()) {
      for (const [fid, row] of before[index]!) if (!changed.includes(fid)) expect(now[index]!.get(fid), `${section} ${fid}`).toBe(row);
      for (const fid of changed) {
        const row = now[index]!.get(fid);
        if (row !== undefined) expect(row, `${section} ${fid}`).toContain('"unread":true');
      }
    }
    const { unread } = await readStatus(context);
    expect(unread.map(({ section, unit }) => `${section} ${unit}`).sort()).toEqual(['nightlights 14', 'solar 14', 'terrain 14']);
    expect(unread.find(({ section }) => section === 'terrain')!.parcels).toBe(changed.length);
  };

  it('keep the rows of unchanged parcels, give changed parcels no values, and are reported with the number of changed parcels', holds);

  it('keep the rows of unchanged parcels in a complete rebuild', async () => {
    await makeAllAnew();
    await load();
    await holds();
  });

  it('give changed parcels coverage not_loaded, and leave the coverage of unchanged parcels mapped', async () => {
    const [record] = await context.database.query<{ json: Record<string, unknown> & { meta: { coverage: Record<string, string> } } }>(
      'select api.parcel($1, $2) as json', [changed[0], [...SWEPT]],
    );
    expect([record!.json['terrain'], record!.json['nightlights']]).toEqual([null, null]);
    expect(record!.json.meta.coverage).toMatchObject({ terrain: 'not_loaded', nightlights: 'not_loaded' });
    const [other] = await context.database.query<{ coverage: Record<string, string> }>(
      "select api.parcel(min(fid), $1) -> 'meta' -> 'coverage' as coverage from core.parcel where belfiore = 'Z001' and kind = 'land'", [[...SWEPT]],
    );
    expect(other!.coverage).toMatchObject({ terrain: 'mapped', nightlights: 'mapped' });
  });

  it('are read in a complete rebuild after they are put back into the data folder', async () => {
    for (const name of await readdir(files.folder)) if (name.endsWith('.aside')) await rename(join(files.folder, name), join(files.folder, name.slice(1, -'.aside'.length)));
    await makeAllAnew();
    await load();
    expect((await readStatus(context)).unread).toEqual([]);
    const now = await everything();
    for (const [index, section] of SWEPT.entries()) {
      for (const [fid, row] of before[index]!) if (!changed.includes(fid)) expect(now[index]!.get(fid), `${section} ${fid}`).toBe(row);
    }
    expect(changed.filter((fid) => now[0]!.has(fid)).length).toBe(changed.length);
  });
});
