/** Texts and layer of the section coastal_erosion on the map. */
import { defineMap } from '../../../pipelines/contract/section-map.ts';

export default defineMap({
  panel: {
    values: { erosion: 'erosion', accretion: 'accretion', stable: 'stable' },
    list: { columns: { dynamic: 'Dynamic', avg_change_m_year: 'Change, m/year', severity_index: 'Severity index', distance_m: 'Distance, m' } },
  },
  layer: {
    group: 'hazards',
    title: 'Coast within 1,000 m',
    value: 'dynamic',
    classes: [
      { value: 'erosion', label: 'Erosion', color: '#d55e00' },
      { value: 'stable', label: 'Stable', color: '#f0e442' },
      { value: 'accretion', label: 'Accretion', color: '#0072b2' },
    ],
    none: 'No low coast nearby',
  },
});
