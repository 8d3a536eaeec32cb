/** Tests which losses of points refuse a newer list of points. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadSources } from '../../pipelines/contract/registry.ts';
import { pointsByPlace, type PointsOfPlace } from '../../pipelines/db/comparing.ts';
import { lossesOf } from '../../pipelines/ledger/lost-points.ts';
import type { Context } from '../../pipelines/run/context.ts';
import { refresh, type RefreshReport } from '../../pipelines/run/refresh.ts';
import { describeEngines } from '../harness/database.ts';
import { freshContext } from '../harness/fresh-context.ts';
import { loadOptions, syntheticFiles } from '../harness/region.ts';

function place(was: number, now: number, { moved = 0, name = 'CB AGNONE' } = {}): PointsOfPlace {
  return { place: name, region: 14, was, now, moved };
}
/** Returns 1,000 comuni with one point each. The first comuni lose their point. */
function villages(vanished: number): PointsOfPlace[] {
  return Array.from({ length: 1000 }, (_, at) => place(1, at < vanished ? 0 : 1, { name: `V${at}` }));
}

describe('a newer list of points', () => {
  it.each([
    ['a comune of 4 points vanishes', [place(4, 0)]],
    ['a comune of 21 points is merged and all its points are in another comune', [place(21, 0, { moved: 21 }), place(30, 51, { name: 'CB ALTRO' })]],
    ['a comune of 21 points is merged and 4 of its points close', [place(21, 0, { moved: 17 })]],
    ['10 of 21 points of a comune close', [place(21, 11)]],
    ['a tenth of the points of a large comune close', [place(900, 810)]],
    ['a comune gains points', [place(1, 40)]],
    ['the list is equal', [place(900, 900)]],
  ])('is accepted if %s', (_, changed) => {
    expect(lossesOf([...villages(0), ...changed])).toEqual([]);
  });

  it.each([
    ['a comune of 5 points vanishes', place(5, 0), 1],
    ['a comune of 21 points vanishes', place(21, 0), 17],
    ['a merged comune loses more points than may vanish', place(21, 0, { moved: 16 }), 1],
    ['11 of 21 points of a comune are missing', place(21, 10), 11],
    ['more than a tenth of the points of a large comune are missing', place(900, 809), 810],
  ])('is refused if %s', (_, lost, least) => {
    expect(lossesOf([...villages(0), lost])).toEqual([{ figure: 'points', was: lost.was, now: lost.now, least, places: [lost] }]);
  });

  it('may lack one small comune in a hundred, and is refused if it lacks more', () => {
    expect(lossesOf(villages(10))).toEqual([]);
    expect(lossesOf(villages(11))).toMatchObject([{ figure: 'comuni', was: 1000, now: 989, least: 990 }]);
    expect(lossesOf(villages(11))[0]!.places).toHaveLength(11);
  });

  it('may lack five small comuni of a small region, and any number of merged comuni', () => {
    const region = Array.from({ length: 60 }, (_, at) => place(1, 1, { name: `V${at}` }));
    const lacking = (count: number): PointsOfPlace[] => region.map((each, at) => (at < count ? { ...each, now: 0 } : each));
    expect(lossesOf(lacking(5))).toEqual([]);
    expect(lossesOf(lacking(6))).toMatchObject([{ figure: 'comuni', was: 60, now: 54, least: 55 }]);
    expect(lossesOf(region.slice(0, 4).map((each) => ({ ...each, now: 0 })))).toMatchObject([{ figure: 'comuni', was: 4, now: 0, least: 1 }]);
    const renamed = region.slice(0, 30).flatMap((each) => [{ ...each, now: 0, moved: 1 }, place(0, 1, { name: `NEW ${each.place}` })]);
    expect(lossesOf([...renamed, ...region.slice(30)])).toEqual([]);
    expect(lossesOf([...renamed, ...lacking(55).slice(30)])).toMatchObject([{ figure: 'comuni', was: 30, now: 5, least: 25 }]);
    expect(lossesOf([...lacking(20).map((each) => ({ ...each, moved: 1 - each.now })), place(0, 20, { name: 'CB NUOVO' })])).toEqual([]);
  });

  it('is refused with the comune that lost most points first', () => {
    const places = [place(6, 0, { name: 'CB B' }), place(40, 0, { name: 'CB A' }), place(900, 900, { name: 'CB C' })];
    expect(lossesOf([...villages(0), ...places]).map(({ places: broken }) => broken.map(({ place: name }) => name))).toEqual([['CB A', 'CB B']]);
  });
});

/** Stations by province and comune. The first id of each comune follows from `from`, so that a station keeps its id if the comune changes. */
type Stations = readonly { readonly at: string; readonly count: number; readonly from: number }[];

describeEngines('a newer list of fuel stations', (engine) => {
  let files: Awaited<ReturnType<typeof syntheticFiles>>;
  let context: Context;
  let day = 0;

  /** Loads a list of the next day. The stations have no coordinates and no house numbers, so only the list shows the loss. */
  async function load(stations: Stations, accept: string | null = null, name = 'anagrafica_impianti_attivi.csv'): Promise<RefreshReport> {
    day += 1;
    const lines = [LARGE, ...stations].flatMap(({ at, count, from }) => Array.from({ length: count }, (_, nth) => {
      const [province, ...comune] = at.split(' ');
      return `${from + nth}|FINTI|Esso|Stradale|NOME|VIA ROMA|${comune.join(' ')}|${province}||`;
    }));
    const header = 'idImpianto|Gestore|Bandiera|Tipo Impianto|Nome Impianto|Indirizzo|Comune|Provincia|Latitudine|Longitudine';
    const text = [`Estrazione del 2026-08-${String(day).padStart(2, '0')}`, header, ...lines, ''].join('\n');
    await writeFile(join(files.folder, name), text);
    return refresh(context, loadOptions([files.folder], [14], { accept: accept === null ? null : { who: 'test', why: accept } }));
  }

  /** A comune with so many stations that the quality gate, which counts the points of the region, accepts every list. */
  const LARGE = { at: 'CB CAMPOBASSO', count: 500, from: 10_000 };
  const AGNONE = { at: 'CB AGNONE', count: 21, from: 1000 };
  const ISERNIA = { at: 'IS ISERNIA', count: 30, from: 2000 };
  const SMALL = { at: 'CB PICCOLO', count: 3, from: 3000 };
  const MILANO = { at: 'MI MILANO', count: 100, from: 4000 };

  beforeAll(async () => {
    files = await syntheticFiles(60, 5, { comuni: 2, only: ['ade_cadastre', 'istat_comuni', 'istat_soppressi'] });
    context = await freshContext(engine);
    expect((await load([AGNONE, ISERNIA, SMALL, MILANO])).failures).toEqual([]);
  });
  afterAll(() => files.remove());

  it('is refused if a comune of 21 stations is missing, and the message names only this comune', async () => {
    const { failures } = await load([ISERNIA, SMALL, MILANO]);
    expect(failures).toMatchObject([{ exitCode: 5, code: 'FEWER_POINTS', at: 'anagrafica_impianti_attivi.csv' }]);
    expect(failures[0]!.detail).toBe('fuel_station: expected at least 17 points, found 0; in: CB agnone (21 points, now 0)');
  });

  it('is refused if a comune has lost 11 of 30 stations', async () => {
    const { failures } = await load([AGNONE, { ...ISERNIA, count: 19 }, SMALL, MILANO]);
    const detail = 'fuel_station: expected at least 20 points, found 19; in: IS isernia (30 points, now 19)';
    expect(failures[0]).toMatchObject({ code: 'FEWER_POINTS', detail });
  });

  it('is published if a small comune, or a comune of another region, is missing', async () => {
    expect((await load([AGNONE, ISERNIA])).failures).toEqual([]);
  });

  it('is published if a comune was merged and its stations are in the new comune', async () => {
    expect((await load([{ ...AGNONE, at: 'CB NUOVO COMUNE' }, ISERNIA])).failures).toEqual([]);
  });

  it('is refused if too many small comuni are missing, and the message names no comune of another region', async () => {
    const few = (province: string, from: number): Stations =>
      Array.from({ length: 6 }, (_, nth) => ({ at: `${province} PAESE ${nth}`, count: 1, from: from + nth }));
    expect((await load([...few('CB', 7000), ...few('MI', 8000), { ...AGNONE, at: 'CB NUOVO COMUNE' }, ISERNIA])).failures).toEqual([]);
    const { failures } = await load([{ ...AGNONE, at: 'CB NUOVO COMUNE' }, ISERNIA]);
    expect(failures[0]).toMatchObject({
      code: 'FEWER_COMUNI',
      detail: `fuel_station: expected at least 4 comuni, found 3; missing: ${[0, 1, 2, 3, 4, 5].map((nth) => `CB paese ${nth} (1 point, now 0)`).join(', ')}`,
    });
  });

  it('is published if a user accepts the loss, and the ledger has the numbers', async () => {
    expect((await load([ISERNIA], 'the stations closed')).failures).toEqual([]);
    const [row] = await context.database.query<{ accepted: unknown }>('select accepted from ledger.publication order by publication_id desc limit 1');
    expect(JSON.stringify(row)).toContain('CB nuovo comune (21 points, now 0)');
  });

  it('is compared with the newest file of each comune, if a partial list gave the stations new ids', async () => {
    const renamed = { ...AGNONE, from: 6000 };
    expect((await load([AGNONE, ISERNIA])).failures).toEqual([]);
    expect((await load([renamed], null, 'anagrafica_impianti_attivi_alto_molise.csv')).failures).toEqual([]);
    expect((await load([renamed, ISERNIA])).failures).toEqual([]);
  });

  it('is compared in every layer of points', async () => {
    const layers = (await loadSources()).flatMap(({ places = {} }) => Object.entries(places))
      .flatMap(([layer, { place: column, point }]) => (point === undefined ? [] : [{ layer, place: column, point }]));
    expect(layers.map(({ layer }) => layer)).toEqual(['cultural_place', 'school', 'fuel_station', 'pharmacy']);
    for (const { layer, ...columns } of layers) expect(await pointsByPlace(context.database, `layer.${layer}`, columns, { was: [], now: [] })).toEqual([]);
  });
});
