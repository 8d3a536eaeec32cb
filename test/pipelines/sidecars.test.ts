/** Tests that a survey notices sidecars that were added, replaced or removed after an earlier survey, although the .shp itself is unchanged. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { beforeAll, beforeEach, expect, it } from 'vitest';
import { locate } from '../../pipelines/ingest/locate.ts';
import { SeenFileLedger } from '../../pipelines/ledger/ledger.ts';
import type { Context } from '../../pipelines/run/context.ts';
import { boxRing } from '../../pipelines/synthetic/plane-geometry.ts';
import { writeShapefile, type ShapefileLayer } from '../../pipelines/synthetic/shapefile-writer.ts';
import { describeDatabase } from '../harness/database.ts';
import { freshContext } from '../harness/fresh-context.ts';

/** Structural aggregates without a .cpg. The vintage is the date in the .dbf. */
const LAYER: ShapefileLayer = {
  type: 'polygon', srid: 7794, encoding: null, modified: '2021-03-23',
  fields: [{ name: 'IDAG', type: 'text', length: 20 }, { name: 'Label', type: 'integer', length: 10 }, { name: 'Comune', type: 'text', length: 58 }],
  features: [{ geometry: { type: 'polygon', polygons: [[boxRing([7212000, 4610000, 7212010, 4610010])]] }, values: ['14070901000000000100', 1, 'Finta'] }],
};
const PARTS = ['finta.dbf', 'finta.prj', 'finta.shp', 'finta.shx'];

interface Looked {
  readonly sha256: string;
  readonly vintage: string;
  /** Names of the .shp and its sidecars. */
  readonly parts: readonly string[];
}

describeDatabase('a shapefile with an unchanged .shp', (engine) => {
  let context: Context;
  let folder: string;
  const at = (name: string): string => join(folder, name);

  /** Surveys a path with the results of earlier surveys in the ledger. Returns the shapefiles and the names of the unknown files. */
  const look = async (path = folder): Promise<{ readonly files: readonly Looked[]; readonly unknown: readonly string[] }> => {
    const seen = await SeenFileLedger.read(context.database, context.recogniser);
    const { releases, unknown, broken } = await locate([path], context.sources, seen);
    await seen.write(context.database);
    expect(broken).toEqual([]);
    const files = releases.flatMap((release) => release.files).map(({ sha256, recognition, parts }) => (
      { sha256, vintage: recognition.vintage, parts: parts.map((part) => basename(part.path)).sort() }));
    return { files, unknown: unknown.map((each) => basename(each)) };
  };

  /** Replaces the .dbf with the .dbf of a later edition, which is one byte longer. A longer file differs even if the clock of the file system is coarse. */
  const replaceTable = async (): Promise<void> => {
    const table = await readFile(at('finta.dbf'));
    table[1] = 2023 - 1900;
    await writeFile(at('finta.dbf'), Buffer.concat([table, Buffer.from([0x1a])]));
  };

  beforeAll(async () => {
    context = await freshContext(engine);
  });
  beforeEach(async ({ onTestFinished }) => {
    folder = await mkdtemp(join(tmpdir(), 'mappale-sidecars-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    await writeShapefile(folder, 'finta', LAYER);
  });

  it('has a different SHA-256 after a .cpg was added, and the previous SHA-256 again after the .cpg was removed', async () => {
    const before = await look();
    expect(before).toEqual({ files: [{ sha256: expect.any(String), vintage: '2021-03-23', parts: PARTS }], unknown: [] });
    expect(await look()).toEqual(before);
    await writeFile(at('finta.cpg'), 'UTF-8');
    const after = await look();
    expect(after).toEqual({ files: [{ sha256: expect.any(String), vintage: '2021-03-23', parts: ['finta.cpg', ...PARTS] }], unknown: [] });
    expect(after.files[0]!.sha256).not.toBe(before.files[0]!.sha256);
    expect(await look()).toEqual(after);
    await rm(at('finta.cpg'));
    expect(await look()).toEqual(before);
  });

  it('has the vintage of the new .dbf after the .dbf was replaced', async () => {
    const before = await look();
    await replaceTable();
    const after = await look();
    expect(after.files).toMatchObject([{ vintage: '2023-03-23', parts: PARTS }]);
    expect(after.files[0]!.sha256).not.toBe(before.files[0]!.sha256);
  });

  it('has the same sidecars, vintage and SHA-256 if the user names the .shp instead of the folder, even after the .dbf was replaced', async () => {
    const before = await look(at('finta.shp'));
    expect(before.files).toMatchObject([{ vintage: '2021-03-23', parts: PARTS }]);
    expect(await look()).toEqual(before);
    await replaceTable();
    const after = await look(at('finta.shp'));
    expect(after.files).toMatchObject([{ vintage: '2023-03-23', parts: PARTS }]);
    expect(after.files[0]!.sha256).not.toBe(before.files[0]!.sha256);
    expect(await look()).toEqual(after);
  });

  it('is recognised after a missing .dbf was added', async () => {
    const table = await readFile(at('finta.dbf'));
    await rm(at('finta.dbf'));
    expect(await look()).toEqual({ files: [], unknown: ['finta.prj', 'finta.shp', 'finta.shx'] });
    await writeFile(at('finta.dbf'), table);
    expect(await look()).toEqual({ files: [{ sha256: expect.any(String), vintage: '2021-03-23', parts: PARTS }], unknown: [] });
  });

  it('is recognised again only if a sidecar changed', async () => {
    await look();
    let recognised = 0;
    const sources = context.sources.map((source) => ({
      ...source,
      recognise: (...probe: Parameters<typeof source.recognise>) => {
        recognised += 1;
        return source.recognise(...probe);
      },
    }));
    const seen = await SeenFileLedger.read(context.database, context.recogniser);
    const count = async (): Promise<number> => {
      recognised = 0;
      await locate([folder], sources, seen);
      return recognised;
    };
    expect(await count()).toBe(0);
    await writeFile(at('finta.cpg'), 'UTF-8');
    expect(await count()).toBeGreaterThan(0);
    expect(await count()).toBe(0);
  });
});
