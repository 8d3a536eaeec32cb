/** Provides databases in which a synthetic region is published. Each region is loaded once per run and engine, and each suite gets a copy. */
import { openDatabase } from '../../pipelines/db/index.ts';
import { refresh } from '../../pipelines/run/refresh.ts';
import type { TestEngine } from './database.ts';
import { migratedDatabase } from './fresh-context.ts';
import { contextOn, loadOptions, syntheticFiles, type SyntheticChoice } from './region.ts';

/** Arguments of `syntheticFiles` and `syntheticRegion`. */
export type RegionParameters = readonly [parcels: number, seed: number, choice: SyntheticChoice];

/** Regions that several suites use. Use one of these regions if possible, because each further region requires another load. */
export const REGIONS = {
  /** Has every source, and two comuni. */
  usual: [400, 11, {}],
  /** Has every source, with every half-year of quotations. The third comune has a name in two languages. */
  whole: [500, 11, { comuni: 4, everySemester: true }],
  /** Has only parcels, comuni with their boundaries, floods and addresses. */
  floods: [400, 17, { comuni: 3, only: ['ade_cadastre', 'istat_comuni', 'istat_boundaries', 'ispra_flood', 'anncsu_addresses'] }],
} as const satisfies Readonly<Record<string, RegionParameters>>;

/** Creates a database with a synthetic region, which is loaded like a user's region. The loaded files are deleted. @returns the URL of the database */
export function loadedRegion(engine: TestEngine, ...[parcels, seed, choice]: RegionParameters): Promise<string> {
  return engine.sharedDatabase(`region ${JSON.stringify([parcels, seed, choice])}`, async (prepared) => {
    const database = await openDatabase(prepared);
    const files = await syntheticFiles(parcels, seed, choice);
    try {
      const report = await refresh(await contextOn(database), loadOptions([files.folder], [files.region.code]));
      if (report.failures.length > 0) throw report.failures[0]!;
    } finally {
      await files.remove();
      await database.close();
    }
  }, () => migratedDatabase(engine));
}
