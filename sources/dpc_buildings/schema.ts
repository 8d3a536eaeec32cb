/** Validates and converts the fields of the structural aggregates. */
import { z } from 'zod';

/** All columns, by edition. */
export const EDITIONS = { 2021: ['idag', 'label', 'comune'] } as const;

/**
 * `19087026000000000100`: region 19, comune 087026 (ISTAT code at the time of the survey), and the aggregate's number in the comune. The last two
 * digits number the parts of a divided aggregate.
 */
const idag = z.string('expected 20 digits that begin with a region 01–20').trim().regex(/^(?:0[1-9]|1\d|20)\d{18}$/, 'expected 20 digits that begin with a region 01–20');

export const record = z.object({ idag })
  .transform(({ idag: aggregateId }) => ({ aggregateId, istatCode: aggregateId.slice(2, 8) }));
