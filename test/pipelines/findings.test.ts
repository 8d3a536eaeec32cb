/** Tests findings about addresses with addresses that the test defines. Each kind is tested on both sides of its limits. */
import { beforeAll, describe, expect, it } from 'vitest';
import type { FindingKind } from '../../pipelines/contract/schemas.ts';
import type { Database } from '../../pipelines/db/index.ts';
import {
  countFindings, findingsCsv, findingsGeojson, listFindings, unknownFindings, type AddressRegister, type Finding,
} from '../../pipelines/operate/findings.ts';
import { COMUNE, publishRegister, REGION, writeRegister, type MadeAddress, type MadeRegister } from '../harness/address-register.ts';
import { describeEngines } from '../harness/database.ts';
import { freshContext } from '../harness/fresh-context.ts';

type Point = readonly [number, number];

/** West, south, east and north of the square comune. The eastern side is part of a meridian, which is a geodesic, so distances from this side are exact. */
const SQUARE = [14, 42, 14.05, 42.05] as const;
const EAST = [14.05, 42.02] as const;
const INSIDE = [14.01, 42.01] as const;

describeEngines('findings about the addresses of a comune', (engine) => {
  let database: Database;

  beforeAll(async () => {
    ({ database } = await freshContext(engine));
    await publishRegister(database);
  });

  /** Returns the point at a distance and azimuth (degrees) from another point. */
  async function moved([lng, lat]: Point, metres: number, azimuth = 90): Promise<Point> {
    const [found] = await database.query<{ lng: number; lat: number }>(
      'select st_x(p::geometry) as lng, st_y(p::geometry) as lat from st_project(st_makepoint($1, $2)::geography, $3::float8, radians($4)) p', [lng, lat, metres, azimuth],
    );
    return [found!.lng, found!.lat];
  }

  async function found(kind: FindingKind, addresses: readonly MadeAddress[], files: MadeRegister = { square: SQUARE }): Promise<Finding[]> {
    await writeRegister(database, addresses, files);
    return (await listFindings(database, REGION, COMUNE)).filter((each) => each.kind === kind);
  }

  async function counts(): Promise<AddressRegister> {
    return (await countFindings(database, REGION, [COMUNE]))(COMUNE);
  }

  it('count addresses outside the exact boundary by distance, and count a distance at a limit in the farther class', async () => {
    const distances = [0.1, 49.9, 50, 199.9, 200, 999.9, 1000, 5000];
    const points = await Promise.all(distances.map((metres) => moved(EAST, metres)));
    const addresses = points.map((at, index) => ({ id: index + 1, street: 1, number: index + 1, at }));
    const covered = [{ id: 90, street: 1, number: 90, at: INSIDE }, { id: 91, street: 1, number: 91, at: EAST }, { id: 92, street: 1, number: 92 }];
    const listed = await found('outside', [...addresses, ...covered]);
    expect(listed.map(({ address_id: id, value, unit }) => [id, value, unit])).toEqual(distances.map((metres, index) => [index + 1, metres, 'm']));
    expect((await counts()).findings.filter(({ kind }) => kind === 'outside').map(({ from_m: from, below_m: below, count }) => [from, below, count]))
      .toEqual([[0, 50, 2], [50, 200, 2], [200, 1000, 2], [1000, null, 2]]);
  });

  it('report the number of addresses outside the boundary as unknown if there is no boundary', async () => {
    expect(await found('outside', [{ id: 1, street: 1, number: 1, at: INSIDE }], {})).toEqual([]);
    expect((await counts()).findings.filter(({ count }) => count === null).map(({ kind }) => kind))
      .toEqual(['outside', 'outside', 'outside', 'outside', 'moved', 'new', 'missing']);
    expect(unknownFindings(await counts())).toEqual([expect.stringContaining('no boundary'), expect.stringContaining('no earlier file')]);
  });

  it('list different house numbers at the same point (7 decimals), each with another address at the point', async () => {
    const listed = await found('same_point', [
      { id: 1, street: 1, number: 1, at: [14.01, 42.01] }, { id: 2, street: 1, number: 3, at: [14.01000004, 42.00999996] },
      // Here only the seventh decimal differs.
      { id: 3, street: 1, number: 5, at: [14.0100001, 42.01] },
      // A repeated number and addresses without a number are not different numbers.
      { id: 4, street: 1, number: 7, at: [14.02, 42.02] }, { id: 5, street: 1, number: 7, at: [14.02, 42.02] },
      { id: 6, street: 1, number: null, at: [14.02, 42.02] },
      // Numbers with a different exponent, colour or street are different numbers.
      { id: 7, street: 1, number: 9, at: [14.03, 42.03] }, { id: 8, street: 1, number: 9, exponent: 'A', at: [14.03, 42.03] },
      { id: 9, street: 1, number: 9, colour: 'ROSSO', at: [14.03, 42.03] }, { id: 10, street: 2, number: 9, at: [14.03, 42.03] },
    ]);
    expect(listed.map(({ address_id: id, value, other_id: other }) => [id, value, other]).sort((a, b) => Number(a[0]) - Number(b[0])))
      .toEqual([[1, 2, 2], [2, 2, 1], [7, 4, 9], [8, 4, 7], [9, 4, 7], [10, 4, 7]]);
  });

  describe('on a grid of 10 m', () => {
    /** Converts points from metres in UTM zone 33 to degrees. */
    async function fromUtm(metres: readonly Point[]): Promise<Point[]> {
      const points = await database.query<{ lng: number; lat: number }>(
        `select st_x(p) as lng, st_y(p) as lat from unnest($1::float8[], $2::float8[]) with ordinality as m (x, y, n)
         cross join lateral st_transform(st_setsrid(st_makepoint(m.x, m.y), 32633), 4326) p order by m.n`, [metres.map(([x]) => x), metres.map(([, y]) => y)],
      );
      return points.map(({ lng, lat }) => [lng, lat]);
    }
    const grid = (count: number): Point[] => Array.from({ length: count }, (_, index) => [418_000 + 10 * index, 4_650_000 + 30 * index]);
    async function onGrid(metres: readonly Point[], round = (degrees: number): number => degrees): Promise<number> {
      const points = await fromUtm(metres);
      const listed = await found('grid_10m', points.map(([lng, lat], index) => ({ id: index + 1, street: 1, number: index + 1, at: [round(lng), round(lat)] })));
      return listed.length;
    }

    it('include 20 points, even at 7 decimals', async () => {
      expect(await onGrid(grid(20))).toBe(20);
      expect(await onGrid(grid(20), (degrees) => Number(degrees.toFixed(7)))).toBe(20);
    });

    it('do not include 19 points', async () => {
      expect(await onGrid(grid(19))).toBe(0);
    });

    it('count a point within 1 cm of the grid in each coordinate, and no point farther away', async () => {
      const [, ...others] = grid(20);
      expect(await onGrid([...others, [418_000.009, 4_650_000.009]])).toBe(20);
      expect(await onGrid([...others, [418_000.011, 4_650_000]])).toBe(0);
      expect(await onGrid([...others, [418_000, 4_649_999.989]])).toBe(0);
    });
  });

  it('include streets without addresses, or with only addresses that have no number', async () => {
    const listed = await found('no_numbers', [{ id: 1, street: 1, number: 1 }, { id: 2, street: 3, number: null }, { id: 3, street: 3, number: null }]);
    expect(listed.map(({ address_id: id, street, number, value, unit, other_id: other }) => [id, street, number, value, unit, other]))
      .toEqual([[null, 'Via Due', null, 0, 'addresses', 2], [null, 'Via Tre', null, 2, 'addresses', 3]]);
  });

  describe('out of order', () => {
    const at = (metres: number): Promise<Point> => moved(INSIDE, metres);
    /** Places numbers 1 and 5 `gap` metres apart. Number 3 is `distance` metres from number 1, on the side away from number 5. */
    async function outOfOrder(gap: number, distance: number, numbers: readonly [number, number, number] = [1, 3, 5]): Promise<Finding[]> {
      const places = [await at(0), await moved(INSIDE, distance, 270), await at(gap)];
      return found('out_of_order', numbers.map((number, index) => ({ id: index + 1, street: 1, number, at: places[index]! })));
    }

    it('include a number 500 m from the nearer of two neighbours that are 200 m apart', async () => {
      expect(await outOfOrder(200, 500)).toMatchObject([{ address_id: 2, street: 'Via Uno', number: '3', value: 500, unit: 'm', other_id: 1 }]);
    });

    it('do not include a number 499.9 m from the nearer neighbour, or a number with neighbours that are 200.1 m apart', async () => {
      expect(await outOfOrder(200, 499.9)).toEqual([]);
      expect(await outOfOrder(200.1, 500)).toEqual([]);
    });

    it('compare only numbers of the same parity, colour and street', async () => {
      expect(await outOfOrder(100, 900, [1, 4, 5])).toEqual([]);
      const places = [await at(0), await at(-900), await at(50), await at(100)];
      const street = (second: Partial<MadeAddress>): MadeAddress[] =>
        [1, 3, 5, 7].map((number, index) => ({ id: index + 1, street: 1, number, at: places[index]!, ...(index === 1 ? second : {}) }));
      expect(await found('out_of_order', street({}))).toHaveLength(1);
      expect(await found('out_of_order', street({ colour: 'ROSSO' }))).toEqual([]);
      expect(await found('out_of_order', street({ street: 2 }))).toEqual([]);
    });

    it('need both neighbours, and skip addresses without a point', async () => {
      expect(await found('out_of_order', [
        { id: 1, street: 1, number: 1, at: await at(900) }, { id: 2, street: 1, number: 3, at: await at(0) }, { id: 3, street: 1, number: 5, at: await at(10) },
      ])).toEqual([]);
      expect(await found('out_of_order', [
        { id: 1, street: 1, number: 1, at: await at(0) }, { id: 2, street: 1, number: 3 }, { id: 3, street: 1, number: 5, at: await at(900) },
        { id: 4, street: 1, number: 7, at: await at(10) },
      ])).toMatchObject([{ address_id: 3 }]);
    });
  });

  describe('compared with the earlier file', () => {
    it('include addresses that moved by more than 20 m, are new, or are missing', async () => {
      const earlier = [
        { id: 1, street: 1, number: 1, at: INSIDE }, { id: 2, street: 1, number: 3, at: INSIDE }, { id: 3, street: 3, number: 5, at: INSIDE },
        { id: 5, street: 1, number: 7 }, { id: 6, street: 1, number: 9, at: INSIDE },
      ];
      const now = [
        { id: 1, street: 1, number: 1, at: await moved(INSIDE, 20) }, { id: 2, street: 1, number: 3, at: await moved(INSIDE, 20.1) },
        { id: 4, street: 1, number: 11, at: INSIDE }, { id: 5, street: 1, number: 7, at: INSIDE }, { id: 6, street: 1, number: 9 },
      ];
      await writeRegister(database, now, { earlier, square: SQUARE });
      const listed = await listFindings(database, REGION, COMUNE);
      expect(listed.filter(({ kind }) => ['moved', 'new', 'missing'].includes(kind))).toMatchObject([
        { kind: 'moved', address_id: 2, street: 'Via Uno', number: '3', value: 20.1, unit: 'm' },
        { kind: 'new', address_id: 4, number: '11', value: null, unit: null },
        // The street is no longer published. The name of the street comes from the earlier file.
        { kind: 'missing', address_id: 3, street: 'Via Tre', number: '5', lng: INSIDE[0], lat: INSIDE[1] },
      ]);
      expect(await counts()).toMatchObject({ addresses: 5, compared_with: { file: '2026-01.zip', vintage: '2026-01' } });
      expect(unknownFindings(await counts())).toEqual([]);
    });

    it('are zero if the earlier file has the same addresses, and unknown without an earlier file', async () => {
      const same = [{ id: 1, street: 1, number: 1, at: INSIDE }];
      const changes = async (): Promise<(number | null)[]> =>
        (await counts()).findings.filter(({ kind }) => ['moved', 'new', 'missing'].includes(kind)).map(({ count }) => count);
      await writeRegister(database, same, { earlier: same });
      expect(await changes()).toEqual([0, 0, 0]);
      await writeRegister(database, same);
      expect(await changes()).toEqual([null, null, null]);
      expect((await counts()).compared_with).toBe(null);
    });

    it('ignore a file that was forgotten, has the same bytes, or is newer than the current file', async () => {
      const same = [{ id: 1, street: 1, number: 1, at: INSIDE }];
      for (const change of ['forgotten_at = now()', "sha256 = '2026-02'", "vintage = '2026-03'"]) {
        await writeRegister(database, same, { earlier: same });
        expect((await counts()).compared_with).not.toBe(null);
        await database.query(`update ledger.file set ${change} where file_id = 1`);
        expect([change, (await counts()).compared_with]).toEqual([change, null]);
      }
    });

    it('use the rows of the earlier release to which the members of a file refer', async () => {
      await writeRegister(database, [], { earlier: [{ id: 1, street: 1, number: 1, at: INSIDE }] });
      await database.query('delete from ledger.member where member_id = 1');
      await database.query("insert into ledger.member (member_id, release_id, file_id, path, row_member_id, row_release_id) overriding system value values (11, 1, 1, '', 1, 1)");
      expect((await listFindings(database, REGION, COMUNE)).filter(({ kind }) => kind === 'missing')).toMatchObject([{ address_id: 1 }]);
    });
  });

  it('are unknown for a comune without a file of addresses', async () => {
    await writeRegister(database, [], { square: SQUARE });
    await database.query('delete from ledger.publication_file where file_id = 2');
    const register = await counts();
    expect(register.addresses).toBe(null);
    expect(new Set(register.findings.map(({ count }) => count))).toEqual(new Set([null]));
    expect(unknownFindings(register)).toEqual([expect.stringContaining('no file of addresses')]);
  });
});

describe('a list of findings', () => {
  const finding: Finding = { kind: 'new', address_id: 1, street: '=cmd()', number: '1, 2', value: -1.5, unit: 'm', lat: 42, lng: 14, other_id: null };

  it('is written as CSV with an apostrophe before text that a spreadsheet would evaluate, and with unchanged numbers', () => {
    expect(findingsCsv([finding])).toBe("kind,address_id,street,number,value,unit,lat,lng,other_id\nnew,1,'=cmd(),\"1, 2\",-1.5,m,42,14,\n");
  });

  it('is written as GeoJSON with longitude before latitude, a null geometry for findings without a point, and the list of unknown counts', () => {
    const { lat, lng, ...properties } = finding;
    expect(JSON.parse(findingsGeojson([finding, { ...finding, lat: null, lng: null }], ['no boundary']))).toEqual({
      type: 'FeatureCollection',
      features: [{ type: 'Feature', geometry: { type: 'Point', coordinates: [lng, lat] }, properties }, { type: 'Feature', geometry: null, properties }],
      unknown: ['no boundary'],
    });
  });
});
