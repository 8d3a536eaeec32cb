import { describe, expect, it } from 'vitest';
import source from '../../sources/istat_boundaries/source.ts';
import { realData } from '../harness/real-data.ts';
import { trial } from '../harness/trial.ts';

const CENSUS = 'istat-admin/boundaries/shp-napoli-census-editions';

describe('real boundaries', () => {
  const shapefiles = [
    ['Com1991_WGS84', 'comune', '063049', '1991'], ['Com2001_WGS84', 'comune', '063049', '2001'], ['Com2011_WGS84', 'comune', '063049', '2011'], ['Com2021', 'comune', '063049', '2021'],
    ['Prov2011_WGS84', 'provincia', '063', '2011'], ['ProvCM2021', 'provincia', '263', '2021'], ['Reg2011_WGS84', 'regione', '15', '2011'], ['Reg2021', 'regione', '15', '2021'],
  ] as const;
  it.skipIf(realData(CENSUS) === null).each(shapefiles)('are read from %s of the census editions', async (name, kind, code, vintage) => {
    const { collected, error } = await trial(source, realData(`${CENSUS}/${name}.shp`)!);
    expect(error).toBeNull();
    expect(collected!.members[0]).toMatchObject({ records: 1, rejects: [] });
    expect(collected!.rows['raw_boundary']![0]).toMatchObject({ kind, code, vintage, name: kind === 'regione' ? 'Campania' : 'Napoli' });
  });

  const geojson = [['60', 91, '060001'], ['70', 84, '070001'], ['79', 80, '079002']] as const;
  it.skipIf(realData('istat-admin/boundaries/openpolis_limits_P_70_municipalities.geojson') === null).each(geojson)('are read from the GeoJSON of province %s with %d comuni and cadastral codes', async (province, count, first) => {
    const { recognition, collected } = await trial(source, realData(`istat-admin/boundaries/openpolis_limits_P_${province}_municipalities.geojson`)!);
    expect(recognition).toMatchObject({ role: 'geojson', vintage: '0000', complete: false });
    expect(collected!.members[0]).toMatchObject({ records: count, rejects: [] });
    const rows = collected!.rows['raw_boundary']!;
    expect(rows[0]).toMatchObject({ kind: 'comune', code: first });
    expect(rows.every(({ belfiore }) => /^[A-Z]\d{3}$/.test(String(belfiore)))).toBe(true);
    expect(rows.every(({ geom }) => (geom as Buffer).readUInt32LE(5) === 4326)).toBe(true);
  });
});
