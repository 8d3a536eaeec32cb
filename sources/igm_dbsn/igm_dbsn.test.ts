import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { buildingsOf, buildingSource } from '../../pipelines/synthetic/buildings.ts';
import { randomOf } from '../../pipelines/synthetic/random.ts';
import { makeRegion } from '../../pipelines/synthetic/make-region.ts';
import source from './source.ts';
import synthetic from './synthetic.ts';
import { testEnvironment } from '../../test/harness/environment.ts';
import { describeLoad } from '../../test/harness/loaded.ts';
import { rewriteZip } from '../../test/harness/rewrite-zip.ts';
import { temporaryFolder } from '../../test/harness/temporary-folder.ts';
import { trial } from '../../test/harness/trial.ts';

const region = makeRegion({ parcels: 2_000, seed: 3 });
const FILE = 'IS_dbsn_2025-07-28.zip';

const folder = temporaryFolder();
beforeAll(() => synthetic.write(region, folder));

describe('the national topographic database', () => {
  it('is read from the zipped geodatabase of a province: all layers of buildings and no other layers', async () => {
    const { recognition, collected } = await trial(source, join(folder, FILE));
    expect(recognition).toMatchObject({ vintage: '2025-07-28', region: null, complete: false, place: 'ISERNIA' });
    expect(collected!.members.map(({ path }) => path)).toEqual(['Isernia_dbsn.gdb#edifc', 'Isernia_dbsn.gdb#edifc_1']);
    const rows = collected!.rows['raw_dbsn_building']!;
    const drawn = region.comuni.filter((comune) => buildingSource(region, comune) === 'topographic').flatMap((comune) => [...buildingsOf(region, comune)]);
    expect(rows).toHaveLength(drawn.length);
    expect(rows.filter((row) => row['residential']).length).toBe(drawn.filter(({ use }) => use?.startsWith('01')).length);
    const geom = rows[0]!['geom'] as Buffer;
    // The file has heights, but the geometry is XY: the EWKB of a multipolygon with an SRID.
    expect([geom.readUInt32LE(1), geom.readUInt32LE(5)]).toEqual([0x20000006, 7794]);
  });

  it('is recognised by its folder, with the date of its members, when the zip\'s name has random letters instead of the date', async () => {
    const random = randomOf('dbsn names', testEnvironment().seed);
    const letters = (): string => Array.from({ length: 6 }, () => random.pick('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ'.split(''))).join('');
    for (let turn = 0; turn < 20; turn += 1) {
      const path = join(folder, `IS_dbsn_${letters()}.zip`);
      await rename(join(folder, FILE), path);
      const { recognition } = await trial(source, path).finally(() => rename(path, join(folder, FILE)));
      expect(recognition, path).toMatchObject({ role: 'edifc', place: 'ISERNIA', vintage: '2025-07-28', dated: '2025-07-28' });
    }
  });

  it('reports the missing table of an incomplete geodatabase', async () => {
    const path = join(folder, 'damaged_dbsn.zip');
    await rewriteZip(join(folder, FILE), (name, content) => (name.endsWith('a0000000b.gdbtable') ? null : content), { into: path });
    const { error } = await trial(source, path);
    expect(error).toMatchObject({ kind: 'input', code: 'LAYER_MISSING', detail: 'expected the layers edifc, edifc_1, found edifc' });
    await rm(path);
  });
});

describeLoad('loading the national topographic database', 'igm_dbsn', (loaded) => {
  it('recognises equal footprints in different members, and stores the province of each member', async () => {
    const square = (east: number, name: string, more = "null, '03', '01'"): string => `('0101', null, ${more}, null, null, true, true, '${name}', ${east})`;
    const found = await loaded(`
      insert into raw_dbsn_building
      select case when m = 'a' then 1 else 2 end, row_number() over (partition by m), use, type, state, level, name, origin, counts, residential,
        st_setsrid(st_makeenvelope(east, 4610000, east + 10, 4610012), 7794)
      from (values ${[square(7_212_000, 'a'), square(7_212_100, 'a'), square(7_212_100, 'b')].join(', ').replaceAll("null, '03', '01'", "'03', '01'")}) as v (use, type, state, level, name, origin, counts, residential, m, east);
      update member set path = 'PZ/Potenza_dbsn.gdb#edifc' where member_id = 1;
      update member set path = 'x.gdb', file_name = 'Reggio nell''Emilia_DBSN_2025.zip' where member_id = 2`, async ({ session, checks }) => ({
      rows: await session.query('select member_id, count(*)::int4 as n, count(distinct drawing)::int4 as drawings, round(sum(area_m2))::int4 as area_m2 from dbsn_building group by 1 order by 1'),
      drawings: await session.query('select count(distinct drawing)::int4 as n from dbsn_building'),
      extent: await session.query('select member_id, position, province from dbsn_extent order by 1'),
      violations: (await checks()).map(({ name }) => name),
    }));
    expect(found.rows).toEqual([{ member_id: 1, n: 2, drawings: 2, area_m2: 240 }, { member_id: 2, n: 1, drawings: 1, area_m2: 120 }]);
    expect(found.drawings).toEqual([{ n: 2 }]);
    expect(found.extent).toEqual([{ member_id: 1, position: 1, province: 'potenza' }, { member_id: 2, position: 1, province: 'reggio emilia' }]);
    expect(found.violations).toEqual([]);
  });
});
