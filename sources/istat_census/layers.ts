/** Census sections (territorial bases 2021) and their indicators. */
import { publishedPolygon } from '../../pipelines/contract/layer-columns.ts';
import type { LayerColumns, Layers } from '../../pipelines/contract/source.ts';
import { INDICATOR_COLUMNS } from './columns.ts';

/** Columns with the region and the comune of a section. */
const COMUNE: LayerColumns = {
  region_code: ['int2 not null', 'ISTAT region code.'],
  istat_code: ['text not null', 'ISTAT code of the comune, 6 digits.'],
};

export const layers: Layers = {
  census_section: {
    description: 'Census sections of the territorial bases 2021.',
    position: 'Number of the feature in its shapefile, from 1.',
    columns: {
      section_id: ['text not null', 'SEZ21_ID: number of the comune and 7 digits, as published without leading zeros (11–13 digits).'],
      ...COMUNE,
      tipo_loc: ['int2', 'Type of locality: 1 centro, 2 nucleo, 3 località produttiva, 4 case sparse; null if not stated.'],
      population: ['int4', 'Residents according to the attribute table of the shapefile; null if not stated.'],
      households: ['int4', 'Households according to the attribute table of the shapefile; null if not stated.'],
      fictitious: ['bool not null', 'True for …8888888 (people without a home, one per comune) and …9999999 (contested areas). Sections of these two types are not places and are never matched with parcels.'],
      ...publishedPolygon('Polygon of the section'),
    },
  },
  census_indicator: {
    description: 'Indicators of the permanent census by census section of the 2021 bases. Small counts are not withheld. A census section without a row had no residents in the edition 2021. In later editions, the numbers of a section without a row are unknown.',
    position: 'Row number in the sheet, or line number in the CSV.',
    columns: {
      section_id: ['text not null', 'SEZ21_ID, as in census_section.'],
      ...COMUNE,
      reference_year: ['int2 not null', 'Year of the data (31 December).'],
      ...INDICATOR_COLUMNS,
    },
  },
};
