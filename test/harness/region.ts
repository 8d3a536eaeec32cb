/** Writes the files of synthetic regions, and provides the context and the options with which tests load them. */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '../../pipelines/config.ts';
import { contextOf, type Context } from '../../pipelines/run/context.ts';
import type { Database } from '../../pipelines/db/index.ts';
import { makeRegion } from '../../pipelines/synthetic/make-region.ts';
import type { SyntheticRegion } from '../../pipelines/synthetic/region.ts';
import { writeSynthetic } from '../../pipelines/synthetic/synthetic.ts';
import { SILENT } from '../../pipelines/log.ts';
import { loadSources, type RegisteredSource } from '../../pipelines/contract/registry.ts';
import { upgrade } from '../../pipelines/run/upgrade.ts';
import type { RefreshOptions } from '../../pipelines/run/refresh.ts';

/** Upgrades a database to this version, and returns the program's context for the database. */
export async function contextOn(database: Database, sources?: readonly RegisteredSource[]): Promise<Context> {
  const all = sources ?? (await loadSources());
  await upgrade(database, all);
  return contextOf(readConfig({}), all, database, SILENT);
}

/** Returns the options of a load with the defaults of the command line, except that `parallel` is 2. */
export function loadOptions(data: readonly string[], regions: readonly number[] | null, more: Partial<RefreshOptions> = {}): RefreshOptions {
  return { command: 'test', data, regions, parallel: 2, accept: null, force: false, ...more };
}

/** Properties of a synthetic region, and the sources that write files. By default, every source writes its files. */
export interface SyntheticChoice {
  readonly only?: readonly string[];
  readonly comuni?: number;
  readonly code?: number;
  readonly dense?: boolean;
  readonly form?: SyntheticRegion['form'];
  /** If true, writes every half-year of quotations. If false, writes only a few half-years, which cover all cases, including older perimeters. */
  readonly everySemester?: boolean;
}

/** Returns the synthetic region that `syntheticFiles` writes. */
export function syntheticRegion(parcels: number, seed: number, { comuni, code, dense, form }: SyntheticChoice = {}): SyntheticRegion {
  return makeRegion({ parcels, seed, comuni, region: code, dense, form });
}

/** Writes the files of a synthetic region into a temporary folder. Remove the folder afterwards. */
export async function syntheticFiles(
  parcels: number,
  seed: number,
  { only, comuni, code, dense, form, everySemester = false }: SyntheticChoice = {},
): Promise<{ folder: string; region: SyntheticRegion; remove(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'mappale-region-'));
  const all = await loadSources();
  const unknown = only?.find((wanted) => !all.some(({ id }) => id === wanted));
  if (unknown !== undefined) throw new Error(`unknown source ${unknown}`);
  const sources = only === undefined ? all : all.filter(({ id }) => only.includes(id));
  const region = await writeSynthetic(sources, folder, { parcels, seed, comuni, region: code, dense, form });
  if (!everySemester) for (const name of await readdir(folder)) if (/^QI_9000(0[4-79]|1\d|2\d)/.test(name)) await rm(join(folder, name));
  return { folder, region, remove: () => rm(folder, { recursive: true, force: true }) };
}
