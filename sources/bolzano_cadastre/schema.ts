/** Validates and converts the fields of a parcel record. */
import { z } from 'zod';
import type { Editions } from '../../pipelines/formats/csv.ts';

/**
 * Published column names of each field. A shapefile cuts names to ten characters. Programs add numbers to names that become equal. The numbers depend on the
 * program, so the spellings of GeoServer (`PART_CCA00`) and GDAL (`PART_CCA_1`) are both listed.
 */
export const COLUMNS = {
  code: ['part_codice', 'part_codic'],
  registered_area_m2: ['part_area_totale', 'part_area'],
  ccat: ['part_ccat_codice', 'part_ccat'],
  name_other: ['part_ccat_nome_de', 'part_cca00', 'part_cca_1'],
  name: ['part_ccat_nome_it', 'part_cca01', 'part_cca_2'],
  comune_name_other: ['part_camm_nome_de', 'part_camm'],
  comune_name: ['part_camm_nome_it', 'part_cam00', 'part_cam_1'],
  istat_code: 'part_istat',
} as const;

/** Columns with Italian names, which only some exports have. */
export const OPTIONAL = ['name', 'comune_name'] as const;

/** Accepted types of the columns. The service exports codes and areas either as numbers or as text. */
export const TYPES = {
  code: 'text', registered_area_m2: ['text', 'number'], ccat: ['text', 'number'], name_other: 'text', name: 'text', comune_name_other: 'text', comune_name: 'text', istat_code: ['text', 'number'],
} as const;

/** Columns that every file has, each with its spellings. */
export const EDITIONS: Editions = {
  parcels: Object.entries<string | readonly string[]>(COLUMNS).flatMap(([key, names]) => ((OPTIONAL as readonly string[]).includes(key) ? [] : [[names].flat().join('|')])),
};

const text = z.union([z.string(), z.number(), z.null()]).transform((value) => (value === null ? '' : String(value).trim()));
const said = text.transform((value) => (value === '' ? null : value));

export const parcelSchema = z.strictObject({
  /** `481/1` is a land parcel, and `.107/2` with a dot is a building parcel. */
  code: text.pipe(z.string().regex(/^\.?\d[0-9A-Za-z/]*$/, 'expected a number such as 481/1 or .107/2')),
  /** Registered area in square metres. */
  registered_area_m2: text.pipe(z.string().regex(/^$|^\d+(\.\d+)?$/, 'expected square metres or nothing')).transform((value) => (value === '' ? null : Number(value))),
  /** Code as written in the file. */
  ccat: text.pipe(z.string().regex(/^[0-9A-Za-z]+$/, 'expected the code of a comune catastale')),
  name_other: said,
  name: said,
  comune_name_other: said,
  comune_name: said,
  istat_code: text.pipe(z.string().regex(/^\d{0,6}$/, 'expected up to six digits')).transform((value) => (Number(value) === 0 ? null : value.padStart(6, '0'))),
});
