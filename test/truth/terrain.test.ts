/**
 * Compares terrain with an independent computation by gdaldem, numpy and shapely, in `scripts/terrain-truth.py`. The rasters and results are in the folder
 * `terrain` next to this file. The tiles overlap with different values, have holes, and have borders within parcels. A quarter of the area is covered only by
 * a different model.
 */
import { copyFileSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Context } from '../../pipelines/run/context.ts';
import { refresh } from '../../pipelines/run/refresh.ts';
import { describeDatabase } from '../harness/database.ts';
import { freshContext } from '../harness/fresh-context.ts';
import { loadOptions, syntheticFiles } from '../harness/region.ts';

const FOLDER = fileURLToPath(new URL('./terrain/', import.meta.url));
/** Number of decimals in the contract, by field. All other fields are texts and counts. */
const DECIMALS: Readonly<Record<string, number>> = {
  elevation_min: 1, elevation_max: 1, elevation_mean: 1, elevation_std: 1, slope_mean: 1, slope_max: 1, ruggedness_index: 2, tri_mean: 2,
};
/** Tolerance for the results of gdaldem, which computes in 32-bit floats. */
const ROUNDING = 2e-4;

const [header = '', ...lines] = readFileSync(join(FOLDER, 'terrain.tsv'), 'utf8').trimEnd().split('\n');
const fields = header.split('\t');
const truth = lines.map((line) => Object.fromEntries(line.split('\t').map((value, index) => [fields[index]!, value])));

describeDatabase('terrain compared with gdaldem', (engine) => {
  let files: Awaited<ReturnType<typeof syntheticFiles>>;
  let context: Context;

  beforeAll(async () => {
    const { parcels, seed, comuni } = JSON.parse(readFileSync(join(FOLDER, 'region.json'), 'utf8')) as { parcels: number; seed: number; comuni: number };
    files = await syntheticFiles(parcels, seed, { only: ['ade_cadastre'], comuni });
    for (const name of readdirSync(FOLDER).filter((each) => each.endsWith('.tif'))) copyFileSync(join(FOLDER, name), join(files.folder, name));
    context = await freshContext(engine);
    const report = await refresh(context, loadOptions([files.folder], [files.region.code]));
    expect(report.failures.map((failure) => failure.report())).toEqual([]);
  });
  afterAll(() => files?.remove());

  it('is equal in every field of more than 2,000 parcels, except for rounding', async () => {
    expect(truth.length).toBeGreaterThan(2000);
    const rows = await context.database.query<{ reference: string; terrain: Record<string, unknown> | null }>(
      "select x.reference, api.parcel(api.parcel_by_reference(x.reference), array['terrain']) -> 'terrain' as terrain from unnest($1::text[]) as x (reference)",
      [truth.map(({ reference }) => reference)],
    );
    const found = new Map(rows.map(({ reference, terrain }) => [reference, terrain]));
    const wrong: string[] = [];
    for (const { reference, model: _model, ...expected } of truth) {
      const terrain = found.get(reference!) ?? {};
      for (const [field, value] of Object.entries(expected)) {
        const decimals = DECIMALS[field];
        const same = decimals === undefined || value === ''
          ? String(terrain[field] ?? '') === value
          : Math.abs(Number(terrain[field]) - Number(value)) <= 0.5 * 10 ** -decimals + ROUNDING;
        if (!same) wrong.push(`${reference} ${field}: expected ${value}, found ${String(terrain[field])}`);
      }
    }
    expect(wrong.slice(0, 20)).toEqual([]);
  });

  it('has a record that names the elevation model', async () => {
    const rows = await context.database.query<{ reference: string; holder: string }>(
      "select x.reference, api.parcel(api.parcel_by_reference(x.reference), array['terrain']) -> 'terrain' ->> 'source' as holder from unnest($1::text[]) as x (reference)",
      [truth.map(({ reference }) => reference)],
    );
    const holders = new Map(rows.map(({ reference, holder }) => [reference, holder]));
    expect(new Set(truth.map(({ reference, model }) => `${model}: ${holders.get(reference!)}`))).toEqual(new Set([
      'ground: TINITALY 1.1, digital elevation model of Italy with cells of 10 m (1.1)',
      'surface: Copernicus DEM GLO-30, digital surface model with cells of 1″ (2021)',
    ]));
  });
});
