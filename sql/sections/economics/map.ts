/** Map layer of the section economics, and the texts of the section on the map in English and Italian. */
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
  italian: {
    title: 'Redditi dichiarati',
    words: {
      average_income: 'Reddito medio', taxpayers: 'Contribuenti', earners: 'Con reddito', total_income: 'Reddito complessivo', net_tax: 'Imposta netta',
      tax_year: 'Anno d’imposta', gini_index: 'Indice di Gini', affordability_index: 'Anni di reddito per 80 m²',
      affordability_apt_size_m2: 'Abitazione di riferimento', avg_residential_price_m2: 'Prezzo medio delle abitazioni',
      income_brackets: 'Classi di reddito', lte_zero: 'zero o meno', from_0_to_10k: '0–10.000 €', from_10k_to_15k: '10.000–15.000 €', from_15k_to_26k: '15.000–26.000 €',
      from_26k_to_55k: '26.000–55.000 €', from_55k_to_75k: '55.000–75.000 €', from_75k_to_120k: '75.000–120.000 €', over_120k: 'oltre 120.000 €', level: 'Livello',
    },
    units: { years: 'anni' },
    values: { cap: 'CAP', comune: 'comune' },
    legend: { 'Average income': 'Reddito medio', 'No income declared': 'Nessun reddito dichiarato' },
    fields: {
      'total_income divided by earners, euro; null: withheld': 'Reddito complessivo diviso per i contribuenti con reddito, in euro; vuoto: oscurato',
      'Null: withheld or not published': 'Vuoto: oscurato o non pubblicato',
      'Taxpayers who declare an income; before 2023, the sum of the brackets; null: withheld':
        'Contribuenti con reddito complessivo; prima del 2023 la somma delle classi; vuoto: oscurato',
      'Euro; null: withheld': 'Euro; vuoto: oscurato',
      'Year in which the income was earned: the newest year published for the comune at this level':
        'Anno in cui il reddito è stato percepito: di questo livello, il più recente pubblicato per il comune',
      'Null: withheld': 'Vuoto: oscurato',
      'Years of average income that a dwelling of affordability_apt_size_m2 costs; null: no price or no income':
        'Anni di reddito medio per l’abitazione di riferimento; vuoto: manca il prezzo o il reddito',
      'Size of the dwelling used for affordability_index': 'Superficie dell’abitazione a cui si riferiscono gli anni di reddito',
      Taxpayers: 'Contribuenti',
      'Area to which the numbers refer': 'A che cosa si riferiscono i dati',
    },
    evidence: {
      'perimeter that contains the representative point': 'perimetro che contiene il punto rappresentativo',
      'postal code that selects the incomes': 'CAP, che decide di chi sono i redditi mostrati',
      'area of the postal code that contains the representative point': 'area del CAP che contiene il punto rappresentativo',
      'newest row of the comune': 'riga più recente del comune',
      'row of the postal code in the newest year with postal codes': 'riga del CAP, dell’anno più recente pubblicato per CAP',
      'residential type of the zone, in its prevalent state; the value is the mean of (minimum + maximum) / 2 over all types':
        'tipologia residenziale della zona nello stato prevalente; il valore è la media di (minimo + massimo) / 2 su tutte le tipologie',
    },
  },
});
