/** Tests the formats of sizes and durations. */
import { expect, it } from 'vitest';
import { byteText, duration } from '../../pipelines/progress.ts';

it.each([
  [0, '0.0 s'], [9.94, '9.9 s'], [9.97, '10 s'], [59.4, '59 s'], [59.7, '1 min 0 s'], [179.7, '3 min 0 s'], [3599.7, '1 h 0 min'], [7499, '2 h 4 min'],
])('%d seconds are printed as %s', (seconds, text) => {
  expect(duration(seconds)).toBe(text);
});

it.each([
  [0, '0 B'], [999, '999 B'], [1000, '1.0 kB'], [999_949, '999.9 kB'], [999_999, '1.0 MB'], [999_999_999, '1.0 GB'], [12_345_600_000, '12.3 GB'],
])('%d bytes are printed as %s', (bytes, text) => {
  expect(byteText(bytes)).toBe(text);
});
