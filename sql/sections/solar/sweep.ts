/** Interpolates the annual yield per kilowatt of peak power at the representative point of each parcel with roofs. */
import { defineSweeps } from '../../../pipelines/contract/sweep.ts';

export default defineSweeps({ tiles: 'yield_tile', over: 'roofed', into: 'pvout', sample: 'bilinear' });
