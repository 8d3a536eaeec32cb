/** Italian texts of section shaking on the map. */
import { defineItalian } from '../../../pipelines/contract/section-map.ts';

export default defineItalian({
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
});
