/**
 * Validates and converts a row of an L3 Ortho CSV.
 *
 * Source of the format: EGMS Product Description v3.0 (2025-08-07), table 6. Numbers are plain decimals without exponents. `read.ts` reads
 * well-formed rows on a fast path over bytes. This schema parses all other rows. A test checks that the fast path
 * and this schema give the same result for the same row.
 */
import { z } from 'zod';
import { NO_DATA, isNoData } from '../../pipelines/readers/no-data.ts';
import { firstIssue, refusalOf, type Refusal } from '../../pipelines/readers/refusal.ts';

/** Side of a cell in metres. */
export const CELL_M = 100;
/** Upper limit of coordinates in EPSG:3035. The coordinates in Europe are positive and below this limit. */
export const MAX_COORDINATE_M = 10_000_000;
/** Maximum velocity. Interferometry cannot measure a metre per year, so a higher value is a no-data value or belongs to a different column. */
export const MAX_VELOCITY_MM_YEAR = 1_000;
/** Maximum acceleration, and the limits of height in Europe. A value beyond these limits is an error. */
export const MAX_ACCELERATION_MM_YEAR2 = 1_000;
export const HEIGHT_M = [-1_000, 9_000] as const;
/** A decimal with at most 7 digits before and 6 after the point. All digits form one integer below 2^53, so that the fast path divides exactly. */
const DECIMAL = /^-?\d{1,7}(\.\d{1,6})?$/;

const decimal = z.string().regex(DECIMAL, 'expected a decimal number').transform(Number);
const spread = decimal.refine((value) => value >= 0, { message: 'expected a number that is not negative' });
const centre = z.string().regex(/^\d{2,7}$/, 'expected whole metres').transform(Number).refine((value) => value % CELL_M === CELL_M / 2, {
  message: 'expected the centre of a 100 m cell, which ends in 50',
  params: { code: 'cell_not_on_grid' },
});

export const egmsRow = z.strictObject({
  /** Ten base62 characters, case sensitive. */
  pid: z.string().regex(/^[0-9A-Za-z]{10}$/, 'expected 10 base62 characters'),
  /** Centre of the cell in metres, EPSG:3035. */
  easting: centre,
  northing: centre,
  /** Orthometric height in metres. */
  height: decimal.refine((value) => value >= HEIGHT_M[0] && value <= HEIGHT_M[1], { message: `expected a height from ${HEIGHT_M[0]} to ${HEIGHT_M[1]} m` }),
  /** Root mean square residual after a third-order polynomial and the seasonal term, mm. */
  rmse: spread,
  /** Mean velocity in mm/year, positive upwards. */
  mean_velocity: decimal.refine((value) => Math.abs(value) <= MAX_VELOCITY_MM_YEAR, {
    message: `expected a velocity within ±${MAX_VELOCITY_MM_YEAR} mm/year`,
    params: { code: 'velocity_out_of_range' },
  }),
  mean_velocity_std: spread,
  /** Acceleration in mm/year², which is twice the second-order coefficient. */
  acceleration: decimal.refine((value) => Math.abs(value) <= MAX_ACCELERATION_MM_YEAR2, { message: `expected an acceleration within ±${MAX_ACCELERATION_MM_YEAR2} mm/year²` }),
});

type EgmsRow = z.output<typeof egmsRow>;
type EgmsField = keyof EgmsRow;

/** Fields in the order of the staging table. */
export const FIELDS: readonly EgmsField[] = ['pid', 'easting', 'northing', 'height', 'rmse', 'mean_velocity', 'mean_velocity_std', 'acceleration'];

/** Fields of measurements, which may be missing. */
const MEASURED: readonly string[] = FIELDS.filter((field) => !['pid', 'easting', 'northing'].includes(field));

const FIT = ['mean_velocity', 'mean_velocity_std', 'acceleration', 'acceleration_std', 'seasonality', 'seasonality_std'];
/** All columns before the series, by release. The release 2020–2024 renamed two columns and added the velocity of the reference network. */
export const EDITIONS = {
  '2015–2023': ['pid', 'easting', 'northing', 'height', 'rmse', ...FIT],
  '2020–2024': ['pid', 'easting', 'northing', 'height_ortho', 'rmse_ts', ...FIT, 'gnss_velocity_n', 'gnss_velocity_e', 'gnss_velocity_u'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

/** Column names of each field in all releases. */
export const COLUMNS: Readonly<Record<EgmsField, readonly string[]>> = {
  pid: ['pid'],
  easting: ['easting'],
  northing: ['northing'],
  height: ['height', 'height_ortho'],
  rmse: ['rmse', 'rmse_ts'],
  mean_velocity: ['mean_velocity'],
  mean_velocity_std: ['mean_velocity_std'],
  acceleration: ['acceleration'],
};

/**
 * @returns the stable code and the one-line message of a rejected row. The code is `no_data` if the position is valid and a measurement is NaN or −9999,
 * which means that the cell was not measured
 */
export function refusal(text: Readonly<Record<string, string>>, error: z.ZodError): Refusal {
  const found = refusalOf(text, error);
  if (error.issues.every(({ path }) => MEASURED.includes(String(path[0]))) && MEASURED.some((field) => isNoData(text[field])))
    return { ...found, code: NO_DATA };
  return { ...found, code: firstIssue(error).code ?? found.code };
}
