/** Texts and layer of the section valuation_history on the map. */
import { defineMap } from '../../../pipelines/contract/section-map.ts';

export default defineMap({
  panel: {
    summary: ['semesters.21.purchase.mid_eur_m2'],
    words: { zone_current: 'Current zone', municipality_code: 'Comune', property_type: 'Property type', condition: 'Condition', zone: 'OMI zone', mid_eur_m2: 'Price of ordinary dwellings' },
    units: { mid_eur_m2: '€/m²' },
    values: { 'Abitazioni civili': 'ordinary dwellings' },
    list: {
      field: 'semesters', caption: 'Half-years, latest first', latestFirst: true,
      columns: {
        semester: 'Semester', zone: 'Zone', 'purchase.min_eur_m2': 'Sale from, €/m²', 'purchase.max_eur_m2': 'to', 'rental.min_eur_m2': 'Rent from, €/m² month',
        'rental.max_eur_m2': 'to', gross_yield_pct: 'Yield, %',
      },
    },
  },
  layer: {
    group: 'value',
    title: 'Price of ordinary dwellings, latest half-year',
    value: 'purchase_mid_eur_m2',
    unit: '€/m²',
    classes: [
      { color: '#f3f99b' }, { from: 500, color: '#c7e9b4' }, { from: 1000, color: '#7fcdbb' }, { from: 1500, color: '#41b6c4' }, { from: 2500, color: '#2c7fb8' },
      { from: 4000, color: '#253494' },
    ],
    none: 'Not quoted',
  },
});
