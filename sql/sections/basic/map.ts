/** Texts of the section basic on the map. */
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
});
