/** What panels on the roofs of a parcel could yield. */
import { z } from 'zod';
import { presence, quantity } from '../../../pipelines/contract/gate.ts';
import { nullable, source, whole } from '../../../pipelines/contract/schemas.ts';
import { defineSection, FID } from '../../../pipelines/contract/section.ts';

const NO_YIELD = 'no raster loaded has a yield there';

const solar = z.strictObject({
  available: z.boolean().describe('False: no building of 10 m² or more belongs to the parcel, and nothing else is said'),
  n_buildings: whole.min(1).optional().describe('Buildings of 10 m² or more whose largest part lies on the parcel'),
  roof_area_m2: z.number().min(0).optional().describe('Their footprints, whole'),
  kwp_max_total: z.number().min(0).optional().describe('Peak power that fits: 45 % of the footprint, 0.21 kW per m²'),
  pvout_kwh_per_kwp: nullable(z.number().min(0), `Yield of a year per kW of peak power; null: ${NO_YIELD}`).optional(),
  pvout_kwh_year_total: nullable(z.number().min(0), `Yield of a year of all; null: ${NO_YIELD}`).optional(),
  viability_class: nullable(z.enum(['alta', 'media', 'bassa']), `By the yield: 1,400 kWh per kW or more, 1,200 or more, less; null: ${NO_YIELD}`).optional(),
  methodology_version: z.literal('1').optional().describe('Of the factors above'),
  source,
}).meta({ id: 'Solar', description: 'Panels on the roofs' });

const UNREAD = `${NO_YIELD}, or it had left the data folder before the parcel came, see unread`;

export default defineSection({
  name: 'solar',
  position: 170,
  title: 'Solar',
  block: nullable(solar, 'Null: no source of buildings covers the place'),
  kinds: ['land'],
  coverage: 'meta',
  tables: {
    'section.solar': {
      description: 'What panels on the roofs of each land parcel could yield. No row: no building of 10 m² or more has its largest part there',
      key: ['fid'],
      columns: {
        fid: FID,
        n_buildings: { type: 'int4', description: 'Buildings of 10 m² of footprint or more whose largest part lies on the parcel', gate: 'watched in section.buildings' },
        roof_area_m2: { type: 'float8', description: 'Footprints of these buildings, whole, 2 decimals', unit: 'm²', gate: quantity({ within: [10, null] }) },
        kwp_max_total: { type: 'float8', description: 'Peak power that fits: roof area × 0.45 (usable) × 0.21 kW/m², 2 decimals', unit: 'kW', gate: 'follows from roof_area_m2' },
        pvout_kwh_per_kwp: {
          type: 'float8', description: 'Yield of a year per kW of peak power at the representative point, between the centres of the four cells around, whole',
          unit: 'kWh/kW', null: UNREAD, gate: quantity({ within: [300, 2500], typical: [800, 2000] }),
        },
        pvout_kwh_year_total: { type: 'float8', description: 'Peak power × yield, before rounding, whole', unit: 'kWh', null: UNREAD, gate: quantity({ within: [0, null] }) },
        viability_class: { type: 'text', description: 'By pvout_kwh_per_kwp: alta from 1,400, media from 1,200, else bassa', null: UNREAD, gate: presence() },
        unread: { type: 'bool', description: 'True: the raster was not in its place when the parcel came or changed, and no yield was computed', gate: 'status counts them' },
      },
    },
  },
  flat: {
    available: { type: 'bool' },
    n_buildings: { type: 'int4' },
    roof_area_m2: { type: 'float8' },
    kwp_max_total_kw: { type: 'float8', of: 'kwp_max_total' },
    pvout_kwh_per_kwp: { type: 'float8' },
    pvout_kwh_year_total: { type: 'float8' },
    viability_class: { type: 'text' },
  },
  map: {
    italian: {
      title: 'Fotovoltaico',
      words: {
        available: 'Tetti', n_buildings: 'Edifici', roof_area_m2: 'Superficie dei tetti', kwp_max_total: 'Potenza di picco massima',
        pvout_kwh_per_kwp: 'Resa per kW', pvout_kwh_year_total: 'Resa di un anno', viability_class: 'Classe', methodology_version: 'Metodo',
      },
      values: { alta: 'alta', media: 'media', bassa: 'bassa' },
      legend: {
        'Solar yield of roofs': 'Resa fotovoltaica dei tetti', 'alta, 1,400 kWh/kW or more': 'alta, da 1.400 kWh/kW',
        'media, 1,200 kWh/kW or more': 'media, da 1.200 kWh/kW', 'bassa, less': 'bassa, meno', 'No roof': 'Nessun tetto',
      },
      fields: {
        'False: no building of 10 m² or more belongs to the parcel, and nothing else is said':
          'No: nessun edificio di almeno 10 m² appartiene alla particella, e non si dice altro',
        'Buildings of 10 m² or more whose largest part lies on the parcel': 'Edifici di almeno 10 m² che si trovano per la maggior parte sulla particella',
        'Their footprints, whole': 'Superficie coperta di questi, per intero',
        'Peak power that fits: 45 % of the footprint, 0.21 kW per m²': 'Potenza di picco installabile: 45 % della superficie coperta, 0,21 kW per m²',
        'Yield of a year per kW of peak power; null: no raster loaded has a yield there':
          'Resa annua per kW di potenza di picco; vuoto: nessun raster caricato ha lì una resa',
        'Yield of a year of all; null: no raster loaded has a yield there': 'Resa annua complessiva; vuoto: nessun raster caricato ha lì una resa',
        'By the yield: 1,400 kWh per kW or more, 1,200 or more, less; null: no raster loaded has a yield there':
          'Secondo la resa: da 1.400 kWh per kW, da 1.200, meno; vuoto: nessun raster caricato ha lì una resa',
        'Of the factors above': 'Versione dei fattori indicati sopra',
      },
      evidence: {
        'source whose buildings count in the comune': 'fonte i cui edifici contano nel comune',
        'one of the four cells around the representative point; rows and columns of the raster, from 0 in the north-west':
          'una delle quattro celle attorno al punto rappresentativo; righe e colonne del raster, da 0 a nord-ovest',
        'raster that holds the representative point': 'raster che contiene il punto rappresentativo',
        'row {1}, column {2}': 'riga {1}, colonna {2}',
      },
    },
    words: {
      available: 'Roofs', n_buildings: 'Buildings', roof_area_m2: 'Roof area', kwp_max_total: 'Peak power at most', pvout_kwh_per_kwp: 'Yield per kW', pvout_kwh_year_total: 'Yield of a year',
      viability_class: 'Class', methodology_version: 'Method',
    },
    units: { roof_area_m2: 'm²', kwp_max_total: 'kW', pvout_kwh_per_kwp: 'kWh/kW', pvout_kwh_year_total: 'kWh' },
    first: ['viability_class', 'pvout_kwh_year_total', 'kwp_max_total', 'pvout_kwh_per_kwp', 'roof_area_m2', 'n_buildings'],
  },
  layer: {
    title: 'Solar yield of roofs',
    value: 'viability_class',
    classes: [
      { value: 'alta', label: 'alta, 1,400 kWh/kW or more', color: '#d95f0e' },
      { value: 'media', label: 'media, 1,200 kWh/kW or more', color: '#fec44f' },
      { value: 'bassa', label: 'bassa, less', color: '#8073ac' },
    ],
    none: 'No roof',
  },
});
