/** Texts and layer of the section population on the map. */
import { defineMap } from '../../../pipelines/contract/section-map.ts';

export default defineMap({
  panel: {
    summary: ['estimated'],
    words: {
      estimated: 'Residents, estimated', dasymetric: 'By residential footprint', areal: 'By area', estimation_method: 'Method', estimation_confidence: 'Confidence',
      municipality_total: 'Residents of the comune',
    },
    values: { dasymetric: 'by residential footprint', areal: 'by area' },
    units: { estimated: 'persons', dasymetric: 'persons', areal: 'persons', estimation_confidence: 'share' },
    first: ['estimated', 'estimation_method', 'estimation_confidence', 'dasymetric', 'areal', 'municipality_total'],
  },
  layer: {
    group: 'people',
    title: 'Residents, estimated',
    value: 'estimated',
    unit: 'persons',
    classes: [
      { color: '#e7d4e8' }, { from: 0.5, color: '#c994c7' }, { from: 2, color: '#df4a9e' }, { from: 5, color: '#b0105a' }, { from: 20, color: '#67001f' },
    ],
    none: 'No estimate',
  },
});
