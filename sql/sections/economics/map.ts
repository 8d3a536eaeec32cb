/** Texts and layer of the section economics on the map. */
import { defineMap } from '../../../pipelines/contract/section-map.ts';

export default defineMap({
  panel: {
    summary: ['average_income'],
    words: {
      average_income: 'Average income', taxpayers: 'Taxpayers', earners: 'With an income', total_income: 'Total income', net_tax: 'Net tax', tax_year: 'Tax year', gini_index: 'Gini index',
      affordability_index: 'Years of income for 80 m²', affordability_apt_size_m2: 'Reference dwelling', avg_residential_price_m2: 'Average residential price', level: 'Level',
      income_brackets: 'Income brackets', lte_zero: 'zero or less', from_0_to_10k: '0–10,000 €', from_10k_to_15k: '10,000–15,000 €', from_15k_to_26k: '15,000–26,000 €',
      from_26k_to_55k: '26,000–55,000 €', from_55k_to_75k: '55,000–75,000 €', from_75k_to_120k: '75,000–120,000 €', over_120k: 'over 120,000 €',
    },
    values: { cap: 'postal code', comune: 'comune' },
    units: {
      average_income: '€', total_income: '€', net_tax: '€', avg_residential_price_m2: '€/m²', affordability_apt_size_m2: 'm²', affordability_index: 'years', gini_index: '0–1',
    },
    codes: ['tax_year'],
    first: [
      'average_income', 'taxpayers', 'total_income', 'net_tax', 'tax_year', 'gini_index', 'avg_residential_price_m2', 'affordability_index', 'affordability_apt_size_m2', 'level',
      'income_brackets',
    ],
  },
  layer: {
    group: 'value',
    title: 'Average income',
    value: 'average_income_eur',
    unit: '€',
    classes: [
      { color: '#fff7a8' }, { from: 15000, color: '#fee07a' }, { from: 18000, color: '#fec44f' }, { from: 21000, color: '#fe9929' }, { from: 24000, color: '#d95f0e' },
      { from: 28000, color: '#993404' },
    ],
    none: 'No income declared',
  },
});
