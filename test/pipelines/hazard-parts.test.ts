/**
 * Tests hazard files of a part of Italy, from the files to the record. Comuni outside the files must never appear free of hazard. A refresh that copies
 * rows must publish the same content as a complete build, with and without boundaries of comuni.
 */
import { cp, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Context } from '../../pipelines/run/context.ts';
import { utm32 } from '../../pipelines/synthetic/map-projection.ts';
import { shapefileEntries } from '../../pipelines/synthetic/shapefile-writer.ts';
import type { LonLat, SyntheticComune } from '../../pipelines/synthetic/region.ts';
import { writeZip } from '../../pipelines/synthetic/zip-writer.ts';
import type { Log } from '../../pipelines/log.ts';
import { explain } from '../../pipelines/operate/explain.ts';
import { refresh } from '../../pipelines/run/refresh.ts';
import { currentContent, recount } from '../harness/published.ts';
import { describeDatabase } from '../harness/database.ts';
import { freshContext } from '../harness/fresh-context.ts';
import { syntheticFiles, loadOptions } from '../harness/region.ts';
import { rewriteZip } from '../harness/rewrite-zip.ts';

const FLOOD = 'Mosaicatura_ISPRA_2020_aree_pericolosita_idraulica';
const FRANE = 'Mosaicatura_ISPRA_2024_pericolosita_frana_PAI';
const SHORE = 'Dinamica_Litoranea_2006_2020';
/** A point in each of Italy's 20 regions. Molise is the last. */
const REGIONS: readonly LonLat[] = [
  [7.7, 45.0],
  [7.4, 45.7],
  [9.8, 45.5],
  [11.1, 46.4],
  [11.9, 45.6],
  [13.1, 46.1],
  [8.9, 44.5],
  [11.0, 44.5],
  [11.0, 43.4],
  [12.5, 42.9],
  [13.2, 43.4],
  [12.7, 41.8],
  [13.9, 42.2],
  [14.9, 40.8],
  [16.6, 40.9],
  [16.1, 40.5],
  [16.5, 39.0],
  [14.2, 37.5],
  [9.0, 40.0],
  [14.6, 41.6],
];
const SOURCES = ['ade_cadastre', 'istat_comuni', 'istat_soppressi', 'istat_boundaries'];

/** Returns a strip in the middle of a comune, from south to north. */
function strip({ box: [west, south, east, north] }: SyntheticComune): LonLat[] {
  const [from, to] = [west + (east - west) * 0.4, west + (east - west) * 0.6];
  const [low, high] = [south + (north - south) * 0.05, north - (north - south) * 0.05];
  return [[from, low], [from, high], [to, high], [to, low], [from, low]];
}

interface Drawn {
  readonly name: string;
  readonly field: string;
  readonly value: string;
  readonly comuni: readonly SyntheticComune[];
  /** Number of regions, in the order of `REGIONS`, in which the file has an additional area of about one hectare. */
  readonly regions?: number;
}

async function areas(folder: string, name: string, layers: readonly Drawn[]): Promise<void> {
  await writeZip(join(folder, `${name}.zip`), layers.flatMap((layer) => shapefileEntries(`${name}/${layer.name}`, {
    type: 'polygon', srid: 32632, encoding: 'utf-8', fields: [{ name: layer.field, type: 'text', length: 80 }],
    features: [
      ...layer.comuni.map(strip),
      ...REGIONS.slice(0, layer.regions ?? 0).map(([x, y]): LonLat[] => [[x, y], [x, y + 0.001], [x + 0.001, y + 0.001], [x + 0.001, y], [x, y]]),
    ].map((ring) => ({ geometry: { type: 'polygon', polygons: [[ring.map((point) => utm32.forward(point))]] }, values: [layer.value] })),
  })));
}

async function shore(folder: string, { box: [west, , east, north] }: SyntheticComune): Promise<void> {
  await writeZip(join(folder, `${SHORE}.zip`), shapefileEntries(SHORE, {
    type: 'line', srid: 32632, encoding: 'utf-8', fields: [{ name: 'Dinamica', type: 'text', length: 40 }, { name: 'm_anno', type: 'real', length: 12, decimals: 3 }],
    features: [{ geometry: { type: 'line', lines: [[[west + (east - west) * 0.1, north + 0.0002], [east - (east - west) * 0.1, north + 0.0002]].map((point) => utm32.forward(point as unknown as LonLat))] }, values: ['Erosione', -1] }],
  }));
}

interface Seen extends Record<string, unknown> {
  readonly belfiore: string;
  readonly flood: string;
  readonly level: string | null;
  readonly landslide: string;
  readonly attention: boolean | null;
  readonly coast: string;
  readonly ground: string;
}

describeDatabase('hazard files of a part of Italy', (engine) => {
  let files: Awaited<ReturnType<typeof syntheticFiles>>;
  let context: Context;
  let made: Record<string, string> = {};
  const log: Log = {
    runId: null, warn() {}, progress() {}, info() {},
    debug(message) {
      const [, relation, how] = /^ {2}(\S+): (.*?)(?:, )?[\d.]* ?m?s?$/.exec(message) ?? [];
      if (relation !== undefined) made[relation] = how!;
    },
  };
  const run = async (): Promise<void> => {
    made = {};
    const { failures } = await refresh(context, loadOptions([files.folder], [14], { accept: { who: 'test', why: 'parcels were moved' } }));
    expect(failures.map((failure) => failure.report())).toEqual([]);
  };
  /** Checks that the published tables match the ledger, and that a complete build publishes the same content. */
  const holds = async (): Promise<void> => {
    const found = await currentContent(context.database);
    expect(await recount(context.database)).toEqual(found);
    await context.database.query("update ledger.publication_table set fingerprint = '', inputs = '{}'");
    await run();
    expect(await currentContent(context.database)).toEqual(found);
  };
  /** Maps each comune to the distinct values of a field in the records of the comune's parcels. */
  const said = async (field: keyof Seen): Promise<Record<string, unknown[]>> => {
    const rows = await context.database.query<Seen>(`
      select p.belfiore, j #>> '{risk,coverage,flood}' as flood, j #>> '{risk,flood_level}' as level, j #>> '{risk,coverage,landslide}' as landslide, (j #>> '{risk,landslide_attention}')::bool as attention,
        j #>> '{meta,coverage,coastal_erosion}' as coast, j #>> '{meta,coverage,subsidence}' as ground
      from core.parcel p cross join lateral (select api.parcel(p.fid, '{risk, subsidence, coastal_erosion}') as j) as record`);
    const found: Record<string, unknown[]> = {};
    for (const row of rows) found[row.belfiore] = [...new Set([...(found[row.belfiore] ?? []), row[field]])].sort();
    return found;
  };
  /** Moves the parcels of one comune to the north-east. @param by degrees of latitude and longitude, by default a few metres */
  const move = async (comune: string, by = 0.00004): Promise<void> => rewriteZip(join(files.folder, 'MOLISE.zip'), (path, content) =>
    (!path.includes(`/${comune}_`) || !path.endsWith('_ple.gml') ? content : Buffer.from(content.toString('utf8').replace(/(<gml:posList[^>]*>)([^<]*)</g, (_all, tag: string, list: string) =>
      `${tag}${list.trim().split(/\s+/).map((value) => (Number(value) + by).toFixed(8)).join(' ')} <`))));
  const only = (comuni: readonly string[], here: unknown, elsewhere: unknown): Record<string, unknown[]> =>
    Object.fromEntries(files.region.comuni.map(({ belfiore }) => [belfiore, [comuni.includes(belfiore) ? here : elsewhere]]));

  beforeAll(async () => {
    files = await syntheticFiles(600, 5, { only: SOURCES, comuni: 6 });
    const { comuni } = files.region;
    const scenario = (word: string): string => `Pericolosità idraulica - ${word}ProbabilityHazard`;
    await areas(files.folder, FLOOD, [
      { name: 'HPH_elevata', field: 'scenario', value: scenario('High'), comuni: comuni.slice(0, 1) },
      { name: 'MPH_media', field: 'scenario', value: scenario('Medium'), comuni: comuni.slice(0, 1) },
      { name: 'LPH_bassa', field: 'scenario', value: scenario('Low'), comuni: comuni.slice(0, 2) },
    ]);
    await areas(files.folder, FRANE, [{ name: FRANE, field: 'per_fr_ita', value: 'Aree di Attenzione aa', comuni: comuni.slice(3, 4) }]);
    await shore(files.folder, comuni[1]);
    context = { ...(await freshContext(engine)), log };
    await run();
  });
  afterAll(() => files?.remove());

  it('give not_mapped in comuni outside the files, partial in comuni with P1 only, and not_loaded for sections without a loaded map', async () => {
    const rest = Object.fromEntries(Object.entries(only([], 0, 'not_mapped')).filter(([comune]) => comune > 'Z002'));
    expect(await said('flood')).toEqual({ Z001: ['mapped'], Z002: ['partial'], ...rest });
    expect(await said('landslide')).toEqual(only(['Z004'], 'mapped', 'not_mapped'));
    expect(await said('attention')).toEqual({ ...only([], 0, null), Z004: [false, true] });
    expect(await said('coast')).toEqual(only(['Z002'], 'mapped', 'not_mapped'));
    expect(await said('ground')).toEqual(only([], 0, 'not_loaded'));
    // Outside the files, the level is null and not a level without hazard.
    expect((await said('level'))['Z003']).toEqual([null]);
  });

  it('are cited by explain for the level, for shares and for the coverage of the comune', async () => {
    const [parcel] = await context.database.query<{ fid: number }>("select min(fid) as fid from core.parcel join section.risk using (fid) where belfiore = 'Z001' and flood_share between 0.1 and 0.9");
    const { reproduced, evidence } = await explain(context, parcel!.fid, 'risk');
    expect(reproduced).toBe(true);
    const named = (field: string): unknown[] => evidence.filter((each) => each.field === field).map(({ value, source, member }) => `${value} ${source} ${member.split('/').at(-1)}`);
    expect(named('flood_level')[0]).toBe('P3 ispra_flood HPH_elevata.shp');
    expect(named('flood_level').sort()).toEqual(['P1 ispra_flood LPH_bassa.shp', 'P2 ispra_flood MPH_media.shp', 'P3 ispra_flood HPH_elevata.shp']);
    expect(named('flood_share')).toEqual(['P3 ispra_flood HPH_elevata.shp']);
    expect(named('coverage.flood').sort()).toEqual(['P1 ispra_flood LPH_bassa.shp', 'P2 ispra_flood MPH_media.shp', 'P3 ispra_flood HPH_elevata.shp']);
    expect(named('coverage.landslide')).toEqual([]);
  });

  it('are refused if they cover fewer comuni than before, and the refusal states both numbers', async () => {
    const { comuni } = files.region;
    const before = await currentContent(context.database);
    await areas(files.folder, FRANE, [{ name: FRANE, field: 'per_fr_ita', value: 'Elevata P3', comuni: comuni.slice(3, 6) }]);
    await run();
    expect(await said('landslide')).toEqual(only(['Z004', 'Z005', 'Z006'], 'mapped', 'not_mapped'));
    await areas(files.folder, FRANE, [{ name: FRANE, field: 'per_fr_ita', value: 'Elevata P3', comuni: comuni.slice(3, 5) }]);
    const { failures } = await refresh(context, loadOptions([files.folder], [14]));
    expect(failures.map(({ exitCode, code }) => [exitCode, code])).toEqual([[5, 'SUSPICIOUS']]);
    expect(failures[0]!.detail).toMatch(/landslide +mapped, rows that are true +2 → 1/);
    expect(await said('landslide')).toEqual(only(['Z004', 'Z005', 'Z006'], 'mapped', 'not_mapped'));
    await areas(files.folder, FRANE, [{ name: FRANE, field: 'per_fr_ita', value: 'Aree di Attenzione aa', comuni: comuni.slice(3, 4) }]);
    await run();
    expect(await currentContent(context.database)).toEqual(before);
  });

  it('leave copied rows unchanged, so that a change of parcels alone gives the same result as a complete build', async () => {
    await move('Z001');
    await run();
    expect([made['core.coverage'], made['section.risk']]).toEqual(['nothing changed', 'only what changed']);
    await holds();
  });

  it('cause no rebuild if boundaries are issued again with the same content', async () => {
    const name = (await readdir(files.folder)).find((each) => /^Limiti.*\.zip$/i.test(each))!;
    await rewriteZip(join(files.folder, name), (path, content) => (/\.cpg$/i.test(path) ? Buffer.concat([content, Buffer.from('\n')]) : content));
    await run();
    expect([made['core.coverage'], made['core.shore_piece'], made['section.risk'], made['section.coastal_erosion']]).toEqual(['nothing changed', 'nothing changed', 'nothing changed', 'nothing changed']);
    await holds();
  });

  it('cover the comuni whose parcels overlap the areas if no boundaries are loaded, and keep this coverage if parcels move slightly', async () => {
    const before = { files, context };
    const fresh = await syntheticFiles(600, 5, { only: SOURCES.filter((id) => id !== 'istat_boundaries'), comuni: 6 });
    try {
      for (const name of [FLOOD, FRANE, SHORE]) await cp(join(files.folder, `${name}.zip`), join(fresh.folder, `${name}.zip`));
      files = fresh;
      context = { ...(await freshContext(engine)), log };
      await run();
      const rest = Object.fromEntries(Object.entries(only([], 0, 'not_mapped')).filter(([comune]) => comune > 'Z002'));
      expect(await said('flood')).toEqual({ Z001: ['mapped'], Z002: ['partial'], ...rest });
      expect(await said('landslide')).toEqual(only(['Z004'], 'mapped', 'not_mapped'));
      expect(await said('coast')).toEqual(only(['Z002'], 'mapped', 'not_mapped'));
      await move('Z001');
      await run();
      expect([made['core.coverage'], made['section.risk']]).toEqual(['nothing changed', 'only what changed']);
      await holds();
      // The parcels move so far that the strip contains no parcel. Both tables are then built completely.
      await move('Z004', 0.5);
      await run();
      expect((await said('landslide'))['Z004']).toEqual(['not_mapped']);
      expect([made['core.coverage'], made['section.risk']]).toEqual(['', '']);
      await holds();
    } finally {
      await fresh.remove();
      ({ files, context } = before);
    }
  });

  it('take precedence over an older map of Italy in their comuni, for each class, and only there', async () => {
    const { comuni } = files.region;
    const scenario = (word: string): string => `Pericolosità idraulica - ${word}ProbabilityHazard`;
    const kept = ['HPH_elevata', 'MPH_media', 'LPH_bassa'].map((name, i): Drawn => ({ name, field: 'scenario', value: scenario(['High', 'Medium', 'Low'][i]!), comuni: comuni.slice(0, 6), regions: 19 }));
    await areas(files.folder, FLOOD, kept);
    await run();
    expect(await said('flood')).toEqual(only([], 0, 'mapped'));
    const levels = async (): Promise<Record<string, unknown[]>> => said('level');
    expect(await levels()).toEqual(Object.fromEntries(comuni.map(({ belfiore }) => [belfiore, ['P3', null]])));
    // The newer file, of 2023, has only P3 in the second comune and P1 in the third comune. For all other classes and comuni, the older map is used.
    await areas(files.folder, 'Pericolosita_idraulica_2023_parte', [
      { name: 'HPH_parte', field: 'scenario', value: scenario('High'), comuni: comuni.slice(1, 2) }, { name: 'LPH_parte', field: 'scenario', value: scenario('Low'), comuni: comuni.slice(2, 3) },
    ]);
    await run();
    expect(await said('flood')).toEqual(only([], 0, 'mapped'));
    expect(await levels()).toEqual(Object.fromEntries(comuni.map(({ belfiore }) => [belfiore, ['P3', null]])));
    const [parcel] = await context.database.query<{ fid: number }>("select min(fid) as fid from core.parcel join section.risk using (fid) where belfiore = 'Z003' and flood_level is not null");
    const { evidence } = await explain(context, parcel!.fid, 'risk');
    expect(evidence.filter(({ field }) => field === 'coverage.flood').map(({ value, vintage }) => `${value} ${vintage}`).sort()).toEqual(['P1 2023', 'P2 2020', 'P3 2020']);
    await holds();
  });
});
