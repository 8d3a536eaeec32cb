/** Prints the land parcels of a synthetic region as GeoJSON in degrees, for `terrain-truth.py`. Arguments: number of parcels, seed, number of comuni. */
import './help.ts';
import { makeRegion } from '../pipelines/synthetic/make-region.ts';

const [parcels = NaN, seed = NaN, comuni = NaN] = process.argv.slice(2).map(Number);
const features = [...makeRegion({ parcels, seed, comuni }).parcels()].filter(({ kind }) => kind === 'land').map(({ reference, polygons }) => ({
  type: 'Feature', properties: { reference }, geometry: { type: 'MultiPolygon', coordinates: polygons },
}));
process.stdout.write(`${JSON.stringify({ type: 'FeatureCollection', features })}\n`);
