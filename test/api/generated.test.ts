/** Sends thousands of random requests. The server must not fail, and every response must match the OpenAPI document. */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CRS_URIS } from '../../api/crs.ts';
import { ENDPOINTS } from '../../api/endpoints.ts';
import { TILES_ENDPOINT } from '../../api/tiles.ts';
import { SECTION_NAMES } from '../../pipelines/contract/sections.ts';
import { TILE_LAYERS } from '../../pipelines/deliver/tiles.ts';
import { describeDatabase } from '../harness/database.ts';
import { violationsOf, regionService } from './harness.ts';

const REQUESTS = 2_000;

/** Values that often break programs: quotes, operators, formats, other scripts, broken encodings, numbers at every limit. */
const NASTY = [
  "'", '"', "' or 1=1 --", "'; drop table core.parcel; --", '$1', '$$', '\\', '%', '_', '%00', '\u0000', '\u0001', '\t', '\n', '{}', '[]', 'null', 'undefined', 'true', 'NaN', 'Infinity', '-0', '0x10', '1e309', '1e-7',
  '9'.repeat(40), '0'.repeat(400), '-1', '0', '1', '2147483647', '2147483648', '9007199254740993', '3.14', '.', ',', ',,,', '..', '../..', '/', '?', '#', '&', '=', ';', '__proto__', 'constructor', 'toString',
  'àèìòù', 'Łódź', 'Straße', 'İstanbul', '東京', 'الجزائر', '👨‍👩‍👧‍👦', '\u202e', '\ufeff', 'e\u0301', '\ud800', 'ﬁ', '１２', '½', '<script>alert(1)</script>', '${jndi:ldap://x}', '{{7*7}}', 'a'.repeat(5000), ' ', '',
  'Via Roma 5', 'via roma, 5/a', 'p.zza s. g. bosco 12 bis', 'km 3+200', 's.n.c.', 'XX settembre', "dell'", 'Via 4 novembre 11', '10100', 'Z001', 'Molise', 'IS',
] as const;

const nasty = fc.oneof(fc.constantFrom(...NASTY), fc.string({ unit: 'binary', maxLength: 30 }), fc.array(fc.constantFrom(...NASTY), { minLength: 2, maxLength: 4 }).map((parts) => parts.join('')));
const coordinate = (from: number, to: number): fc.Arbitrary<string> =>
  fc.double({ min: from - 0.2, max: to + 0.2, noNaN: true, noDefaultInfinity: true }).map((value) => value.toFixed(6));

/** Draws mostly meaningful values, so that the database is queried, and some arbitrary values. */
const mostly = (...sensible: readonly fc.Arbitrary<string>[]): fc.Arbitrary<string> =>
  fc.oneof(...sensible.map((arbitrary) => ({ weight: 8, arbitrary })), { weight: 1, arbitrary: nasty });

/** Valid and invalid values of each parameter. */
const VALUES: Readonly<Record<string, fc.Arbitrary<string>>> = {
  q: fc.oneof(fc.constantFrom('Via Roma 5', 'piazza garibaldi', 'Corso Vitorio Emanuele 12/A, Borgo Finto', 'via dei', 'km 3'), nasty),
  city: mostly(fc.constantFrom('Z001', 'Z002', "Castel dell'Inventato", 'nowhere')),
  limit: mostly(fc.integer({ min: -2, max: 205 }).map(String)),
  lat: mostly(coordinate(41.99, 42.02), coordinate(35, 47.5)),
  lng: mostly(coordinate(14, 14.03), coordinate(6, 19)),
  radius: mostly(fc.integer({ min: -1, max: 505 }).map(String)),
  bbox: mostly(
    fc
      .tuple(
        coordinate(14, 14.03),
        coordinate(41.99, 42.02),
        fc.double({ min: -0.01, max: 0.06, noNaN: true }),
        fc.double({ min: -0.01, max: 0.06, noNaN: true }),
      )
      .map(([lng, lat, width, height]) => [lng, lat, (Number(lng) + width).toFixed(6), (Number(lat) + height).toFixed(6)].join(',')),
  ),
  points: mostly(
    fc
      .array(fc.tuple(coordinate(41.99, 42.02), coordinate(14, 14.03)), { minLength: 1, maxLength: 11 })
      .map((points) => points.map((point) => point.join(',')).join(';')),
  ),
  polygon: mostly(
    fc
      .tuple(coordinate(41.99, 42.02), coordinate(14, 14.03), fc.double({ min: -0.002, max: 0.012, noNaN: true }))
      .map(([lat, lng, size]) => `POLYGON((${lng} ${lat}, ${(Number(lng) + size).toFixed(6)} ${lat}, ${lng} ${(Number(lat) + size).toFixed(6)}, ${lng} ${lat}))`),
  ),
  after: mostly(fc.integer({ min: 1_400_000_000, max: 1_400_000_400 }).map(String)),
  geometry: mostly(fc.constantFrom('true', 'false')),
  format: mostly(fc.constantFrom('json', 'geojson')),
  comune: mostly(fc.constantFrom('Z001', "Castel dell'Inventato", 'nowhere')),
  foglio: mostly(fc.integer({ min: 0, max: 20 }).map(String)),
  label: mostly(fc.integer({ min: 0, max: 60 }).map(String), fc.constantFrom('STRADA001', 'A')),
  sezione: mostly(fc.constantFrom('A', 'b')),
  as_of: mostly(fc.constantFrom(new Date().toISOString().slice(0, 10), '2026-01-31', '2026-02-30', '2999-12-31')),
  include: mostly(fc.subarray([...SECTION_NAMES]).map((names) => names.join(','))),
  region: mostly(fc.constantFrom('Molise', '14', 'MOLISE')),
  since: mostly(fc.constantFrom('0', '1', '2026-01-31', '999999999')),
  publication: mostly(fc.constantFrom('1', '2', '999999999')),
  cursor: mostly(fc.constantFrom('1', '1.1400000010', '0.0')),
  datetime: mostly(fc.constantFrom('2026-01-01T00:00:00Z', '../2026-01-01T00:00:00+01:00', '2025-01-01T00:00:00Z/..')),
  region_code: mostly(fc.constantFrom('14', '1')),
  municipality_code: mostly(fc.constantFrom('Z001', 'z002')),
  cadastral_reference: mostly(fc.constantFrom('Z001_000100.2')),
  filter: mostly(
    fc.constantFrom(
      "municipality_code = 'Z001' and area_m2 > 100", "cadastral_reference = 'Z001_000100.2'", 'S_INTERSECTS(geometry, POINT(14.01 42.001))', 'area_m2 > 100', "label like '1%\\\\'",
      's_intersects(geometry, bbox(14, 42, 14.02, 42.02)) and not (kind in (\'road\', \'water\') or sheet is null)', 's_intersects(geometry, polygon((14 42, 14.1 42.1, 14.1 42, 14 42.1, 14 42)))',
      '{"op":"and","args":[{"op":"=","args":[{"property":"municipality_code"},"Z001"]},{"op":"between","args":[{"property":"area_m2"},0,1e308]}]}',
    ),
  ),
  'filter-lang': mostly(fc.constantFrom('cql2-text', 'cql2-json')),
  'filter-crs': mostly(fc.constantFrom(...CRS_URIS)),
  'bbox-crs': mostly(fc.constantFrom(...CRS_URIS)),
  crs: mostly(fc.constantFrom(...CRS_URIS)),
  f: mostly(fc.constantFrom('json', 'fgb')),
  kind: mostly(fc.constantFrom('land', 'road', 'water')),
  province: mostly(fc.constantFrom('IS', 'Isernia', '094')),
  layer: mostly(fc.constantFrom(...TILE_LAYERS.map(({ name }) => name))),
};

function encode(text: string): string {
  // Replaces half a surrogate pair by the replacement character, as clients do, because encodeURIComponent throws on half a pair.
  return encodeURIComponent(Buffer.from(text, 'utf8').toString('utf8')).replace(/%20/g, '+');
}

/** Draws the names of the required parameters and of some optional parameters. */
function sensibleNames(names: readonly string[]): fc.Arbitrary<string[]> {
  const required = ['q', 'lat', 'lng', 'comune', 'foglio', 'layer'].filter((name) => names.includes(name));
  const rest = names.filter((name) => !['q', 'lat', 'lng', 'comune', 'foglio', 'layer', 'bbox', 'points', 'polygon', 'after'].includes(name));
  const place = names.includes('bbox') ? fc.constantFrom(required, ['bbox'], ['bbox', 'after'], ['points'], ['polygon'], ['polygon', 'after']) : fc.constant(required);
  return fc.tuple(place, fc.subarray(rest)).map(([first, second]) => [...first, ...second]);
}

const request = fc.constantFrom(...ENDPOINTS, TILES_ENDPOINT).chain(({ path, parameters, pathParameters }) => {
  const names = Object.keys(parameters.shape);
  const id = fc.oneof(
    { weight: 8, arbitrary: fc.integer({ min: 1_400_000_000, max: 1_400_000_420 }).map(String) },
    { weight: 1, arbitrary: fc.integer().map(String) },
    { weight: 1, arbitrary: nasty },
  );
  const collection = mostly(fc.constantFrom('parcels', ...SECTION_NAMES));
  const code = mostly(fc.constantFrom('Z001', 'z002', '094901', 'H501'));
  const tile = { z: mostly(fc.constantFrom('14', '12', '0')), x: mostly(fc.constantFrom('8829', '2207', '0')), y: mostly(fc.constantFrom('6082', '1520', '0')) };
  const ofPath: Readonly<Record<string, fc.Arbitrary<string>>> = { id, featureId: id, code, ...tile };
  return fc.tuple(
    fc.tuple(...Object.keys(pathParameters.shape).map((name) => (ofPath[name] ?? collection).map((value) => [name, value] as const)))
      .map((values) => values.reduce((target, [name, value]) => target.replace(`{${name}}`, () => encode(value)), path)),
    names.length === 0 ? fc.constant<string[]>([]) : fc.oneof({ weight: 4, arbitrary: sensibleNames(names) }, { weight: 1, arbitrary: fc.subarray(names) }),
    fc.oneof({ weight: 9, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: fc.constantFrom(...names, 'other', '__proto__', 'constructor', '') }),
    fc.infiniteStream(nasty),
  ).chain(([target, chosen, extra, stream]) => fc.tuple(...chosen.map((name) => VALUES[name]!.map((value) => `${name}=${encode(value)}`))).map((pairs) => {
    const more = extra === null ? [] : [`${encode(extra)}=${encode(stream.next().value as string)}`];
    const query = [...pairs, ...more].join('&');
    return query === '' ? target : `${target}?${query}`;
  }));
});

describeDatabase('generated requests', (engine) => {
  let service: Awaited<ReturnType<typeof regionService>>;
  beforeAll(async () => {
    service = await regionService(engine);
  });
  afterAll(() => service?.close());

  it(`get responses that match the OpenAPI document, in ${REQUESTS} random cases`, async () => {
    const parcels = async (): Promise<unknown> => service.database.query('select count(*), sum(fid) from core.parcel');
    const before = await parcels();
    const seen = new Map<number, number>();
    let key = '';
    let left = 0;
    await fc.assert(fc.asyncProperty(request, async (path) => {
      if (left === 0) {
        key = await service.token();
        left = 900;
      }
      left -= 1;
      const answered = await service.ask(path, { key });
      seen.set(answered.status, (seen.get(answered.status) ?? 0) + 1);
      if (answered.status === 404 && answered.body?.['details'] !== undefined && 'base' in (answered.body['details'] as object)) return;
      expect(answered.status, `${path}: ${answered.text.slice(0, 300)}`).toBeLessThan(500);
      expect(violationsOf(path, answered), path).toEqual([]);
    }), { numRuns: REQUESTS, seed: 20_251_120, endOnFailure: false });
    expect(await parcels()).toEqual(before);
    // Enough requests must succeed, and enough must be refused.
    expect(seen.get(200), JSON.stringify([...seen])).toBeGreaterThan(REQUESTS / 8);
    expect(seen.get(400), JSON.stringify([...seen])).toBeGreaterThan(REQUESTS / 8);
  }, 600_000);
});
