/** Map layer of the section valuation, and the texts of the section on the map in English and Italian. */
import { defineMap } from '../../../pipelines/contract/section-map.ts';

export default defineMap({
  panel: {
    words: { zone: 'OMI zone', zone_description: 'Description of the zone', zone_perimeter_semester: 'Half-year of the perimeter' },
    list: {
      note: 'Zone {zone}, {zone_description} {semester}',
      columns: {
        property_type: 'Property type', condition: 'Condition', 'purchase.min_eur_m2': 'Sale from, €/m²', 'purchase.max_eur_m2': 'to', 'rental.min_eur_m2': 'Rent from, €/m² month',
        'rental.max_eur_m2': 'to',
      },
    },
  },
  layer: {
    group: 'value',
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
      'As published, such as Abitazioni civili or Negozi': 'Come pubblicata: Abitazioni civili, Negozi …',
      'State of conservation; null: not published': 'Stato di conservazione; vuoto: non pubblicato',
      'Euro per square metre; null: not quoted': 'Euro al metro quadrato; vuoto: non quotato',
      'Euro per square metre and month; null: not quoted': 'Euro al metro quadrato al mese; vuoto: non quotato',
    },
    evidence: {
      'perimeter that contains the representative point: that of the quoted half-year, or else the newest perimeter whose zone has a LinkZona':
        'perimetro della zona OMI che contiene il punto rappresentativo: del semestre quotato, altrimenti il più recente la cui zona ha un LinkZona',
      'LinkZona of the perimeter\'s zone in {1}, by which it is found in the half-year that is quoted':
        'LinkZona della zona del perimetro nel semestre {1}, con cui la si ritrova nel semestre quotato',
      'data of the zone in {1}': 'dati della zona nel semestre {1}',
      'quotation of the zone': 'quotazione della zona',
      'quotation of the zone in the previous half-year': 'quotazione della zona nel semestre precedente',
      'previous_semester {1}{2}': 'Semestre precedente: {1}{2}',
    },
  },
});
