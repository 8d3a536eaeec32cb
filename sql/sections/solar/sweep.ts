/** What a kilowatt of panels would yield at the point of each parcel that has roofs. */
import { defineSweeps } from '../../../pipelines/contract/sweep.ts';

export default defineSweeps({ tiles: 'yield_tile', over: 'roofed', into: 'pvout', sample: 'bilinear' });
