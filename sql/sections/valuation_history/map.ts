/** Map layer of the section valuation_history, and the texts of the section on the map in English and Italian. */
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
  italian: {
    title: 'Valori immobiliari dal 2015',
    words: {
      mid_eur_m2: 'Prezzo delle abitazioni civili', zone_current: 'Zona attuale', municipality_code: 'Comune', property_type: 'Tipologia', condition: 'Stato', zone: 'Zona OMI' },
    values: { 'Abitazioni civili': 'Abitazioni civili' },
    caption: 'Semestri, dal più recente',
    columns: {
      semester: 'Semestre', zone: 'Zona', 'purchase.min_eur_m2': 'Vendita da, €/m²', 'purchase.max_eur_m2': 'a',
      'rental.min_eur_m2': 'Affitto da, €/m² mese', 'rental.max_eur_m2': 'a', gross_yield_pct: 'Resa, %',
    },
    legend: { 'Price of ordinary dwellings, latest half-year': 'Prezzo delle abitazioni civili, ultimo semestre', 'Not quoted': 'Non quotato' },
    fields: {
      'OMI zone of the newest half-year': 'Zona OMI del semestre più recente',
      'Cadastral code of the comune: a letter and three digits': 'Codice catastale del comune: una lettera e tre cifre',
      'Civil dwellings': 'Abitazioni civili',
      'Normal state of conservation': 'Stato di conservazione normale',
      'Year and half-year': 'Anno e semestre',
      'Zone that contained the parcel in the half-year; null: the zone is unknown': 'Zona in cui si trovava allora la particella; vuoto: non nota',
      'Euro per square metre; null: not quoted': 'Euro al metro quadrato; vuoto: non quotato',
      'Euro per square metre and month; null: not quoted': 'Euro al metro quadrato al mese; vuoto: non quotato',
      'Annual rent in percent of the price; null: rent or price is not quoted': 'Canone di un anno in percentuale del prezzo; vuoto: uno dei due non è quotato',
    },
    evidence: {
      'zone in that half-year with the LinkZona of the current zone': 'zona di allora con la LinkZona della zona attuale',
      'LinkZona of the perimeter\'s zone in {1}, by which it is found in the half-year that is quoted':
        'LinkZona della zona del perimetro nel semestre {1}, con cui la si ritrova nel semestre quotato',
      'zone in {1} with the LinkZona of the perimeter\'s zone': 'zona nel semestre {1} con il LinkZona della zona del perimetro',
      'perimeter of {1} that contains the representative point': 'perimetro della zona OMI del semestre {1} che contiene il punto rappresentativo',
      'abitazioni civili in normal state; the zone was found by the perimeters of that half-year, or else by the LinkZona of the current zone':
        'abitazioni civili in stato normale; zona di allora secondo i perimetri di allora, altrimenti secondo il LinkZona della zona attuale',
      'semester {1}_{2}': 'Semestre {1}/{2}',
    },
  },
});
