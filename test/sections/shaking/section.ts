/** Example section of `docs/adding-a-section.md`: values of the seismic model at the corners of the grid square that contains the parcel's point. */
import { z } from 'zod';
import { quantity } from '../../../pipelines/contract/gate.ts';
import { nullable, source, whole } from '../../../pipelines/contract/schemas.ts';
import { defineSection, FID } from '../../../pipelines/contract/section.ts';

const acceleration = z.number().min(0);

const shaking = z.strictObject({
  ag_min: acceleration.describe('Least acceleration of the corners, g'),
  ag_max: acceleration.describe('Greatest acceleration of the corners, g'),
  corners: whole.min(1).max(4).describe('Number of corners for which the model has a value'),
  source,
}).meta({ id: 'Shaking', description: 'The seismic model around the parcel' });

export default defineSection({
  name: 'shaking',
  position: 900,
  title: 'Shaking',
  block: nullable(shaking, 'Null: the model has no value around the place'),
  kinds: ['land', 'road', 'water'],
  coverage: 'meta',
  tables: {
    'section.shaking': {
      description: 'Seismic model around each parcel: its values at the corners of the grid square that contains the representative point. No row: none',
      key: ['fid'],
      columns: {
        fid: FID,
        ag_min_g: { type: 'float8', description: 'Least acceleration of the corners', unit: 'g', gate: quantity({ within: [0, 1] }) },
        ag_max_g: { type: 'float8', description: 'Greatest acceleration of the corners', unit: 'g', gate: quantity({ within: [0, 1] }) },
        corners: { type: 'int2', description: 'Number of corners for which the model has a value, 1–4', gate: quantity({ within: [1, 4] }) },
      },
    },
  },
  flat: {
    ag_min_g: { type: 'float8', of: 'ag_min' },
    ag_max_g: { type: 'float8', of: 'ag_max' },
    corners: { type: 'int2' },
  },
  map: {
    panel: {
      words: { ag_min: 'Least acceleration', ag_max: 'Greatest acceleration', corners: 'Corners' },
      units: { ag_min: 'g', ag_max: 'g' },
    },
    italian: {
      title: 'Scuotimento',
      words: { ag_min: 'Accelerazione minima', ag_max: 'Accelerazione massima', corners: 'Nodi' },
      fields: {
        'Least acceleration of the corners, g': 'Accelerazione minima dei nodi, g',
        'Greatest acceleration of the corners, g': 'Accelerazione massima dei nodi, g',
        'Number of corners for which the model has a value': 'Numero di nodi per i quali il modello ha un valore',
      },
      evidence: {
        'node at a corner of the square that contains the representative point': 'nodo a un vertice della maglia che contiene il punto rappresentativo',
      },
    },
  },
});
