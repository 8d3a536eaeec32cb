/** OMI quotations, zones and perimeters of each half-year. */
import { publishedPolygon } from '../../pipelines/contract/layer-columns.ts';
import type { LayerColumns, Layers } from '../../pipelines/contract/source.ts';

const HALF_YEAR: LayerColumns = {
  semester: ['text not null', 'Half-year, 2025_1'],
  half_year: ['int2 not null', 'Half-year as a number: year × 2 + (half − 1)'],
};

/** Columns that identify a zone, in VALORI and in ZONE. */
const ZONE: LayerColumns = {
  ...HALF_YEAR,
  elaborated: ['date not null', 'Date of the elaboration in the title line'],
  region_code: ['int2 not null', 'ISTAT code of the region that OMI names'],
  belfiore: ['text not null', 'Cadastral code of the comune'],
  comune_name: ['text not null', 'Name of the comune as OMI writes it'],
  fascia: ['text not null', 'Band: B central, C semi-central, D peripheral, E suburban, R rural'],
  zona: ['text not null', 'Zone code inside the comune'],
  link_zona: ['text not null', 'LinkZona: identifier that the zone keeps in all half-years'],
};

export const layers: Layers = {
  omi_quotation: {
    description: 'OMI quotations (VALORI): price ranges of a zone, by type and state of the building',
    position: 'Line of the file, from 1.',
    columns: {
      ...ZONE,
      cod_tip: ['int2 not null', 'Code of the type of building'],
      type: ['text not null', 'Name of the type of building'],
      stato: ['text', 'State of the building: NORMALE, OTTIMO, SCADENTE (for shops: the commercial position); null for garages and parking spaces'],
      stato_prev: ['bool not null', 'True for the prevalent state of the type in the zone'],
      purchase_min_eur_m2: ['int4', 'Lowest price, euro per square metre; null if not quoted'],
      purchase_max_eur_m2: ['int4', 'Highest price, euro per square metre; null if not quoted'],
      purchase_surface: ['text', 'Surface to which the price refers: L gross, N net; null if not stated'],
      rental_min_eur_m2_month: ['float8', 'Lowest rent, euro per square metre and month; null if not quoted'],
      rental_max_eur_m2_month: ['float8', 'Highest rent, euro per square metre and month; null if not quoted'],
      rental_surface: ['text', 'Surface to which the rent refers: L gross, N net; null if not stated. Some provinces change the surface between half-years, which is a change of definition and not of the market'],
    },
  },
  omi_zone: {
    description: 'OMI zones (ZONE) of a half-year, including zones without quotations',
    position: 'Line of the file, from 1.',
    columns: {
      ...ZONE,
      description: ['text', 'Description of the zone; null if none'],
      prevalent_cod_tip: ['int2', 'Code of the prevalent type of building, or of the prevalent crop in rural zones; null if none'],
      prevalent_type: ['text', 'Name of the prevalent type; null if none'],
      prevalent_stato: ['text', 'Prevalent state: NORMALE, OTTIMO, SCADENTE; null if none'],
      microzona: ['int4', 'Cadastral microzone; null if none (0 or blank in the file)'],
    },
  },
  omi_perimeter: {
    description: 'Perimeters of OMI zones (KML) of a half-year',
    position: 'Number of the placemark in the file, from 1.',
    columns: {
      ...HALF_YEAR,
      generated: ['date', 'Date on which the file was generated; null if not stated'],
      belfiore: ['text not null', 'Cadastral code of the comune'],
      zona: ['text not null', 'Zone code inside the comune'],
      ...publishedPolygon('Polygon of the zone with parts and holes as published'),
    },
  },
};
