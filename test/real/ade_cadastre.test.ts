/** Tests the cadastre's reader on real files, if a developer keeps some next to the checkout. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import source from '../../sources/ade_cadastre/source.ts';
import { realData } from '../harness/real-data.ts';
import { trial } from '../harness/trial.ts';

const MOLISE = realData('cadastre/MOLISE.zip');
const PARCEL = realData('cadastre/ade_wfs_parcel_A176_alcamo.gml');
const SHEET = realData('cadastre/ade_wfs_zoning_D612_firenze.gml');
const SHEETS = realData('cadastre/H833_sheets_complete_comune.geojson');

/** Radius of the sphere with the area of the GRS 80 ellipsoid, in metres. */
const AUTHALIC_M = 6_371_007.180_918;
const E2 = 0.006_694_380_022_900_8;

/** Returns the latitude on the sphere of equal area, in radians. Snyder, Map Projections, equations 3-11 and 3-12. */
function authalic(latitude: number): number {
  const e = Math.sqrt(E2);
  const q = (phi: number): number => {
    const s = Math.sin(phi);
    return (1 - E2) * (s / (1 - E2 * s * s) - Math.log((1 - e * s) / (1 + e * s)) / (2 * e));
  };
  return Math.asin(q((latitude * Math.PI) / 180) / q(Math.PI / 2));
}

/**
 * Returns the area on the ellipsoid of a ring of longitude and latitude in degrees, in m². Edges are straight in longitude and authalic sine, which
 * suffices for parcels.
 */
function areaOf(ring: readonly (readonly [number, number])[]): number {
  let sum = 0;
  for (let i = 0; i + 1 < ring.length; i += 1) {
    const [x1, y1] = ring[i]!;
    const [x2, y2] = ring[i + 1]!;
    sum += (((x2 - x1) * Math.PI) / 180) * (Math.sin(authalic(y1)) + Math.sin(authalic(y2)));
  }
  return Math.abs((sum / 2) * AUTHALIC_M * AUTHALIC_M);
}

/** Returns the area of an EWKB MultiPolygon, in m². */
function areaOfEwkb(ewkb: Buffer): number {
  let area = 0;
  let at = 13;
  for (let polygons = ewkb.readUInt32LE(9); polygons > 0; polygons -= 1) {
    const rings = ewkb.readUInt32LE(at + 5);
    at += 9;
    for (let i = 0; i < rings; i += 1) {
      const count = ewkb.readUInt32LE(at);
      at += 4;
      const ring = Array.from({ length: count }, (_, k) => [ewkb.readDoubleLE(at + k * 16), ewkb.readDoubleLE(at + k * 16 + 8)] as const);
      at += count * 16;
      area += (i === 0 ? 1 : -1) * areaOf(ring);
    }
  }
  return area;
}

describe('real files of the cadastre', () => {
  it.skipIf(MOLISE === null)('have 26 sheets and 1,344 parcels in MOLISE.zip, without rejects', async () => {
    const { recognition, collected } = await trial(source, MOLISE!);
    expect(recognition).toEqual({ role: 'regione', vintage: '2026-07-01', region: 14, complete: true });
    expect(collected!.members.map(({ path, records, rows, rejects, duplicates }) => ({ path, records, rows, rejects, duplicates }))).toEqual([
      { path: 'CB.zip/H833_SAN FELICE DEL MOLISE.zip/H833_SAN FELICE DEL MOLISE_map.gml', records: 26, rows: 26, rejects: [], duplicates: [] },
      { path: 'CB.zip/H833_SAN FELICE DEL MOLISE.zip/H833_SAN FELICE DEL MOLISE_ple.gml', records: 1344, rows: 1344, rejects: [], duplicates: [] },
    ]);
    const { raw_parcel: parcels, raw_sheet: sheets } = collected!.rows;
    expect(new Set(parcels!.map(({ reference }) => reference)).size).toBe(1344);
    const known = new Set(sheets!.map(({ reference }) => reference));
    expect(parcels!.filter(({ reference }) => !known.has((reference as string).slice(0, 11)))).toEqual([]);
  });

  it.skipIf(MOLISE === null || SHEETS === null)('have sheets of San Felice whose areas agree with the sheets of a GeoJSON file within 0.1 %', async () => {
    const { collected } = await trial(source, MOLISE!);
    const published = JSON.parse(readFileSync(SHEETS!, 'utf8')) as { features: { properties: Record<string, unknown>; geometry: { type: string; coordinates: [number, number][][] | [number, number][][][] } }[] };
    const areas = new Map(published.features.map(({ properties, geometry }) => {
      const reference = Object.values(properties).map(String).map((value) => /H833[A-Z_]\d{4}\w\w/.exec(value)?.[0]).find((value) => value !== undefined);
      const polygons = (geometry.type === 'Polygon' ? [geometry.coordinates] : geometry.coordinates) as [number, number][][][];
      return [reference, polygons.reduce((sum, rings) => sum + rings.reduce((area, ring, i) => area + (i === 0 ? 1 : -1) * areaOf(ring), 0), 0)];
    }));
    const sheets = collected!.rows['raw_sheet']!;
    expect(sheets).toHaveLength(26);
    for (const { reference, geom } of sheets) {
      const area = areaOfEwkb(geom as Buffer);
      expect(area, String(reference)).toBeGreaterThan(1000);
      expect(Math.abs(area / areas.get(reference as string)! - 1), String(reference)).toBeLessThan(0.001);
    }
    // Parcels are inside their sheets, so the parcels cannot cover more than all sheets of the comune.
    const parcels = collected!.rows['raw_parcel']!.reduce((sum, { geom }) => sum + areaOfEwkb(geom as Buffer), 0);
    expect(parcels).toBeLessThan([...areas.values()].reduce((sum, area) => sum + area, 0));
  });

  it.skipIf(PARCEL === null)('include the service\'s response for one parcel of Alcamo', async () => {
    const { recognition, collected } = await trial(source, PARCEL!);
    expect(recognition).toEqual({ role: 'gml', vintage: '2025-02-23', region: null, complete: false });
    const [row] = collected!.rows['raw_parcel']!;
    expect(row).toMatchObject({ reference: 'A176_003100.329', administrative_unit: null, file_belfiore: null });
    // The ring has six positions. The first position is published as 38.00030250 12.99962227.
    const ewkb = row!['geom'] as Buffer;
    expect([ewkb.readUInt32LE(5), ewkb.readUInt32LE(22), ewkb.readDoubleLE(26), ewkb.readDoubleLE(34)]).toEqual([6706, 6, 12.99962227, 38.0003025]);
  });

  it.skipIf(SHEET === null)('include the service\'s response for one sheet of Firenze', async () => {
    const { recognition, collected } = await trial(source, SHEET!);
    expect(recognition).toEqual({ role: 'gml', vintage: '2026-09-16', region: null, complete: false });
    expect(collected!.rows['raw_sheet']).toMatchObject([{ reference: 'D612_016400', label: '164', begin_date: '2026-07-09', end_date: null, scale_denominator: 1000 }]);
  });
});
