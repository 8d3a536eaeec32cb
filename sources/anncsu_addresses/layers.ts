/** Streets and access points of the national address archive. */
import type { Layers, SharedColumns } from '../../pipelines/contract/source.ts';

/** Columns of a street, in STRAD and in INDIR. */
export const STREET = {
  progressivo_nazionale: ['int8 not null', 'PROGRESSIVO_NAZIONALE: key of the street, unique in Italy.'],
  belfiore: ['text not null', 'CODICE_COMUNE: cadastral code of the comune.'],
  istat_code: ['text', 'CODICE_ISTAT as published, 6 digits. May be an outdated code where provinces were renumbered; null if not stated.'],
  codice_comunale: ['text', 'CODICE_COMUNALE: the comune\'s own code of the street, not unique; null if not stated.'],
  odonimo: ['text not null', 'ODONIMO: type and name of the street as published, usually upper case.'],
  localita: ['text', 'LOCALITA\': part of the comune; null if not stated.'],
  name_1: ['text', 'DIZIONE_LINGUA1: name in a minority language; null if none.'],
  name_2: ['text', 'DIZIONE_LINGUA2: name in a second minority language; null if none.'],
  total_accesses: ['int4', 'TOTALE_ACCESSI: number of accesses that the publisher counts; null if not stated, or if only INDIR has the street.'],
  display_name: ['text not null', 'ODONIMO in Italian title case.'],
  display_localita: ['text', 'LOCALITA\' in Italian title case; null if not stated.'],
  localita_key: ['text', 'LOCALITA\' normalised for search; null if not stated or nothing is left after normalisation.'],
  search_kinds: ['text[] not null', 'Origin of each search name: odonimo, lingua1 or lingua2. Same length as search_tokens.'],
  search_types: ['text[] not null', 'Normalised street type of each search name; a null element means none.'],
  search_tokens: ['text[] not null', 'Normalised words of each search name, separated by blanks.'],
} as const satisfies SharedColumns;

export const layers: Layers = {
  odonimo: {
    description: 'Streets of STRAD, including streets without an access.',
    position: 'Line of the CSV; the header is line 1.',
    columns: STREET,
  },
  odonimo_indir: {
    description: 'Streets named in the lines of INDIR. member_id and position belong to the first access of the street.',
    position: 'Line of the CSV; the header is line 1.',
    columns: STREET,
  },
  accesso: {
    description: 'Accesses (numeri civici) of INDIR.',
    position: 'Line of the CSV; the header is line 1.',
    columns: {
      progressivo_accesso: ['int8 not null', 'PROGRESSIVO_ACCESSO: key of the access, unique in Italy and the same in every release.'],
      progressivo_nazionale: ['int8 not null', 'Key of the street of the access.'],
      belfiore: ['text not null', 'Cadastral code of the comune.'],
      codice_comunale_accesso: ['text', 'The comune\'s own code of the access, alphanumeric; null if not stated.'],
      civico: ['int4', 'Number; null if the access is numbered by METRICO or not at all. For an access without number (progressivo_snc): the preceding number.'],
      esponente: ['text', 'Exponent as published (A, BIS, 13, ESC); null if none.'],
      specificita: ['text', 'ROSSO or NERO where a comune has two series of numbers, as published; null if none.'],
      metrico: ['int4', 'Metres along the street; null if the access is numbered by civico or not at all.'],
      progressivo_snc: ['int4', 'Ordinal among the accesses without number after civico or metrico; null if the access has a number or nothing was stated.'],
      geom: ['geometry(point, 4326)', 'Access point on the street front, EPSG:4326 longitude latitude (published in EPSG:6706, which PROJ treats as identical); null: see coordinate_flag.'],
      quota_m: ['float8', 'Orthometric height in metres as published; 0 is often meaningless; null if not stated.'],
      metodo: ['int2', 'Method by which the point was found: 1 survey < 5 m, 2 survey ≥ 5 m, 3 indirect < 5 m, 4 indirect ≥ 5 m, 5 Portale per i Comuni; null if not stated.'],
      coordinate_flag: ['text not null', 'good; without_method (point kept); none (not published); method_without_coordinates; incomplete (one of two); zero; swapped; projected (metres); outside_italy. Only good and without_method have a geom.'],
    },
  },
};
