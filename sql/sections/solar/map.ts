/** Map layer of the section solar, and the texts of the section on the map in English and Italian. */
import { defineMap } from '../../../pipelines/contract/section-map.ts';

export default defineMap({
  panel: {
    words: {
      available: 'Roofs', n_buildings: 'Buildings', roof_area_m2: 'Roof area', kwp_max_total: 'Maximum peak power', pvout_kwh_per_kwp: 'Yield per kW', pvout_kwh_year_total: 'Annual yield',
      viability_class: 'Class', methodology_version: 'Method',
    },
    values: { alta: 'high', media: 'medium', bassa: 'low' },
    units: { roof_area_m2: 'm²', kwp_max_total: 'kW', pvout_kwh_per_kwp: 'kWh/kW', pvout_kwh_year_total: 'kWh' },
    first: ['viability_class', 'pvout_kwh_year_total', 'kwp_max_total', 'pvout_kwh_per_kwp', 'roof_area_m2', 'n_buildings'],
  },
  layer: {
    group: 'land',
    title: 'Solar yield of roofs',
    value: 'viability_class',
    classes: [
      { value: 'alta', label: 'high, 1,400 kWh/kW or more', color: '#d95f0e' },
      { value: 'media', label: 'medium, 1,200 kWh/kW or more', color: '#fec44f' },
      { value: 'bassa', label: 'low, less', color: '#8073ac' },
    ],
    none: 'No roof',
  },
  italian: {
    title: 'Fotovoltaico',
    words: {
      available: 'Tetti', n_buildings: 'Edifici', roof_area_m2: 'Superficie dei tetti', kwp_max_total: 'Potenza di picco massima',
      pvout_kwh_per_kwp: 'Resa per kW', pvout_kwh_year_total: 'Resa di un anno', viability_class: 'Classe', methodology_version: 'Metodo',
    },
    values: { alta: 'alta', media: 'media', bassa: 'bassa' },
    legend: {
      'Solar yield of roofs': 'Resa fotovoltaica dei tetti', 'high, 1,400 kWh/kW or more': 'alta, da 1.400 kWh/kW',
      'medium, 1,200 kWh/kW or more': 'media, da 1.200 kWh/kW', 'low, less': 'bassa, meno', 'No roof': 'Nessun tetto',
    },
    fields: {
      'False: no building of 10 m² or more has its largest part on the parcel, and the other fields are absent':
        'No: nessun edificio di almeno 10 m² appartiene alla particella, e non si dice altro',
      'Buildings of 10 m² or more whose largest part is on the parcel': 'Edifici di almeno 10 m² che si trovano per la maggior parte sulla particella',
      'Total footprint of the buildings in n_buildings, including parts outside the parcel': 'Superficie coperta di questi, per intero',
      'Peak power of panels on 45 % of the footprint, 0.21 kW per m²': 'Potenza di picco installabile: 45 % della superficie coperta, 0,21 kW per m²',
      'Annual yield per kW of peak power; null: no loaded raster has a yield at the parcel':
        'Resa annua per kW di potenza di picco; vuoto: nessun raster caricato ha lì una resa',
      'Annual yield of the total peak power; null: no loaded raster has a yield at the parcel': 'Resa annua complessiva; vuoto: nessun raster caricato ha lì una resa',
      'Class by annual yield per kW: alta from 1,400 kWh, media from 1,200, else bassa; null: no loaded raster has a yield at the parcel':
        'Secondo la resa: da 1.400 kWh per kW, da 1.200, meno; vuoto: nessun raster caricato ha lì una resa',
      'Version of the factors in the computation': 'Versione dei fattori indicati sopra',
    },
    evidence: {
      "source of the comune's buildings": 'fonte i cui edifici contano nel comune',
      'one of the four cells around the representative point, with row and column in the raster, from 0 in the north-west':
        'una delle quattro celle attorno al punto rappresentativo; righe e colonne del raster, da 0 a nord-ovest',
      'raster that contains the representative point': 'raster che contiene il punto rappresentativo',
      'row {1}, column {2}': 'riga {1}, colonna {2}',
    },
  },
});
