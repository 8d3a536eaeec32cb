/** Italian texts of section solar on the map. */
import { defineItalian } from '../../../pipelines/contract/section-map.ts';

export default defineItalian({
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
});
