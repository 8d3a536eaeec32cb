/** Tests that names decide whether a file is complete, and that dates of zip entries decide which issue is newer. The size of a file has no effect. */
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { MappaleError } from '../../pipelines/errors.ts';
import { ZipArchive } from '../../pipelines/formats/zip.ts';
import { makeRegion } from '../../pipelines/synthetic/make-region.ts';
import { isWhole, newestEntry, stemOf } from '../../pipelines/readers/packaging.ts';
import type { Recognition } from '../../pipelines/contract/source.ts';
import { writeZip } from '../../pipelines/synthetic/zip-writer.ts';
import { loadSources } from '../../pipelines/contract/registry.ts';
import { loadSynthetic } from '../../pipelines/synthetic/synthetic.ts';
import { recognise } from '../../pipelines/ingest/locate.ts';
import { goldenOf, trial } from '../harness/trial.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const sources = await loadSources();
const synthetic = mkdtempSync(join(tmpdir(), 'mappale-packaging-'));
const renamed = mkdtempSync(join(tmpdir(), 'mappale-packaging-'));

beforeAll(async () => {
  const region = makeRegion({ parcels: 600, seed: 11 });
  for (const { id } of sources) await (await loadSynthetic(id)).write(region, synthetic);
});
afterAll(() => {
  rmSync(synthetic, { recursive: true, force: true });
  rmSync(renamed, { recursive: true, force: true });
});

async function recognised(name: string, content: Buffer | string): Promise<Recognition | null> {
  const path = join(renamed, name);
  writeFileSync(path, content);
  return (await recognise({ path, size: Buffer.byteLength(content) }, sources))?.recognition ?? null;
}

const fixture = (path: string): Buffer => readFileSync(join(ROOT, 'sources', path));
const file = (name: string): Buffer => readFileSync(join(synthetic, name));
const FLOOD = 'Mosaicatura_ISPRA_2020_aree_pericolosita_idraulica';
const LANDSLIDE = 'Mosaicatura_ISPRA_2020_2021_aree_pericolosita_frana_PAI';
const MEF = 'Redditi_e_principali_variabili_IRPEF_su_base';

describe('the records of a synthetic region', () => {
  it.each([
    ['ade_cadastre', () => fixture('ade_cadastre/fixture/MOLISE.zip'), ['MOLISE.zip', 'MOLISE (1).zip', 'VALLE-AOSTA.zip'], ['molise di marzo.zip', 'CB_IS.zip']],
    ['anncsu_addresses', () => fixture('anncsu_addresses/fixture/INDIR_MOLI_20260602.csv'), ['INDIR_MOLI_20260602.csv', 'indirizzarioMolise20260602.csv', 'INDIR_ITA_20260602.csv'], ['Campobasso_20260602.csv']],
    ['dpc_seismic', () => file('classificazione-sismica-aggiornata-maggio-2025.csv'), ['classificazione-sismica-aggiornata-maggio-2025.csv', 'classificazione2024.csv'], ['classificazione-molise-2025.csv', 'zone_2025.csv']],
    ['egms_vertical', () => fixture('egms_vertical/fixture/EGMS_L3_E46N20_100km_U_2018_2022_1.csv'), [], ['EGMS_L3_E46N20_100km_U_2018_2022_1.csv']],
    ['ingv_mps04', () => file('italia_ag_002_txt.zip'), ['italia_ag_002_txt.zip', 'mps04.zip', 'OPCM3519_1B_ag_005_txt.zip'], ['italia_ag_002_molise.zip', 'OPCM3519_1B_ag_005_molise.zip']],
    ['ispra_flood', () => file(`${FLOOD}.zip`), [`${FLOOD}.zip`, `${FLOOD} (2).zip`, 'alluvioni.zip'], [`${FLOOD}_molise.zip`]],
    ['ispra_landslide', () => file(`${LANDSLIDE}.zip`), [`${LANDSLIDE}.zip`, 'frane_2021.zip'], [`${LANDSLIDE}_provincia_070.zip`]],
    ['ispra_shoreline', () => file('Dinamica_Litoranea_2006_2020.zip'), ['Dinamica_Litoranea_2006_2020.zip'], ['Dinamica_Litoranea_2006_2020_molise.zip']],
    ['istat_boundaries', () => file('Limiti01012026_g.zip'), ['Limiti01012026_g.zip', 'Limiti01012026.zip', 'confini.zip'], ['Limiti01012026_g_molise.zip']],
    ['istat_census', () => fixture('istat_census/fixture/R02_indicatori_2021_sezioni.csv'), ['R02_indicatori_2021_sezioni.csv'], ['R02_indicatori_2021_sezioni_aosta.csv', 'aosta_2021.csv']],
    ['istat_comuni', () => file('Elenco-comuni-italiani.csv'), ['Elenco-comuni-italiani.csv', 'Elenco-comuni-italiani_2026-01-31.csv'], ['Elenco-comuni-molise.csv', 'comuni_2026.csv']],
    ['istat_soppressi', () => file('comuni-soppressi.csv'), ['comuni-soppressi.csv', 'Elenco-comuni-soppressi_2024.csv'], ['comuni-soppressi-molise.csv']],
    ['mef_income', () => fixture('mef_income/fixture/blank-is-withheld-and-zero-is-zero.csv'), [`${MEF}_comunale_CSV_2023.csv`], [`${MEF}_comunale_CSV_2023_molise.csv`, 'redditi.csv']],
  ])('count as complete under the publisher\'s file name, and as a part under a different name: %s', async (_source, content, whole, parts) => {
    for (const name of whole) expect((await recognised(name, content()))?.complete, name).toBe(true);
    for (const name of parts) expect((await recognised(name, content()))?.complete, name).toBe(false);
  });
});

it.each([
  ['anncsu_addresses', 'INDIR_MOLI_20260602.csv'],
  ['egms_vertical', 'EGMS_L3_E46N20_100km_U_2018_2022_1.csv'],
  ['istat_census', 'R02_indicatori_2021_sezioni.csv'],
])('a file is recognised in the same way if it is a thousand times larger: %s', async (source, name) => {
  const content = fixture(`${source}/fixture/${name}`);
  const last = content.subarray(content.lastIndexOf('\n', content.length - 2) + 1);
  const large = Buffer.concat([content, ...Array.from({ length: Math.ceil(1_000 * content.length / last.length) }, () => last)]);
  expect(await recognised(name, content)).not.toBeNull();
  expect(await recognised(name, large)).toEqual(await recognised(name, content));
});

describe('two issues of one vintage', () => {
  async function zipped(name: string, path: string, content: Buffer, modified: string): Promise<Recognition | null> {
    await writeZip(join(renamed, name), [[path, content, { modified }]]);
    return recognised(name, readFileSync(join(renamed, name)));
  }

  it.each([
    ['mef_income', `${MEF}_comunale_CSV_2023`, () => fixture('mef_income/fixture/blank-is-withheld-and-zero-is-zero.csv'), 'csv'],
    ['ingv_mps04', 'italia_ag_002_txt', () => fixture('ingv_mps04/fixture/blanks-and-crlf.txt'), 'txt'],
  ])('are distinguished by the day in the zip: %s', async (_source, name, content, ending) => {
    const [older, newer] = [await zipped(`${name}.zip`, `${name}.${ending}`, content(), '2024-04-23'), await zipped(`${name}.zip`, `${name}.${ending}`, content(), '2024-06-02')];
    expect(older?.dated).toMatch(/^(?:\d+ nodes per degree, )?2024-04-23$/);
    expect(newer).toEqual({ ...older, dated: older!.dated!.replace('2024-04-23', '2024-06-02') });
  });
});

describe('a zip of vector files', () => {
  const isVector = (path: string): boolean => /\.(?:shp|gpkg|geojson)$|\.gdb\//i.test(path);

  it('is recognised in the same way if its name includes the extension of the file inside', async () => {
    const seen = new Set<string>();
    const differing: string[] = [];
    for (const name of readdirSync(synthetic).filter((each) => statSync(join(synthetic, each)).isFile())) {
      if (!/\.zip$/i.test(name) && !isVector(name)) continue;
      let content = file(name);
      if (/\.zip$/i.test(name)) {
        const zip = await ZipArchive.open(join(synthetic, name));
        await zip.close();
        if (!zip.entries.some(({ path }) => isVector(path))) continue;
      } else {
        const stem = name.replace(/[^.]*$/, '');
        const parts = readdirSync(synthetic).filter((each) => each.startsWith(stem));
        await writeZip(join(renamed, 'packed.zip'), parts.map((each) => [each, file(each)] as const));
        content = readFileSync(join(renamed, 'packed.zip'));
      }
      const stem = name.replace(/\.[^.]*$/, '');
      const found = async (as: string): Promise<string> =>
        JSON.stringify(await recognised(as, content).catch((error: unknown) => (error as MappaleError).code));
      const plain = await found(`${stem}.zip`);
      seen.add(sources.find(({ names }) => names.some((pattern) => pattern.test(`${stem}.zip`)))?.id ?? plain);
      for (const extension of ['shp', 'gpkg', 'SHP', 'gdb', 'geojson']) {
        for (const as of [`${stem}.${extension}.zip`, `${stem}.${extension} (1).zip`]) {
          if (await found(as) !== plain) differing.push(`${as}: ${await found(as)} instead of ${plain}`);
        }
      }
    }
    expect(differing).toEqual([]);
    expect(seen.size, [...seen].join()).toBeGreaterThan(8);
  });
});

describe('a zip that a desktop system packed again', () => {
  const attributes = Buffer.concat([Buffer.from('0005160700020000', 'hex'), Buffer.from('Mac OS X        '), Buffer.alloc(98)]);
  const litterOf = (path: string): string[] => {
    const attributesFile = path.replace(/[^/]*$/, '._$&');
    return [attributesFile, `__MACOSX/${attributesFile}`, path.replace(/[^/]*$/, '.DS_Store'), path.replace(/[^/]*$/, 'Thumbs.db'), 'desktop.ini'];
  };

  it('is read like the original zip, without the files that the system added', async () => {
    const seen = new Set<string>();
    const differing: string[] = [];
    for (const name of readdirSync(synthetic).filter((each) => /\.(?:zip|kmz)$/i.test(each))) {
      const owner = sources.find(({ names }) => names.some((pattern) => pattern.test(name)));
      if (owner === undefined) continue;
      const zip = await ZipArchive.open(join(synthetic, name));
      const files = zip.entries.filter(({ isFolder }) => !isFolder);
      const own = await Promise.all(files.map(async ({ path, modified }) => [path, await zip.buffer(path), { modified }] as const));
      await zip.close();
      const litter = [...new Set(own.flatMap(([path]) => litterOf(path)))].map((path) => [path, attributes, { modified: '2026-11-30' }] as const);
      await writeZip(join(renamed, name), [...litter, ...own]);
      const [expected, found] = await Promise.all([synthetic, renamed].map(async (folder) => JSON.stringify(goldenOf(await trial(owner, join(folder, name))))));
      seen.add(owner.id);
      if (found !== expected) differing.push(`${name}: ${found?.slice(0, 200) ?? ''}`);
    }
    expect(differing).toEqual([]);
    expect([...seen]).toEqual(expect.arrayContaining(['ade_cadastre', 'anncsu_addresses', 'egms_vertical', 'ispra_flood', 'istat_census', 'omi_quotations']));
  });
});

describe('names and dates:', () => {
  it('names are compared without folders, extensions and copy suffixes such as (1)', () => {
    expect(['X.gpkg.zip', 'a/X.shp.zip', 'X.gpkg (2).zip', 'X (2).GPKG.zip', 'X.zip', 'X.gpkg'].map(stemOf)).toEqual(Array.from({ length: 6 }, () => 'X'));
    expect(['V1.2.zip', 'X.shp.xml', 'X.gpkg.csv'].map(stemOf)).toEqual(['V1.2', 'X.shp', 'X.gpkg']);
    expect(['a/b/MOLISE.zip', 'MOLISE (1).zip', 'MOLISE(2).zip', 'MOLISE - Copia.zip', 'MOLISE'].map(stemOf)).toEqual(Array.from({ length: 5 }, () => 'MOLISE'));
  });

  it('names are read from the outside in, so that a zip with the name of a part is always a part', () => {
    const names = { whole: /^Whole_\d+$/, stated: /^Whole/ };
    expect([['Whole_1.zip', 'x.csv'], ['x.zip', 'f/Whole_1.csv'], ['Whole_1_part.zip', 'Whole_1.csv'], ['x.zip', 'y.csv'], []].map((each) => isWhole(each, names))).toEqual([true, true, false, false, false]);
  });

  it('the date of a zip is the latest day of its files, and a zip without days has no date', () => {
    const entry = (modified: string, isFolder = false) => ({ path: 'x', size: 1, compressedSize: 1, crc32: 0, modified, isFolder });
    expect(newestEntry(null)).toBeUndefined();
    expect(newestEntry([entry('1980-01-01'), entry('2026-01-01', true)])).toBeUndefined();
    expect(newestEntry([entry('2024-01-02'), entry('2023-12-31')])).toBe('2024-01-02');
  });
});
