/** Computes the annual yield per kilowatt of panels at the point of each parcel with roofs. */
import { defineSweeps } from '../../../pipelines/contract/sweep.ts';

export default defineSweeps({ tiles: 'yield_tile', over: 'roofed', into: 'pvout', sample: 'bilinear' });
