/** Texts and layers of the section risk on the map. */
import { defineMap } from '../../../pipelines/contract/section-map.ts';

export default defineMap({
  panel: {
    summary: ['flood_level', 'landslide_level', 'seismic_zone'],
    words: {
      seismic_zone: 'Seismic zone', seismic_zone_label: 'Seismic zone as published', seismic_zone_exact: 'Only one zone in the comune', pga: 'Peak ground acceleration',
      flood_level: 'Flood hazard', flood_share: 'Share of the parcel in this class', landslide_level: 'Landslide hazard', landslide_share: 'Share of the parcel in this class',
      landslide_attention: 'Area of attention', coverage: 'Coverage', flood: 'floods', landslide: 'landslides',
    },
    values: { P1: 'P1, low or moderate', P2: 'P2, medium', P3: 'P3, high', P4: 'P4, very high', AA: 'AA, area of attention', HPH: 'HPH, without a class' },
    units: { pga: 'g', flood_share: 'share', landslide_share: 'share' },
    codes: ['seismic_zone'],
    coverage: { pga: 'pga', flood_level: 'flood', flood_share: 'flood', landslide_level: 'landslide', landslide_share: 'landslide', landslide_attention: 'landslide' },
  },
  layer: {
    group: 'hazards',
    title: 'Flood hazard',
    value: 'flood_level',
    coverage: 'flood_coverage',
    classes: [
      { value: 'P1', label: 'P1, low', color: '#9ecae1' },
      { value: 'P2', label: 'P2, medium', color: '#4292c6' },
      { value: 'P3', label: 'P3, high', color: '#08519c' },
      { value: 'HPH', label: 'HPH, an area without a class', color: '#cc79a7' },
    ],
    none: 'No known flood hazard',
  },
  otherLayers: {
    risk_landslide: {
      group: 'hazards',
      title: 'Landslide hazard',
      value: 'landslide_level',
      coverage: 'landslide_coverage',
      classes: [
        { value: 'AA', label: 'AA, attention', color: '#cab2d6' },
        { value: 'P1', label: 'P1, moderate', color: '#fed98e' },
        { value: 'P2', label: 'P2, medium', color: '#fe9929' },
        { value: 'P3', label: 'P3, high', color: '#cc4c02' },
        { value: 'P4', label: 'P4, very high', color: '#662506' },
      ],
      none: 'No known landslide hazard',
    },
    risk_seismic: {
      group: 'hazards',
      title: 'Seismic zone',
      value: 'seismic_zone',
      coverage: 'pga_coverage',
      classes: [
        { value: '1', label: '1, high hazard', color: '#7a0177' },
        { value: '2', label: '2, medium', color: '#c51b8a' },
        { value: '3', label: '3, low', color: '#f768a1' },
        { value: '4', label: '4, very low', color: '#fbb4b9' },
      ],
      none: 'Not classified',
    },
  },
});
