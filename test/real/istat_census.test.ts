import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { RegisteredSource } from '../../pipelines/contract/registry.ts';
import { recognise } from '../../pipelines/ingest/locate.ts';
import source from '../../sources/istat_census/source.ts';
import { collect, type Collected } from '../harness/collect.ts';
import { realData } from '../harness/real-data.ts';

const WORKBOOK = realData('istat/2021_R02_indicatori/R02_indicatori_2021_sezioni.xlsx');
const SHAPEFILE = realData('istat/2021_R15_geodata/SHP/R15_21_WGS84.shp');
const TABLES = realData('istat/2021_R15_geodata/TAB');
const FIELD_LIST = realData('istat/2021_R02_indicatori/TRACCIATO FILE REGIONALI.xlsx');
const registered = { ...source, id: source.manifest.id } as RegisteredSource;

const recognition = async (path: string) => (await recognise({ path, size: statSync(path).size }, [registered]))?.recognition ?? null;

describe("Istat's own files", () => {
  describe.skipIf(WORKBOOK === null)('indicators 2021 of Valle d\'Aosta', () => {
    let collected: Collected;
    beforeAll(async () => {
      collected = await collect(source, WORKBOOK!, { role: 'indicators', region: 2 });
    });

    it('are recognised by their columns', async () => {
      expect(await recognition(WORKBOOK!)).toEqual({ role: 'indicators', vintage: '2021', region: 2, complete: true, dated: '2024-07-16T18:44:53Z' });
    });

    it('have 1,968 census sections and 123,360 residents without rejects', () => {
      const rows = collected.rows['raw_census_indicator']!;
      expect(collected.members).toMatchObject([{ records: 1968, rows: 1968, rejects: [], duplicates: [] }]);
      expect(rows.reduce((sum, row) => sum + (row['population_total'] as number), 0)).toBe(123_360);
      expect(rows.filter((row) => String(row['section_id']).endsWith('8888888'))).toHaveLength(13);
      expect(rows[0]).toMatchObject({ section_id: '70010000001', istat_code: '007001', region_code: 2, reference_year: 2021, position: 2 });
      expect(rows.filter((row) => row['households'] === 0 && (row['population_total'] as number) > 0)).toHaveLength(26);
    });

    it('satisfy every identity of the field list', () => {
      const sum = (row: Record<string, unknown>, pattern: RegExp): number =>
        Object.entries(row).reduce((total, [name, value]) => (pattern.test(name) ? total + (value as number) : total), 0);
      for (const row of collected.rows['raw_census_indicator']!) {
        const at = String(row['section_id']);
        expect(sum(row, /^(male|female)$/), at).toBe(row['population_total']);
        expect(sum(row, /^age_/), at).toBe(row['population_total']);
        expect(sum(row, /^male_/), at).toBe(row['male']);
        expect(sum(row, /^female_/), at).toBe(row['female']);
        expect(sum(row, /^households_/), at).toBe(row['households']);
        expect(sum(row, /^(italians_|foreigners$)/), at).toBe(row['population_total']);
        expect(sum(row, /^foreigners_(eu|non_eu)$/), at).toBe(row['foreigners']);
        expect(sum(row, /^foreigners_\d/), at).toBe(row['foreigners']);
        expect(sum(row, /^education_/), at).toBe(row['aged_9_plus']);
      }
    });
  });

  describe.skipIf(SHAPEFILE === null)('geometry 2021 of Napoli', () => {
    it('is recognised with its region and its sidecars', async () => {
      const found = await recognition(SHAPEFILE!);
      expect(found).toMatchObject({ role: 'sections', vintage: 'basi_2021', region: 15 });
      expect([...found!.sidecars!].sort()).toEqual(['R15_21_WGS84.cpg', 'R15_21_WGS84.dbf', 'R15_21_WGS84.prj', 'R15_21_WGS84.shx']);
    });

    it('has 5,726 census sections in EPSG:32632, including one for residents without a known census section', async () => {
      const { members, rows } = await collect(source, SHAPEFILE!, { role: 'sections', region: 15 });
      const sections = rows['raw_census_section']!;
      expect(members).toMatchObject([{ records: 5726, rows: 5726, rejects: [] }]);
      expect(new Set(sections.map((row) => row['section_id'])).size).toBe(5726);
      expect(new Set(sections.map((row) => (row['geom'] as Buffer).readUInt32LE(5)))).toEqual(new Set([32632]));
      expect(sections.at(-1)).toMatchObject({ section_id: '630498888888', istat_code: '063049', population: 6596, households: 2943 });
      expect(sections.filter((row) => /(8888888|9999999)$/.test(String(row['section_id'])))).toHaveLength(1);
    });
  });

  it.skipIf(TABLES === null)('include companion tables of the geometry, which are ignored with a reason', async () => {
    for (const name of ['ASC1_R15_21.csv', 'ISAM_R15_21.csv', 'LOC_R15_21.csv', 'ZIC_R15_21.csv']) {
      expect(readFileSync(join(TABLES!, name)).subarray(0, 2)).toEqual(Buffer.from([0xff, 0xfe]));
      expect(await recognition(join(TABLES!, name)), name).toMatchObject({ ignored: expect.stringContaining('geometry') });
    }
  });

  it.skipIf(FIELD_LIST === null)('include the list of fields, which is ignored with a reason', async () => {
    expect(await recognition(FIELD_LIST!)).toMatchObject({ ignored: expect.stringContaining('fields') });
  });
});
