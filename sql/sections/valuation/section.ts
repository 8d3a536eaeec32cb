/** Section valuation: real estate quotations of a parcel's OMI zone. */
import { z } from 'zod';
import { presence } from '../../../pipelines/contract/gate.ts';
import { euroPerM2, euroPerM2Month, nullable, semester, whole } from '../../../pipelines/contract/schemas.ts';
import { defineSection, FID } from '../../../pipelines/contract/section.ts';

const purchase = z.strictObject({ min_eur_m2: euroPerM2, max_eur_m2: euroPerM2 }).describe('Prices');
const rental = z.strictObject({ min_eur_m2: euroPerM2Month, max_eur_m2: euroPerM2Month }).describe('Rents');

const valuation = z.array(z.strictObject({
  zone: z.string().describe('OMI zone'),
  fascia: nullable(z.string(), 'Band: B central … R rural'),
  microzona: nullable(whole, 'Null: not published'),
  zone_description: nullable(z.string(), 'Null: not published'),
  municipality: z.string().describe('Name (cadastral code)'),
  property_type: z.string().describe('As published: Abitazioni civili, Negozi …'),
  condition: nullable(z.string(), 'State of conservation; null: not published'),
  purchase,
  rental,
  previous_semester: z.strictObject({ purchase, rental }).describe('Quotations of the half-year before'),
  semester: semester.describe('Newest half-year with quotations of the comune'),
  zone_perimeter_semester: nullable(semester, 'Half-year of the perimeter that contains the parcel; null: published by a version that did not store it'),
})).meta({ id: 'Valuation', description: 'Quotations of the OMI zone, one element per type and state' });

export default defineSection({
  name: 'valuation',
  position: 50,
  title: 'Property values (OMI)',
  block: valuation,
  kinds: ['land'],
  coverage: 'meta',
  tables: {
    'section.valuation': {
      description: 'OMI zone of a parcel now and in the half-year before. The quotations are in core.quotation. No row: no zone contains the representative point, the zone is unknown, or the parcel is a road or water',
      key: ['fid'],
      columns: {
        fid: FID,
        belfiore: { type: 'text', description: 'Comune of the zone, as published by OMI' },
        zona: { type: 'text', description: 'Zone in the half-year of the quotations. If it is unknown, the zone of its perimeter' },
        half_year: {
          type: 'int2',
          description: 'Newest half-year with quotations of the comune: year × 2 + (half − 1)',
          null: 'the zone of the perimeter was not found in that half-year', gate: presence(),
        },
        previous_belfiore: { type: 'text', description: 'Comune of the zone in the half-year before', null: 'no zone in that half-year', gate: 'there with previous_zona' },
        previous_zona: { type: 'text', description: 'Zone in the half-year before', null: 'none', gate: presence() },
        perimeter_half_year: {
          type: 'int2',
          description: 'Half-year of the perimeter that contains the representative point',
          null: 'published by a version that did not store it', gate: 'it is a half-year, and different half-years are not compared',
        },
      },
    },
  },
  flat: {
    count: { type: 'int4', of: 'length' },
    zone: { type: 'text', of: '0.zone' },
    fascia: { type: 'text', of: '0.fascia' },
    zone_description: { type: 'text', of: '0.zone_description' },
    semester: { type: 'text', of: '0.semester' },
  },
  map: {
    italian: {
      title: 'Valori immobiliari (OMI)',
      words: { zone: 'Zona OMI', zone_description: 'Descrizione della zona', zone_perimeter_semester: 'Semestre del perimetro' },
      columns: {
        property_type: 'Tipologia', condition: 'Stato', 'purchase.min_eur_m2': 'Vendita da, €/m²', 'purchase.max_eur_m2': 'a',
        'rental.min_eur_m2': 'Affitto da, €/m² mese', 'rental.max_eur_m2': 'a',
      },
      note: 'Zona {zone}, {zone_description} {semester}',
      legend: {
        'Band of the market zone': 'Fascia della zona di mercato', 'B, centre': 'B, centrale', 'C, around the centre': 'C, semicentrale',
        'D, outskirts': 'D, periferica', 'E, suburbs': 'E, suburbana', 'R, rural': 'R, rurale', 'In no market zone': 'In nessuna zona di mercato',
      },
      fields: {
        'As published: Abitazioni civili, Negozi …': 'Come pubblicata: Abitazioni civili, Negozi …',
        'State of conservation; null: not published': 'Stato di conservazione; vuoto: non pubblicato',
        'Euro per square metre; null: not quoted': 'Euro al metro quadrato; vuoto: non quotato',
        'Euro per square metre and month; null: not quoted': 'Euro al metro quadrato al mese; vuoto: non quotato',
      },
      evidence: {
        'perimeter that contains the representative point: of the half-year of the quotations, otherwise the newest whose zone has a LinkZona':
          'perimetro della zona OMI che contiene il punto rappresentativo: del semestre quotato, altrimenti il più recente la cui zona ha un LinkZona',
        'LinkZona of the perimeter\'s zone in {1}, by which it is found in the half-year that is quoted':
          'LinkZona della zona del perimetro nel semestre {1}, con cui la si ritrova nel semestre quotato',
        'facts of the zone in {1}': 'dati della zona nel semestre {1}',
        'quotation of the zone': 'quotazione della zona',
        'quotation of the zone in the half-year before': 'quotazione della zona nel semestre precedente',
        'previous_semester {1}{2}': 'Semestre precedente: {1}{2}',
      },
    },
    list: {
      note: 'Zone {zone}, {zone_description} {semester}',
      columns: {
        property_type: 'Property type', condition: 'Condition', 'purchase.min_eur_m2': 'Sale from, €/m²', 'purchase.max_eur_m2': 'to', 'rental.min_eur_m2': 'Rent from, €/m² month',
        'rental.max_eur_m2': 'to',
      },
    },
  },
  layer: {
    title: 'Band of the market zone',
    value: 'fascia',
    classes: [
      { value: 'B', label: 'B, centre', color: '#440154' },
      { value: 'C', label: 'C, around the centre', color: '#3b528b' },
      { value: 'D', label: 'D, outskirts', color: '#21918c' },
      { value: 'E', label: 'E, suburbs', color: '#5ec962' },
      { value: 'R', label: 'R, rural', color: '#fde725' },
    ],
    none: 'In no market zone',
  },
});
