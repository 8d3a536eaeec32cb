/** One place of culture as text, and what it means. */
import { z } from 'zod';
import { ADDRESS_COLUMNS } from '../../pipelines/address/point-address.ts';
import type { Columns } from '../../pipelines/contract/source.ts';
import { coordinate, optionalText, requiredText } from '../../pipelines/readers/point-fields.ts';

/** Columns are named by the query that made the file: the one beside this source first, then words that others use. */
export const COLUMNS = {
  place_id: ['id', 'uri', 'iri', 'identificativo'],
  name: ['nome', 'denominazione', 'nome_luogo', 'name', 'label'],
  type: ['tipo', 'tipologia', 'type'],
  class: ['categoria', 'classe', 'class', 'category'],
  address: ['indirizzo', 'address'],
  comune: ['comune', 'citta', 'city', 'municipality'],
  province: ['provincia', 'prov', 'sigla_provincia', 'province'],
  lat: ['lat', 'latitudine', 'latitude'],
  lon: ['lon', 'long', 'lng', 'longitudine', 'longitude'],
  catalog_code: ['codice_catalogo', 'codice', 'codice_dbunico', 'catalog_code'],
} as const;

/** Of those, what a query may leave out. */
export const OPTIONAL = ['type', 'class', 'address', 'province', 'catalog_code'] as const;

export const place = z.strictObject({
  place_id: requiredText,
  name: requiredText,
  type: optionalText,
  class: optionalText,
  address: optionalText,
  comune: optionalText,
  /** Name, or car plate code. */
  province: optionalText,
  lat: coordinate,
  lon: coordinate,
  catalog_code: optionalText,
});

export const raw_cultural_place = {
  place_id: 'text not null',
  name: 'text not null',
  type: 'text',
  class: 'text',
  address: 'text',
  comune: 'text',
  province: 'text',
  region_code: 'int2',
  lat: 'float8',
  lon: 'float8',
  catalog_code: 'text',
  ...ADDRESS_COLUMNS,
} satisfies Columns;
