/** English and Italian texts of the section basic on the map. */
import { defineMap } from '../../../pipelines/contract/section-map.ts';

export default defineMap({
  panel: {
    summary: ['kind', 'area_m2'],
    words: {
      area_m2: 'Area', gml_id: 'Identifier (gml:id)', fid: 'Identifier (fid)', comune_code: 'cadastral code', cadastral: 'Cadastre', comune_catastale: 'comune catastale', sheet: 'foglio', section: 'sezione',
      attachment: 'allegato', development: 'sviluppo', label: 'Particella', cadastral_reference: 'Cadastral reference', kind: 'Kind', centroid: 'Point inside', lat: 'latitude', lng: 'longitude',
      code: 'code', name: 'name', postal_code: 'postal code', parcel: 'Parcel', municipality: 'Comune',
    },
    units: { area_m2: 'm²' },
    codes: ['fid', 'lat', 'lng'],
    first: ['cadastral', 'label', 'kind', 'area_m2', 'centroid', 'cadastral_reference', 'fid', 'gml_id'],
  },
  italian: {
    title: 'Particella',
    words: {
      area_m2: 'Superficie', gml_id: 'Identificativo (gml:id)', fid: 'Identificativo (fid)', comune_code: 'codice catastale', cadastral: 'Catasto',
      comune_catastale: 'comune catastale', sheet: 'foglio', section: 'sezione', attachment: 'allegato', development: 'sviluppo', postal_code: 'CAP',
      label: 'Particella', kind: 'Tipo', cadastral_reference: 'Riferimento catastale', centroid: 'Punto interno', lat: 'latitudine', lng: 'longitudine',
      code: 'codice', name: 'nome', parcel: 'Particella', municipality: 'Comune',
    },
    fields: {
      'Identifier, stable across reloads': 'Identificativo, stabile anche dopo nuovi caricamenti',
      'Published identifier of the feature (gml:id); for parcels of a land register, the cadastral reference':
        'Identificativo dell’oggetto come pubblicato (gml:id); nel Libro fondiario il riferimento',
      'Number of the parcel (particella). In a land register, the number of a building parcel begins with a dot':
        'Numero della particella; nel Libro fondiario quello di una particella edificiale comincia con un punto',
      'National cadastral reference: CCCCZFFFFAS.label; in the land registers of Trentino-Alto Adige IT.TN.<comune catastale>.label or IT.BZ.…':
        'Riferimento catastale nazionale: CCCCZFFFFAS.particella; nei Libri fondiari del Trentino-Alto Adige IT.TN.<comune catastale>.particella o IT.BZ.…',
      'Cadastral code of the comune: a letter and three digits': 'Codice catastale del comune: una lettera e tre cifre',
      'Area of the parcel on the ground, not in the map projection': 'Superficie reale al suolo',
      'Degrees, EPSG:4326': 'Gradi, EPSG:4326',
      'Land, or a strip of road or water that is mapped like a parcel': 'Terreno, oppure le fasce di strade e acque rappresentate come particelle',
      'Cadastral identification': 'Come la identifica il catasto',
      'Comune catastale of the land register (Libro fondiario). Only in Trentino-Alto Adige':
        'Comune catastale del Libro fondiario; solo dove le Province lo tengono, in Trentino-Alto Adige',
      'Number of the comune catastale, as published by the province': 'Il suo numero, come lo scrive la Provincia',
      'Italian name, or else German name; null: no name is published': 'In italiano, altrimenti in tedesco; vuoto: non pubblicato',
      'Particella fondiaria or edificiale. Each kind has its own numbers. Only in a land register':
        'Particella fondiaria o edificiale, ciascuna con numerazione propria; solo nel Libro fondiario',
      'Foglio, without leading zeros; null: the cadastre of the place has no sheets': 'Foglio, senza zeri iniziali; vuoto: il catasto del luogo non ne ha',
      'Sezione censuaria; null: the comune has none': 'Sezione censuaria; vuoto: il comune non ne ha',
      'Allegato; null: none': 'Allegato; vuoto: nessuno',
      'Sviluppo; null: none': 'Sviluppo; vuoto: nessuno',
      'CAP; null: unknown': 'CAP; vuoto: non noto',
    },
    evidence: {
      'published polygon': 'poligono pubblicato',
      'published polygon, repaired if invalid': 'poligono pubblicato, corretto nella geometria',
      'comune of the cadastral code': 'comune del codice catastale',
      'comune catastale in the reference, which determines the comune': 'comune catastale del riferimento; il comune è quello che esso indica',
      'postal code of the comune': 'CAP del comune',
      'area of the postal code that contains the representative point': 'area del CAP che contiene il punto rappresentativo',
    },
  },
});
