import { expect, it } from 'vitest';
import source from '../../sources/ingv_mps04/source.ts';
import { realData } from '../harness/real-data.ts';
import { trial } from '../harness/trial.ts';

const NTC08 = realData('seismic/ntc08_allegatoB_grid_excerpt.csv');
const NEAREST = realData('seismic/mps04_nearest_node_per_comune_excerpt.csv');

it.skipIf(NTC08 === null)('the node table of the building code is ignored because of its header', async () => {
  const { recognition, collected } = await trial(source, NTC08!);
  expect(recognition?.ignored).toMatch(/ED50/);
  expect(collected).toBeNull();
});

it.skipIf(NEAREST === null)('a table by comune is not recognised as the grid', async () => {
  expect((await trial(source, NEAREST!)).recognition).toBeNull();
});
