import { describe, expect, test } from 'vitest';
import { geodesicDistance, italyZone, laeaEurope, utm32, type Projection } from '../../pipelines/synthetic/map-projection.ts';

/**
 * Values that GDAL 3.6.2 / PROJ 9.1.1 computed: `gdaltransform -s_srs EPSG:4258 -t_srs EPSG:<srid>`, in traditional axis order. A row contains longitude,
 * latitude, easting and northing.
 */
const REFERENCE: readonly { readonly srid: number; readonly projection: Projection; readonly rows: readonly (readonly [number, number, number, number])[] }[] =
  [
    {
      srid: 3035,
      projection: laeaEurope,
      rows: [
        // The first point is the published test point of IOGP Guidance Note 7-2, method 9820. The second point is the worked example of that note.
        [10, 52, 4_321_000, 3_210_000],
        [5, 50, 3_962_799.45095507, 2_999_718.85315956],
        [14.5, 41.7, 4_696_766.89122901, 2_077_594.45315599],
        [18.3, 40.1, 5_030_808.54636153, 1_928_338.21184505],
        [6.7, 45.2, 4_061_385.15575557, 2_459_963.29284362],
      ],
    },
    {
      srid: 7794,
      projection: italyZone,
      rows: [
        [12, 42, 7_000_000, 4_644_659.42413529],
        [14.5, 41.7, 7_207_792.47871264, 4_614_405.02130137],
        [18.3, 40.1, 7_536_574.71916423, 4_453_015.07315611],
        [6.7, 45.2, 6_584_196.71810581, 5_013_325.94806116],
      ],
    },
    {
      srid: 32632,
      projection: utm32,
      rows: [
        [10, 52, 568_649.70489517, 5_761_510.31655531],
        [14.5, 41.7, 957_711.475814217, 4_631_106.54329912],
        [18.3, 40.1, 1_293_274.78640306, 4_480_525.38528294],
        [6.7, 45.2, 319_356.843553623, 5_007_741.66799453],
      ],
    },
  ];

describe('map projections', () => {
  test.each(REFERENCE.flatMap(({ srid, projection, rows }) => rows.map((row) => ({ srid, projection, row }))))(
    'transform $row.0 $row.1 to EPSG:$srid and back with the results of PROJ',
    ({ projection, row: [lon, lat, east, north] }) => {
      const [x, y] = projection.forward([lon, lat]);
      expect(Math.hypot(x - east, y - north)).toBeLessThan(1e-6);
      const [backLon, backLat] = projection.inverse([east, north]);
      // The tolerance is a millimetre, because proj4js computes the inverse of EPSG:3035 with a series of that accuracy.
      expect(Math.abs(backLon - lon)).toBeLessThan(1e-8);
      expect(Math.abs(backLat - lat)).toBeLessThan(1e-8);
    },
  );

  test('geodesicDistance equals the distance of PostGIS', () => {
    // st_distance('POINT(14.5 41.7)'::geography, 'POINT(14.512 41.71)'::geography), PostGIS 3.3.2
    expect(geodesicDistance([14.5, 41.7], [14.512, 41.71])).toBeCloseTo(1493.71263853, 4);
    expect(geodesicDistance([14.5, 41.7], [14.5, 41.7])).toBe(0);
  });
});
