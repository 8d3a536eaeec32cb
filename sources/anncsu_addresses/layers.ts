/** Streets and access points of the national address archive. */
import type { Layers, SharedColumns } from '../../pipelines/contract/source.ts';

/** Columns of a street, in STRAD and in INDIR. */
export const STREET = {
  progressivo_nazionale: ['int8 not null', 'PROGRESSIVO_NAZIONALE: key of the street, unique in Italy.'],
  belfiore: ['text not null', 'CODICE_COMUNE: cadastral code of the comune.'],
  istat_code: ['text', 'CODICE_ISTAT as published, 6 digits. The code may be outdated where provinces were renumbered; null if not stated.'],
  codice_comunale: ['text', 'CODICE_COMUNALE: code of the street in the comune\'s register, not unique; null if not stated.'],
  odonimo: ['text not null', 'ODONIMO: type and name of the street as published, usually upper case.'],
  localita: ['text', 'LOCALITA\': part of the comune; null if not stated.'],
  name_1: ['text', 'DIZIONE_LINGUA1: name in a minority language; null if none.'],
  name_2: ['text', 'DIZIONE_LINGUA2: name in a second minority language; null if none.'],
  total_accesses: ['int4', 'TOTALE_ACCESSI: number of accesses that the publisher counts; null if not stated, or if only INDIR has the street.'],
  display_name: ['text not null', 'ODONIMO in Italian title case.'],
  display_localita: ['text', 'LOCALITA\' in Italian title case; null if not stated.'],
  localita_key: ['text', 'LOCALITA\' normalised for search; null if not stated or nothing is left after normalisation.'],
  search_kinds: ['text[] not null', 'Origin of each search name: odonimo, lingua1 or lingua2. The array has the same length as search_tokens.'],
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
    description: 'Accesses (numeri civici) of the INDIR file.',
    position: 'Line of the CSV; the header is line 1.',
    columns: {
      progressivo_accesso: ['int8 not null', 'PROGRESSIVO_ACCESSO: key of the access, unique in Italy and the same in every release.'],
      progressivo_nazionale: ['int8 not null', 'Key of the street of the access.'],
      belfiore: ['text not null', 'Cadastral code of the comune.'],
      codice_comunale_accesso: ['text', 'Code of the access in the comune\'s register, alphanumeric; null if not stated.'],
      civico: ['int4', 'Number of the access; null if the access has a METRICO or no number. For an access without a number (progressivo_snc), this is the preceding number.'],
      esponente: ['text', 'Exponent as published (A, BIS, 13, ESC); null if none.'],
      specificita: ['text', 'ROSSO or NERO as published, where a comune has two series of numbers; null if none.'],
      metrico: ['int4', 'Distance along the street in metres; null if the access has a civico or no number.'],
      progressivo_snc: ['int4', 'Ordinal of an access without a number after a civico or metrico; null if the access has a number or the ordinal is not stated.'],
      geom: ['geometry(point, 4326)', 'Access point on the street front, EPSG:4326 longitude latitude (published in EPSG:6706, which PROJ treats as identical). If geom is null, coordinate_flag has the reason.'],
      quota_m: ['float8', 'Orthometric height in metres as published; 0 is often meaningless; null if not stated.'],
      metodo: ['int2', 'Method of the survey: 1 survey < 5 m, 2 survey ≥ 5 m, 3 indirect < 5 m, 4 indirect ≥ 5 m, 5 Portale per i Comuni; null if not stated.'],
      coordinate_flag: ['text not null', 'good; without_method (point kept); none (not published); method_without_coordinates; incomplete (one of two); zero; swapped; projected (metres); outside_italy. Only accesses with good or without_method have a geom.'],
    },
  },
};
