/** Runs one real comune through every step, on both engines. */
import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Context } from '../../pipelines/run/context.ts';
import { readConfig } from '../../pipelines/config.ts';
import { contextOf } from '../../pipelines/run/context.ts';
import { migrate } from '../../pipelines/db/migrate.ts';
import type { Database } from '../../pipelines/db/index.ts';
import { polygonsAreaM2 } from '../../pipelines/synthetic/plane-geometry.ts';
import { SILENT } from '../../pipelines/log.ts';
import { loadSources } from '../../pipelines/contract/registry.ts';
import { SECTION_NAMES } from '../../pipelines/contract/sections.ts';
import { refresh } from '../../pipelines/run/refresh.ts';
import { describeDatabase } from '../harness/database.ts';
import { realData } from '../harness/real-data.ts';

const MOLISE = 14;
const folders = ['cadastre', 'istat-admin', 'seismic'].map((name) => realData(name));
const there = folders.every((folder) => folder !== null && existsSync(folder));
const sources = await loadSources();
/** Records as text by fid, for each engine. */
const records = new Map<string, Map<number, string>>();

async function contextOn(database: Database): Promise<Context> {
  await migrate(database, sources);
  return contextOf(readConfig({}), sources, database, SILENT);
}

async function readAll(database: Database): Promise<Map<number, string>> {
  const rows = await database.query<{ fid: number; record: unknown }>('select p.fid, api.parcel(p.fid, $1) as record from core.parcel p order by p.fid', [SECTION_NAMES]);
  return new Map(rows.map(({ fid, record }) => [fid, JSON.stringify(record)]));
}

describe.skipIf(!there)('San Felice del Molise (H833), as published (real data next to the checkout)', () => {
  const options = { command: 'test', data: folders as string[], regions: [MOLISE], parallel: 2, accept: null, force: false };

  describeDatabase('loaded', (engine) => {
    let opened: Promise<Context> | undefined;
    const context = (): Promise<Context> => (opened ??= engine.openDatabase().then(contextOn));

    it('has a row for every parcel and every sheet of the zip, without rejects', async () => {
      const report = await refresh(await context(), options);
      expect(report.failures).toEqual([]);
      const cadastre = report.loaded.find(({ files }) => files.includes('MOLISE.zip'));
      expect(cadastre).toMatchObject({ records: 1370, rows: 1370, rejects: 0, duplicates: 0 });
      const [counts] = await (await context()).database.query('select (select count(*) from core.parcel) as parcels, (select count(*) from core.sheet) as sheets');
      expect(counts).toEqual({ parcels: 1344, sheets: 26 });
    });

    it('has areas that agree with an independent computation within 0.1 %', async () => {
      const rows = await (await context()).database.query<{ area_m2: number; geojson: { coordinates: [number, number][][][] } }>('select area_m2, st_asgeojson(geom, 12)::jsonb as geojson from core.parcel');
      expect(rows.length).toBe(1344);
      for (const { area_m2, geojson } of rows) {
        const expected = polygonsAreaM2(geojson.coordinates);
        expect(Math.abs(area_m2 - expected)).toBeLessThanOrEqual(expected * 0.001 + 0.01);
      }
    });

    it('has the same fids and the same bytes if it is loaded again', async () => {
      const { database } = await context();
      const first = await readAll(database);
      const again = await refresh(await context(), options);
      expect(again.runId).toBeNull();
      await database.query("update ledger.release set reader = 'another', fingerprint = 'another ' || release_id");
      const reloaded = await refresh(await context(), options);
      expect(reloaded.loaded.length).toBeGreaterThan(2);
      expect(await readAll(database)).toEqual(first);
      records.set(engine.name, first);
    });
  });

  it('has the same bytes on both engines', ({ skip }) => {
    const [first, second] = [...records.values()];
    if (first === undefined || second === undefined) return skip('only one engine ran');
    expect([...second]).toEqual([...first]);
  });
});
