import { expect, test } from 'vitest';
import { describeLoad } from '../../test/harness/loaded.ts';

describeLoad('loading census sections', 'istat_census', (loaded) => {
  const SQUARE = 'ST_MakeEnvelope(700000, 4600000, 700100, 4600100, 32632)';
  const NEXT = 'ST_MakeEnvelope(700100, 4600000, 700200, 4600100, 32632)';
  const WITHOUT_AREA = "ST_GeomFromText('POLYGON((700000 4600000, 700100 4600000, 700000 4600000, 700000 4600000))', 32632)";
  const polygon = (member: number, position: number, section: string, geometry: string): string =>
    `insert into raw_census_section values (${member}, ${position}, '${section}', 14, '070901', 1, ${position}, 1, ${geometry});`;

  test('keeps the first polygon with an area of each section in a file, merges the other polygons, and rejects polygons without an area', async () => {
    const inserts = [
      polygon(1, 1, '700010000001', WITHOUT_AREA), polygon(1, 2, '700010000001', SQUARE), polygon(2, 1, '700010000001', NEXT),
      polygon(1, 3, '700010000002', SQUARE), polygon(1, 4, '700010000002', WITHOUT_AREA),
      polygon(1, 5, '700010000003', WITHOUT_AREA), polygon(1, 6, '700010000003', WITHOUT_AREA),
      // Member 3 belongs to a different file.
      'update member set file_id = 2 where member_id = 3;', polygon(3, 1, '700010000001', SQUARE),
    ];
    await loaded(inserts.join('\n'), async ({ session, checks }) => {
      const of = (table: string, columns: string) => session.query(`select member_id, position::int4 as position, ${columns} from ${table} order by member_id, position`);
      expect(await of('census_section', 'section_id, population, round((st_area(st_transform(geom, 32632)) / 100)::numeric)::int4 as ares')).toEqual([
        { member_id: 1, position: 2, section_id: '700010000001', population: 2, ares: 200 },
        { member_id: 1, position: 3, section_id: '700010000002', population: 3, ares: 100 },
        { member_id: 3, position: 1, section_id: '700010000001', population: 1, ares: 100 },
      ]);
      expect(await of('duplicate', 'code')).toEqual([{ member_id: 2, position: 1, code: 'section_repeated' }]);
      expect(await of('reject', 'code, raw')).toEqual([
        [1, '700010000001'], [4, '700010000002'], [5, '700010000003'], [6, '700010000003'],
      ].map(([position, raw]) => ({ member_id: 1, position, code: 'geometry_without_area', raw })));
      expect(await checks()).toEqual([]);
    });
  });
});
