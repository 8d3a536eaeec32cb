/**
 * Compares the sections with plain PostGIS scripts (`plain/*.sql`: GiST joins, no pieces, no grid keys) on the tables of one load, in the same run. The input
 * of the scripts is prepared with its indexes, and this is not timed. The sections are timed in the load, in parallel with another table.
 */
import { join } from 'node:path';
import { ROOT } from '../../pipelines/config.ts';
import { inWorkspace } from '../../pipelines/db/catalog.ts';
import { readSqlFile } from '../../pipelines/contract/sql-files.ts';
import type { Session } from '../../pipelines/db/index.ts';
import { onDatabase, type Fresh } from './fresh.ts';
import { ofSteps, rounded, stepOf, type Measurement } from './history.ts';
import { measureLoad, type SyntheticFiles } from './load.ts';

interface Compared {
  readonly section: string;
  /** Tables that only this section needs. */
  readonly tables: readonly string[];
  /** Sources with layers and pieces for this section. */
  readonly sources: readonly string[];
}

const COMPARED: readonly Compared[] = [
  { section: 'risk', tables: ['section.risk'], sources: ['ispra_flood', 'ispra_landslide', 'ingv_mps04'] },
  { section: 'subsidence', tables: ['section.subsidence'], sources: ['egms_vertical'] },
  { section: 'coastal_erosion', tables: ['core.shore_piece', 'section.coastal_erosion'], sources: ['ispra_shoreline'] },
  { section: 'demographics', tables: ['section.demographics'], sources: ['istat_census'] },
  { section: 'land_cover', tables: ['section.land_cover'], sources: ['clc_land_cover'] },
];

export interface SectionBench {
  readonly section: string;
  readonly seconds: number;
  readonly plainSeconds: number;
  /** Seconds of loading its layers. The plain script gets prepared layers. */
  readonly layerSeconds: number;
  readonly parcels: number;
  /** Parcels with values that differ by more than rounding. */
  readonly differing: number;
}

/** Loads a region, then runs the plain scripts on its tables. @returns the load and each section */
export async function benchSections(fresh: Fresh, files: SyntheticFiles, parcels: number): Promise<{ load: Measurement; sections: SectionBench[] }> {
  const load = await measureLoad(fresh, files, parcels);
  const secondsOf = (names: readonly string[]): number => load.steps.reduce((sum, { name, seconds }) => sum + (names.includes(name) ? seconds ?? 0 : 0), 0);
  return onDatabase(fresh.url, async (database) => {
    await database.query('create schema plain');
    // Same memory as the builds of the program.
    return inWorkspace(database, 'plain', async (session) => {
      await timed(session, 'prepare');
      const plain = new Map<string, number>();
      for (const { section } of COMPARED) plain.set(section, await timed(session, section));
      await timed(session, 'differences');
      const found = await session.query<{ section: string; parcels: number; differing: number }>('select section, parcels::int4 as parcels, differing::int4 as differing from plain.difference');
      return {
        load,
        sections: COMPARED.map(({ section, tables, sources }) => ({
          ...found.find((each) => each.section === section)!, seconds: secondsOf(tables), plainSeconds: plain.get(section)!,
          layerSeconds: secondsOf(sources.map((source) => `load ${source}`)),
        })),
      };
    });
  });
}

async function timed(session: Session, name: string): Promise<number> {
  const { text, file } = readSqlFile(join(ROOT, 'scripts', 'bench', 'plain', `${name}.sql`));
  const startedAt = performance.now();
  await session.script(text, file);
  return (performance.now() - startedAt) / 1000;
}

/** Returns the measurement for the history: the ratio of each section to its peer, with and without loading its layers. */
export function measurementOfSections(parcels: number, sections: readonly SectionBench[]): Measurement {
  const all = { section: 'all', ...sum(sections) };
  return ofSteps(
    parcels,
    [...sections, all].flatMap(({ section, seconds, plainSeconds }) => [stepOf(section, seconds, parcels), stepOf(`${section}, plain PostGIS`, plainSeconds, parcels)]),
    Object.fromEntries([...sections, all].flatMap(({ section, seconds, plainSeconds, layerSeconds, differing }) => [
      [`${section}_times_plain`, rounded(plainSeconds / seconds)],
      [`${section}_with_layers_times_plain`, rounded(plainSeconds / (seconds + layerSeconds))],
      [`${section}_differing_parcels`, differing],
    ])),
  );
}

function sum(sections: readonly SectionBench[]): Omit<SectionBench, 'section'> {
  const of = (key: 'seconds' | 'plainSeconds' | 'layerSeconds' | 'parcels' | 'differing'): number => sections.reduce((total, section) => total + section[key], 0);
  return { seconds: of('seconds'), plainSeconds: of('plainSeconds'), layerSeconds: of('layerSeconds'), parcels: of('parcels'), differing: of('differing') };
}
