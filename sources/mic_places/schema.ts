/** Validates the record of a place of culture and converts its fields. */
import { z } from 'zod';
import type { Editions } from '../../pipelines/formats/csv.ts';
import { coordinate, optionalText, requiredText } from '../../pipelines/readers/point-fields.ts';

const CONTACTS = ['Prenotazioni', 'Orari_di_apertura', 'Telefono', 'Fax', 'Email', 'WebSite', 'Biglietti', 'Servizi'] as const;

/** Columns of the result of `query.sparql`. */
export const ANSWER = {
  query: [
    'id', 'nome_istituzionale', 'etichetta', 'tipo', 'disciplina', 'indirizzo', 'cap', 'comune', 'provincia',
    'lat', 'lon', 'lat_luogo', 'lon_luogo', 'lat_sede', 'lon_sede', 'codice_catalogo',
  ],
} as const satisfies Editions;

/** Columns of the CSV of the ministry's page `datasetLuoghiDellaCultura`. */
export const PUBLISHED = {
  published: [
    'subject', 'Nome_Istituzionale', 'Descrizione', 'Identifier', 'Latitudine', 'Longitudine', 'Disciplina', 'Indirizzo', 'Codice_postale', 'Comune', 'Provincia', ...CONTACTS,
  ],
  'published, older': [
    'subject', 'Nome_Istituzionale', 'Descrizione', 'Description', 'ISILIdentifier', 'Latitudine', 'Longitudine', 'Disciplina', 'Tipo_luogo', 'Indirizzo', 'Codice_postale', 'Comune', 'Provincia',
    ...CONTACTS,
  ],
  'column of older published lists, which have an identifier': [
    'subject', 'Nome_Istituzionale', 'Descrizione', 'Description', 'Identifier', 'ISILIdentifier', 'Latitudine', 'Longitudine', 'Disciplina', 'Tipo_luogo', 'Indirizzo', 'Codice_postale', 'Comune',
    'Provincia', ...CONTACTS,
  ],
} as const satisfies Editions;

/** Column names of the query and of the ministry's list, followed by the names in other queries. */
export const COLUMNS = {
  place_id: ['id', 'subject', 'uri', 'iri', 'identificativo'],
  name: ['nome_istituzionale', 'nome', 'denominazione', 'nome_luogo', 'name', 'label'],
  label: ['etichetta'],
  type: ['tipo', 'tipo_luogo', 'tipologia', 'type'],
  class: ['disciplina', 'categoria', 'classe', 'class', 'category'],
  address: ['indirizzo', 'address'],
  comune: ['comune', 'citta', 'city', 'municipality'],
  province: ['provincia', 'prov', 'sigla_provincia', 'province'],
  lat: ['lat', 'latitudine', 'latitude'],
  lon: ['lon', 'long', 'lng', 'longitudine', 'longitude'],
  place_lat: ['lat_luogo'],
  place_lon: ['lon_luogo'],
  site_lat: ['lat_sede'],
  site_lon: ['lon_sede'],
  catalog_code: ['codice_catalogo', 'identifier', 'codice', 'codice_dbunico', 'catalog_code'],
} as const;

/** Columns that are missing from some queries and editions. */
export const OPTIONAL = ['label', 'type', 'class', 'address', 'province', 'place_lat', 'place_lon', 'site_lat', 'site_lon', 'catalog_code'] as const;

const published = z.strictObject({
  place_id: requiredText,
  /** Institutional name. */
  name: optionalText,
  label: optionalText,
  type: optionalText,
  class: optionalText,
  address: optionalText,
  comune: optionalText,
  /** Name or car plate code of the province. */
  province: optionalText,
  lat: coordinate,
  lon: coordinate,
  place_lat: coordinate,
  place_lon: coordinate,
  site_lat: coordinate,
  site_lon: coordinate,
  catalog_code: optionalText,
});

/**
 * Selects the name and the coordinates. The name is the institutional name, or the label if there is none. The coordinates are the first complete pair of the
 * place, of the place's geometry, or of the site's geometry. If no pair is complete, the pair of the place is kept.
 */
export const place = published.transform(({ label, lat, lon, place_lat, place_lon, site_lat, site_lon, ...fields }, context) => {
  const name = fields.name ?? label;
  if (name === null) {
    context.addIssue({ code: 'custom', path: ['name'], message: 'expected a text' });
    return z.NEVER;
  }
  const pairs = [[lat, lon], [place_lat, place_lon], [site_lat, site_lon]] as const;
  const [latitude, longitude] = pairs.find(([north, east]) => north !== null && east !== null) ?? pairs[0];
  return { ...fields, name, lat: latitude, lon: longitude };
});
