/** Section solar: potential yield of solar panels on the roofs of a parcel. */
import { z } from 'zod';
import { presence, quantity } from '../../../pipelines/contract/gate.ts';
import { nullable, source, whole } from '../../../pipelines/contract/schemas.ts';
import { defineSection, FID } from '../../../pipelines/contract/section.ts';

const NO_YIELD = 'no loaded raster has a yield there';

const solar = z.strictObject({
  available: z.boolean().describe('False: no building of 10 m² or more belongs to the parcel, and the other fields are absent'),
  n_buildings: whole.min(1).optional().describe('Buildings of 10 m² or more whose largest part is on the parcel'),
  roof_area_m2: z.number().min(0).optional().describe('Whole footprints of these buildings'),
  kwp_max_total: z.number().min(0).optional().describe('Peak power of panels on 45 % of the footprint, 0.21 kW per m²'),
  pvout_kwh_per_kwp: nullable(z.number().min(0), `Annual yield per kW of peak power; null: ${NO_YIELD}`).optional(),
  pvout_kwh_year_total: nullable(z.number().min(0), `Annual yield of the whole peak power; null: ${NO_YIELD}`).optional(),
  viability_class: nullable(z.enum(['alta', 'media', 'bassa']), `By annual yield per kW: alta from 1,400 kWh, media from 1,200, otherwise bassa; null: ${NO_YIELD}`).optional(),
  methodology_version: z.literal('1').optional().describe('Version of the factors used'),
  source,
}).meta({ id: 'Solar', description: 'Solar panels on the roofs' });

const UNREAD = `${NO_YIELD}, or it had left the data folder when the parcel was added, see unread`;

export default defineSection({
  name: 'solar',
  position: 170,
  title: 'Solar',
  block: nullable(solar, 'Null: no source of buildings covers the place'),
  kinds: ['land'],
  coverage: 'meta',
  tables: {
    'section.solar': {
      description: 'Potential yield of solar panels on the roofs of each land parcel. No row: no building of 10 m² or more has its largest part there',
      key: ['fid'],
      columns: {
        fid: FID,
        n_buildings: { type: 'int4', description: 'Buildings with a footprint of 10 m² or more whose largest part is on the parcel', gate: 'watched in section.buildings' },
        roof_area_m2: { type: 'float8', description: 'Whole footprints of these buildings, 2 decimals', unit: 'm²', gate: quantity({ within: [10, null] }) },
        kwp_max_total: { type: 'float8', description: 'Peak power: roof area × 0.45 (usable) × 0.21 kW/m², 2 decimals', unit: 'kW', gate: 'follows from roof_area_m2' },
        pvout_kwh_per_kwp: {
          type: 'float8', description: 'Annual yield per kW of peak power at the representative point, interpolated between the centres of the four surrounding cells, whole',
          unit: 'kWh/kW', null: UNREAD, gate: quantity({ within: [300, 2500], typical: [800, 2000] }),
        },
        pvout_kwh_year_total: { type: 'float8', description: 'Peak power × yield, before rounding, whole', unit: 'kWh', null: UNREAD, gate: quantity({ within: [0, null] }) },
        viability_class: { type: 'text', description: 'By pvout_kwh_per_kwp: alta from 1,400, media from 1,200, otherwise bassa', null: UNREAD, gate: presence() },
        unread: { type: 'bool', description: 'True: no yield was computed when the parcel was added or changed, because the raster was missing', gate: 'status counts these rows' },
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
        'False: no building of 10 m² or more belongs to the parcel, and the other fields are absent':
          'No: nessun edificio di almeno 10 m² appartiene alla particella, e non si dice altro',
        'Buildings of 10 m² or more whose largest part is on the parcel': 'Edifici di almeno 10 m² che si trovano per la maggior parte sulla particella',
        'Whole footprints of these buildings': 'Superficie coperta di questi, per intero',
        'Peak power of panels on 45 % of the footprint, 0.21 kW per m²': 'Potenza di picco installabile: 45 % della superficie coperta, 0,21 kW per m²',
        'Annual yield per kW of peak power; null: no loaded raster has a yield there':
          'Resa annua per kW di potenza di picco; vuoto: nessun raster caricato ha lì una resa',
        'Annual yield of the whole peak power; null: no loaded raster has a yield there': 'Resa annua complessiva; vuoto: nessun raster caricato ha lì una resa',
        'By annual yield per kW: alta from 1,400 kWh, media from 1,200, otherwise bassa; null: no loaded raster has a yield there':
          'Secondo la resa: da 1.400 kWh per kW, da 1.200, meno; vuoto: nessun raster caricato ha lì una resa',
        'Version of the factors used': 'Versione dei fattori indicati sopra',
      },
      evidence: {
        "source of the comune's buildings": 'fonte i cui edifici contano nel comune',
        'one of the four cells around the representative point; rows and columns of the raster, from 0 in the north-west':
          'una delle quattro celle attorno al punto rappresentativo; righe e colonne del raster, da 0 a nord-ovest',
        'raster that contains the representative point': 'raster che contiene il punto rappresentativo',
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
