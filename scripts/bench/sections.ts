/**
 * Compares the build of sections with plain PostGIS scripts (`plain/*.sql`) on the tables of one load. The scripts use GiST joins, without subdivided
 * geometries or grid keys. The benchmark prepares the inputs and indexes of the scripts without timing. The times of the sections come from the load, which
 * builds other tables in parallel.
 */
import { join } from 'node:path';
import { ROOT } from '../../pipelines/config.ts';
import { readSqlFile } from '../../pipelines/contract/sql-files.ts';
import { inWorkspace } from '../../pipelines/db/layers.ts';
import { onDatabase, type Session } from '../../pipelines/db/index.ts';
import { textTable } from '../../pipelines/text-table.ts';
import { ofSteps, rounded, stepOf, type Measurement } from './history.ts';
import { measureLoad } from './load.ts';
import { number, onFreshDatabase, say, secondsOf, SyntheticFiles, thousands, type Bench, type Fresh } from './shared.ts';

const PARCELS = 200_000;

interface Compared {
  readonly section: string;
  /** Tables that only the section needs. */
  readonly tables: readonly string[];
  /** Sources whose layers only the section needs. */
  readonly sources: readonly string[];
}

const COMPARED: readonly Compared[] = [
  { section: 'risk', tables: ['section.risk'], sources: ['ispra_flood', 'ispra_landslide', 'ingv_mps04'] },
  { section: 'subsidence', tables: ['section.subsidence'], sources: ['egms_vertical'] },
  { section: 'coastal_erosion', tables: ['core.shore_piece', 'section.coastal_erosion'], sources: ['ispra_shoreline'] },
  { section: 'demographics', tables: ['section.demographics'], sources: ['istat_census'] },
  { section: 'land_cover', tables: ['section.land_cover'], sources: ['clc_land_cover'] },
];

interface ComparedSection {
  readonly section: string;
  readonly seconds: number;
  readonly plainSeconds: number;
  /** Time to load the section's layers, in seconds. The plain script reads prepared tables instead of layers. */
  readonly layerSeconds: number;
  readonly parcels: number;
  /** Number of parcels whose values differ by more than rounding errors. */
  readonly differing: number;
}

export const run: Bench = (databaseUrl, [parcels = PARCELS]) => SyntheticFiles.during((files) => onFreshDatabase(databaseUrl, async (fresh) => {
  const load = await measureLoad(fresh, files, parcels);
  const sections = await compareSections(fresh, load);
  const all = { section: 'all', ...sum(sections) };
  say(`sections: ${thousands(parcels)} parcels, compared with a plain PostGIS script on the same tables`);
  say(textTable(
    sections.map(({ section, seconds, plainSeconds, layerSeconds, parcels: found, differing }) => [
      section, rounded(seconds), rounded(plainSeconds), rounded(plainSeconds / seconds), rounded(plainSeconds / (seconds + layerSeconds)), found, differing,
    ]),
    ['section', 'mappale, s', 'plain, s', 'ratio', 'ratio with layers', 'parcels', 'differing'],
  ));
  say(`all: mappale ${number(all.seconds, 1)} s, plain ${number(all.plainSeconds, 1)} s, ratio ${number(all.plainSeconds / all.seconds, 1)}`);
  return [{ bench: 'load', ...load }, { bench: 'sections', ...measurementOf(parcels, [...sections, all]) }];
}));

/** Runs the plain scripts on the tables of a load, and compares times and values with the load. */
function compareSections({ url }: Fresh, { steps }: Measurement): Promise<ComparedSection[]> {
  const secondsIn = (names: readonly string[]): number => steps.reduce((total, { name, seconds }) => total + (names.includes(name) ? seconds ?? 0 : 0), 0);
  return onDatabase(url, 'write', async (database) => {
    await database.query('create schema plain');
    // Uses a workspace, because a workspace has the same memory settings as a build.
    return inWorkspace(database, 'plain', async (session) => {
      await runPlain(session, 'prepare');
      const plain = new Map<string, number>();
      for (const { section } of COMPARED) plain.set(section, await runPlain(session, section));
      await runPlain(session, 'differences');
      const found = await session.query<{ section: string; parcels: number; differing: number }>('select section, parcels::int4 as parcels, differing::int4 as differing from plain.difference');
      return COMPARED.map(({ section, tables, sources }) => ({
        ...found.find((each) => each.section === section)!, seconds: secondsIn(tables), plainSeconds: plain.get(section)!,
        layerSeconds: secondsIn(sources.map((source) => `load ${source}`)),
      }));
    });
  });
}

/** @returns seconds */
function runPlain(session: Session, name: string): Promise<number> {
  const { text, file } = readSqlFile(join(ROOT, 'scripts', 'bench', 'plain', `${name}.sql`));
  return secondsOf(() => session.script(text, file));
}

/**
 * Returns the build time of each section, the time of the section's plain script, and the ratio of the two. Also returns the ratio that includes the loading of
 * layers, and the number of differing parcels.
 */
function measurementOf(parcels: number, sections: readonly ComparedSection[]): Measurement {
  return ofSteps(
    parcels,
    sections.flatMap(({ section, seconds, plainSeconds }) => [stepOf(section, seconds, parcels), stepOf(`${section}, plain PostGIS`, plainSeconds, parcels)]),
    Object.fromEntries(sections.flatMap(({ section, seconds, plainSeconds, layerSeconds, differing }) => [
      [`${section}_times_plain`, rounded(plainSeconds / seconds)],
      [`${section}_with_layers_times_plain`, rounded(plainSeconds / (seconds + layerSeconds))],
      [`${section}_differing_parcels`, differing],
    ])),
  );
}

function sum(sections: readonly ComparedSection[]): Omit<ComparedSection, 'section'> {
  const of = (key: 'seconds' | 'plainSeconds' | 'layerSeconds' | 'parcels' | 'differing'): number => sections.reduce((total, section) => total + section[key], 0);
  return { seconds: of('seconds'), plainSeconds: of('plainSeconds'), layerSeconds: of('layerSeconds'), parcels: of('parcels'), differing: of('differing') };
}
