/** Tests the records that are shortened for language models: their size, their labels, and that equal values and licences are written once. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compactRecord, DEFAULT_SECTIONS, licencesOnce } from '../../cli/mcp-compact.ts';
import { describeEngines } from '../harness/database.ts';
import { regionService } from './harness.ts';

type Json = Record<string, unknown>;
type Table = { same_for_all: Json; columns: string[]; rows: unknown[][]; rows_left_out?: number };

const bytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

function quotations(count: number): Json[] {
  return Array.from({ length: count }, (_each, index) => ({
    zone: 'B1', fascia: 'B', microzona: null, zone_description: 'CENTRO', municipality: 'CAMPOBASSO (B519)', property_type: `Abitazioni di tipo ${index}`, condition: 'NORMALE',
    purchase: { min_eur_m2: 800 + index, max_eur_m2: 1200 + index }, rental: { min_eur_m2: 2.5, max_eur_m2: 3.5 + index },
    previous_semester: { purchase: { min_eur_m2: 790 + index, max_eur_m2: 1190 + index }, rental: { min_eur_m2: 2.5, max_eur_m2: 3.5 + index } },
    semester: '2025-2', zone_perimeter_semester: '2025-2',
  }));
}

function recordWith(valuation: readonly Json[]): Json {
  return {
    fid: 1, municipality: { code: 'B519', name: 'Campobasso', province: 'Campobasso', region: 'Molise' },
    basic: { fid: 1, label: '5', municipality: { code: 'B519' }, area_m2: 120, geometry: { type: 'Polygon', coordinates: [] }, cadastral: { sheet: '7', section: null, comune_code: 'B519' } },
    risk: { flood_level: 'P3', flood_share: 0.5, landslide_level: null, landslide_share: null, pga: 0.2, coverage: { flood: 'mapped', landslide: 'mapped', pga: 'mapped' }, source: 'ISPRA 2024' },
    valuation,
    meta: { sections_included: ['basic', 'risk', 'valuation'], coverage: { valuation: 'mapped' }, licenses: [], attribution_required: true },
  };
}

describe('a shortened record', () => {
  it('has labels with units, and codes with their meaning, but no outlines and no missing values', () => {
    const { basic, risk } = compactRecord(recordWith([])) as { basic: Json; risk: Json };
    expect(JSON.stringify(basic)).not.toMatch(/geometry|coordinates|null|municipality/);
    expect(risk).toMatchObject({ 'Flood hazard': 'P3, high', 'flood share (share of 1)': 0.5, 'Peak ground acceleration (g)': 0.2 });
    expect(JSON.stringify(risk)).not.toMatch(/null|ISPRA/);
  });

  it('writes a value only once if all rows of a list have the same value', () => {
    const { same_for_all: same, columns, rows } = compactRecord(recordWith(quotations(4)))['valuation'] as Table;
    expect(same).toMatchObject({ 'OMI zone': 'B1', fascia: 'B, centre', semester: '2025-2', Condition: 'NORMALE' });
    expect(columns).toContain('Property type');
    expect(rows).toHaveLength(4);
    for (const row of rows) expect(row).toHaveLength(columns.length);
    expect(new Set(columns).size).toBe(columns.length);
  });

  it('has at most 8,000 bytes for lists of any length, and states how many rows were left out', () => {
    for (const count of [1, 30, 90, 600]) {
      const shortened = compactRecord(recordWith(quotations(count)));
      expect(bytes(shortened)).toBeLessThanOrEqual(8_000);
      if (count === 1) continue;
      const { rows, rows_left_out: missing = 0 } = shortened['valuation'] as Table;
      expect(rows.length + missing).toBe(count);
    }
  });

  it('combines equal licences of several sections into one entry with these sections', () => {
    const licence = { attribution: 'ISTAT, CC BY 4.0', license: 'CC BY 4.0', reference_period: '2024' };
    expect(licencesOnce([{ ...licence, section: 'basic' }, { ...licence, section: 'risk' }, { ...licence, section: 'risk', reference_period: null }])).toEqual([
      { sections: ['basic', 'risk'], ...licence }, { sections: ['risk'], attribution: licence.attribution, license: licence.license },
    ]);
  });
});

describeEngines('the shortened records of a region with every source', (engine) => {
  let service: Awaited<ReturnType<typeof regionService>>;
  beforeAll(async () => {
    service = await regionService(engine);
  });
  afterAll(() => service?.close());

  it('have at most 8,000 bytes with the default sections, and contain every attribution', async () => {
    const key = await service.token();
    const parcels = await service.database.query<{ fid: number }>('select fid from core.parcel order by fid');
    const sizes: number[] = [];
    for (const { fid } of parcels) {
      const record = (await service.ask(`/parcels/${fid}?include=${DEFAULT_SECTIONS.join(',')}`, { key })).body!;
      const shortened = compactRecord(record);
      sizes.push(bytes(shortened));
      const attributions = (shortened['licenses'] as { attribution: string }[]).map(({ attribution }) => attribution);
      expect(new Set(attributions)).toEqual(new Set((record['meta'] as { licenses: { attribution: string }[] }).licenses.map(({ attribution }) => attribution)));
    }
    expect(parcels.length).toBeGreaterThan(300);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(8_000);
    expect(DEFAULT_SECTIONS).toEqual(['basic', 'risk', 'valuation', 'economics']);
  });
}, ['postgres']);
