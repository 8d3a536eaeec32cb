/** Creates a small synthetic region, and versions of its files in which three sources differ. */
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Database } from '../../../pipelines/db/index.ts';
import { refresh } from '../../../pipelines/run/refresh.ts';
import { contextOn, loadOptions, syntheticFiles } from '../region.ts';
import { rewriteZip } from '../rewrite-zip.ts';

export const REGION = 14;

export interface Region {
  readonly folder: string;
  /** Returns a folder with version `number` of the files. 0 is the first version. Three sources differ from one version to the next. */
  version(number: number): Promise<string>;
  remove(): Promise<void>;
}

/** The sources that differ between versions, and a few sources of other kinds. These sources suffice for faults of the server and for readers. */
export const FEW_SOURCES = [
  'ade_cadastre', 'anncsu_addresses', 'copernicus_dem', 'dpc_seismic', 'igm_dbsn', 'ingv_mps04', 'ispra_flood', 'istat_census', 'istat_comuni', 'istat_soppressi',
  'mim_schools', 'omi_quotations',
];

/** Creates a region with so few parcels that a load takes seconds. @param only ids of the sources whose files are written, all sources by default */
export async function smallRegion(only?: readonly string[], parcels = 600): Promise<Region> {
  const files = await syntheticFiles(parcels, 11, { only });
  const whole = join(files.folder, '..', `${files.folder}-versions`);
  return {
    folder: files.folder,
    async version(number) {
      const folder = join(whole, String(number));
      await rm(folder, { recursive: true, force: true });
      await mkdir(folder, { recursive: true });
      await cp(files.folder, folder, { recursive: true });
      if (number > 0) await change(folder, number);
      return folder;
    },
    async remove() {
      await files.remove();
      await rm(whole, { recursive: true, force: true });
    },
  };
}

/** Publishes files of the region in the test's process, because a child process takes a second longer. */
export async function publish(database: Database, data: string): Promise<void> {
  const { failures } = await refresh(await contextOn(database), loadOptions([data], [REGION], { accept: { who: 'test', why: 'a test' } }));
  expect(failures).toEqual([]);
}

/** Changes the seismic list, the acceleration map and one comune of the cadastre. */
async function change(folder: string, number: number): Promise<void> {
  await seismicZones(folder, String(1 + (number % 4)));
  await rewriteZip(join(folder, 'italia_ag_002_txt.zip'), (_path, content) => {
    const values = content.toString('latin1').replace(/0\.(\d{4})\b/g, (_all, digits: string) => `0.${String(Number(digits) + number).padStart(4, '0')}`);
    return Buffer.from(values, 'latin1');
  });
  let removed = 0;
  await rewriteZip(join(folder, 'MOLISE.zip'), (path, content) => {
    if (!path.includes('/Z002_') || !path.endsWith('_ple.gml')) return content;
    let seen = 0;
    return Buffer.from(content.toString('utf8').replace(/<(wfs:member|gml:featureMember)>[\s\S]*?<\/\1>\s*/g, (member) => {
      seen += 1;
      if (seen !== 10 + number) return member;
      removed += 1;
      return '';
    }));
  });
  if (removed !== 1) throw new Error(`expected one parcel to be removed, found ${removed}`);
}

/** Sets the seismic zone of every comune. */
export async function seismicZones(folder: string, zone: string): Promise<void> {
  const name = (await readdir(folder)).find((file) => file.startsWith('classificazione-sismica'))!;
  const text = await readFile(join(folder, name), 'utf8');
  await writeFile(join(folder, name), text.replace(/;[^;\r\n]+(\r\n)(?=.)/g, (all, end: string) => (all.includes('ZONA') ? all : `;${zone}${end}`)).replace(/;[^;\r\n]+(\r\n)$/, `;${zone}$1`));
}

/** Raises every maximum purchase price of the newest quotations by an amount in euro. */
export async function raisePrices(folder: string, euro: number): Promise<void> {
  const name = (await readdir(folder)).filter((file) => file.endsWith('_VALORI.csv')).sort().at(-1)!;
  const lines = (await readFile(join(folder, name), 'latin1')).split('\n');
  const header = lines.findIndex((line) => line.includes('Compr_max'));
  const column = lines[header]!.split(';').indexOf('Compr_max');
  const raised = lines.map((line, index) => {
    const cells = line.split(';');
    if (index <= header || !/^\d+$/.test(cells[column] ?? '')) return line;
    cells[column] = String(Number(cells[column]) + euro);
    return cells.join(';');
  });
  await writeFile(join(folder, name), raised.join('\n'), 'latin1');
}
