/** What dwellings of the OMI zones that a parcel lay in were quoted at over the years. */
import { z } from 'zod';
import { presence } from '../../../pipelines/contract/gate.ts';
import { belfiore, euroPerM2, euroPerM2Month, nullable, semester, source } from '../../../pipelines/contract/schemas.ts';
import { defineSection, FID } from '../../../pipelines/contract/section.ts';

const valuationHistory = z.strictObject({
  zone_current: z.string().describe('OMI zone of the newest half-year'),
  municipality_code: belfiore,
  property_type: z.literal('Abitazioni civili').describe('Civil dwellings'),
  condition: z.literal('NORMALE').describe('Normal state of conservation'),
  semesters: z.array(z.strictObject({
    semester: semester.describe('Year and half-year'),
    zone: nullable(z.string(), 'Zone in which the parcel was then; null: not known'),
    purchase: z.strictObject({ min_eur_m2: euroPerM2, max_eur_m2: euroPerM2, mid_eur_m2: euroPerM2 }).describe('Prices'),
    rental: z.strictObject({ min_eur_m2: euroPerM2Month, max_eur_m2: euroPerM2Month, mid_eur_m2: euroPerM2Month }).describe('Rents'),
    gross_yield_pct: nullable(z.number(), 'A year of rent over the price; null: one of them is not quoted'),
  })).min(22).max(22).describe('Oldest first; a half-year that was not quoted keeps its element'),
  source,
}).meta({ id: 'ValuationHistory', description: 'Quotations of the OMI zone over 22 half-years' });

export default defineSection({
  name: 'valuation_history',
  position: 60,
  title: 'Property values since 2015',
  block: nullable(valuationHistory, 'Null: in no OMI zone'),
  kinds: ['land'],
  coverage: 'meta',
  tables: {
    'section.valuation_history': {
      description: 'OMI zones of a parcel over 22 half-years, one row per run of half-years in one zone; the runs of a parcel follow each other without gaps. No row: the representative point lies in no zone now, or the parcel is a road or water',
      key: ['fid', 'since'],
      columns: {
        fid: FID,
        since: {
          type: 'int2',
          description: 'First half-year of the run: year × 2 + (half − 1)',
          gate: 'a half-year: figures of different ones are not compared',
        },
        until: { type: 'int2', description: 'Last half-year of the run', gate: 'a half-year: figures of different ones are not compared' },
        belfiore: { type: 'text', description: 'Comune of the current zone' },
        zona: {
          type: 'text',
          description: 'Current zone, under the name that it has in the half-year that is quoted; where that could not be told, as its perimeter names it',
        },
        then_belfiore: { type: 'text', description: 'Comune of the zone in this run', null: 'no zone', gate: 'there with then_zona' },
        then_zona: {
          type: 'text',
          description: 'Zone in this run: by its perimeters of then; where the comune has none of then, the zone with the same LinkZona',
          null: 'none', gate: presence(),
        },
        half_year: {
          type: 'int2',
          description: 'Newest half-year with quotations of the comune: year × 2 + (half − 1)',
          null: 'the zone of the perimeter could not be found in it', gate: presence(),
        },
        perimeter_half_year: {
          type: 'int2',
          description: 'Half-year of the perimeter that contains the representative point now',
          null: 'published by a version that did not say', gate: 'a half-year: figures of different ones are not compared',
        },
      },
    },
  },
  usual: true,
  flat: {
    zone_current: { type: 'text' },
    semester: { type: 'text', of: 'semesters.21.semester' },
    purchase_min_eur_m2: { type: 'float8', of: 'semesters.21.purchase.min_eur_m2' },
    purchase_max_eur_m2: { type: 'float8', of: 'semesters.21.purchase.max_eur_m2' },
    purchase_mid_eur_m2: { type: 'float8', of: 'semesters.21.purchase.mid_eur_m2' },
    rental_min_eur_m2_month: { type: 'float8', of: 'semesters.21.rental.min_eur_m2' },
    rental_max_eur_m2_month: { type: 'float8', of: 'semesters.21.rental.max_eur_m2' },
    rental_mid_eur_m2_month: { type: 'float8', of: 'semesters.21.rental.mid_eur_m2' },
    gross_yield_pct: { type: 'float8', of: 'semesters.21.gross_yield_pct' },
  },
  map: {
    italian: {
      title: 'Valori immobiliari dal 2015',
      words: { zone_current: 'Zona attuale', municipality_code: 'Comune', property_type: 'Tipologia', condition: 'Stato', zone: 'Zona OMI' },
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
        'Zone in which the parcel was then; null: not known': 'Zona in cui si trovava allora la particella; vuoto: non nota',
        'Euro per square metre; null: not quoted': 'Euro al metro quadrato; vuoto: non quotato',
        'Euro per square metre and month; null: not quoted': 'Euro al metro quadrato al mese; vuoto: non quotato',
        'A year of rent over the price; null: one of them is not quoted': 'Canone di un anno diviso per il prezzo; vuoto: uno dei due non è quotato',
      },
      evidence: {
        'zone of then that has the LinkZona of the zone of now': 'zona di allora con la LinkZona della zona attuale',
        'LinkZona of the zone in {1}, by which it is found in the half-year that is quoted': 'LinkZona della zona nel {1}, con cui la si trova nel semestre quotato',
        'perimeter of {1} that contains the representative point': 'perimetro della zona OMI del semestre {1} che contiene il punto rappresentativo',
        'civil dwellings in normal state; zone of then by perimeters of then, else by the LinkZona of the zone of now':
          'abitazioni civili in stato normale; zona di allora secondo i perimetri di allora, altrimenti secondo il LinkZona della zona attuale',
        'semester {1}_{2}': 'Semestre {1}/{2}',
      },
    },
    list: {
      field: 'semesters', caption: 'Half-years, latest first', latestFirst: true,
      columns: {
        semester: 'Semester', zone: 'Zone', 'purchase.min_eur_m2': 'Sale from, €/m²', 'purchase.max_eur_m2': 'to', 'rental.min_eur_m2': 'Rent from, €/m² month',
        'rental.max_eur_m2': 'to', gross_yield_pct: 'Yield, %',
      },
    },
  },
  layer: {
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
