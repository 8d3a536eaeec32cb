import { expect, test } from 'vitest';
import { describeLoad } from '../../test/harness/loaded.ts';

describeLoad('loading OMI records', 'omi_quotations', (loaded) => {
  const SQUARE = 'ST_Multi(ST_MakeEnvelope(14, 41, 14.01, 41.01, 4326))';
  const OTHER = 'ST_Multi(ST_MakeEnvelope(14, 41, 14.02, 41.02, 4326))';
  const WITHOUT_AREA = "ST_Multi(ST_GeomFromText('POLYGON((14 41, 14.01 41, 14 41, 14 41))', 4326))";
  const perimeter = (position: number, zone: string, generated: string, geometry: string): string =>
    `insert into raw_perimeter values (1, ${position}, '2018_2', 4037, '${generated}', 'Z001', '${zone}', ${geometry});`;

  test('uses for each zone the first of the newest perimeters that has an area, and rejects newest perimeters without an area', async () => {
    const inserts = [
      perimeter(1, 'B1', '2019-02-22', WITHOUT_AREA), perimeter(2, 'B1', '2019-02-22', SQUARE), perimeter(3, 'B1', '2019-02-22', OTHER), perimeter(4, 'B1', '2019-02-22', SQUARE),
      perimeter(5, 'B2', '2019-02-22', SQUARE), perimeter(6, 'B2', '2019-02-22', WITHOUT_AREA),
      perimeter(7, 'B3', '2019-02-22', WITHOUT_AREA), perimeter(8, 'B3', '2019-02-21', SQUARE), perimeter(9, 'B3', '2019-02-21', WITHOUT_AREA),
    ];
    await loaded(inserts.join('\n'), async ({ session }) => {
      const of = (table: string, columns: string) => session.query(`select position::int4 as position, ${columns} from ${table} order by position`);
      expect(await of('omi_perimeter', 'zona')).toEqual([{ position: 2, zona: 'B1' }, { position: 5, zona: 'B2' }]);
      expect(await of('duplicate', 'code')).toEqual([
        { position: 3, code: 'perimeter_superseded' }, { position: 4, code: 'perimeter_repeated' }, { position: 8, code: 'perimeter_superseded' }, { position: 9, code: 'perimeter_repeated' },
      ]);
      expect(await of('reject', 'code')).toEqual([1, 6, 7].map((position) => ({ position, code: 'perimeter_without_area' })));
    });
  });

  test('counts repeated rows of a zone that is missing from the newest elaboration as superseded', async () => {
    const quotation = (position: number, zone: string, elaborated: string): string =>
      `insert into raw_quotation
         (member_id, position, semester, half_year, elaborated, region_code, belfiore, comune_name, fascia, zona, link_zona, cod_tip, type, stato_prev)
       values (1, ${position}, '2018_2', 4037, '${elaborated}', 14, 'Z001', 'CASTEL', 'B', '${zone}', 'CB0000000${zone}', 20, 'Abitazioni civili', true);`;
    const zone = (position: number, name: string, elaborated: string): string =>
      `insert into raw_zone (member_id, position, semester, half_year, elaborated, region_code, belfiore, comune_name, fascia, zona, link_zona, description)
       values (1, ${position}, '2018_2', 4037, '${elaborated}', 14, 'Z001', 'CASTEL', 'B', '${name}', 'CB0000000${name}', 'CENTRO');`;
    const inserts = [quotation, zone, (position: number, name: string, day: string) => perimeter(position, name, day, SQUARE)].flatMap((insert) => [
      insert(1, 'B1', '2019-02-22'), insert(2, 'B1', '2019-02-22'), insert(3, 'B1', '2019-02-21'), insert(4, 'B2', '2019-02-21'), insert(5, 'B2', '2019-02-21'),
    ]);
    await loaded(inserts.join('\n'), async ({ session }) => {
      for (const what of ['quotation', 'zone', 'perimeter']) {
        expect(await session.query(`select position::int4 as position, code from duplicate where code like '${what}%' order by position`)).toEqual([
          ...[2, 3].map((position) => ({ position, code: `${what}_repeated` })), ...[4, 5].map((position) => ({ position, code: `${what}_superseded` })),
        ]);
      }
    });
  });
});
