/** Map layer of the section nightlights, and the texts of the section on the map in English and Italian. */
import { defineMap } from '../../../pipelines/contract/section-map.ts';

export default defineMap({
  panel: {
    words: { available: 'Measured', ntl_parcel: 'Radiance', ntl_mean_comune: 'Mean of the comune', ntl_ratio: 'Compared with the comune', ntl_class: 'Class', ntl_year: 'Year' },
    values: { dark: 'dark', dim: 'dim', medium: 'medium', bright: 'bright', very_bright: 'very bright' },
    units: { ntl_parcel: 'nW/cm²/sr', ntl_mean_comune: 'nW/cm²/sr', ntl_ratio: '×' },
    codes: ['ntl_year'],
    first: ['ntl_class', 'ntl_parcel', 'ntl_mean_comune', 'ntl_ratio', 'ntl_year'],
  },
  layer: {
    group: 'land',
    title: 'Light at night',
    value: 'ntl_class',
    classes: [
      { value: 'dark', label: 'dark', color: '#000004' },
      { value: 'dim', label: 'dim', color: '#56106e' },
      { value: 'medium', label: 'medium', color: '#bb3754' },
      { value: 'bright', label: 'bright', color: '#f98e09' },
      { value: 'very_bright', label: 'very bright', color: '#fcffa4' },
    ],
    none: 'Not measured',
  },
  italian: {
    title: 'Luci notturne',
    words: {
      available: 'Misurate', ntl_parcel: 'Radianza', ntl_mean_comune: 'Media del comune', ntl_ratio: 'Rispetto al comune', ntl_class: 'Classe',
      ntl_year: 'Anno',
    },
    values: { dark: 'buio', dim: 'tenue', medium: 'media', bright: 'forte', very_bright: 'molto forte' },
    legend: {
      'Light at night': 'Luce notturna', dark: 'buio', dim: 'tenue', medium: 'media', bright: 'forte', 'very bright': 'molto forte',
      'Not measured': 'Non misurata',
    },
    fields: {
      'False: the raster has no value at the parcel, and the other fields are absent': 'No: il raster non ha lì alcun valore, e non si dice altro',
      'Radiance of the cell that contains the representative point, nW cm⁻² sr⁻¹': 'Radianza della cella che contiene il punto rappresentativo, nW cm⁻² sr⁻¹',
      'Mean of the cells whose centre is in the comune, nW cm⁻² sr⁻¹; null: no boundary of the comune is loaded, or no raster of the same year and collection has a value in the comune':
        'Media delle celle con il centro nel comune, nW cm⁻² sr⁻¹; vuoto: il suo confine non è caricato',
      'ntl_parcel / ntl_mean_comune; null: no mean, or a mean of 0': 'Radianza divisa per la media del comune; vuoto: nessuna media, o media pari a 0',
      'dark < 0.5, dim < 5, medium < 20, bright < 60, very_bright': 'buio < 0,5, tenue < 5, media < 20, forte < 60, molto forte',
      'Year of the radiance': 'Anno della radianza',
    },
    evidence: {
      'raster without a value at the representative point': 'raster senza valore nel punto rappresentativo',
      'cell that contains the representative point, with row and column in the raster, from 0 in the north-west':
        'cella che contiene il punto rappresentativo; righe e colonne del raster, da 0 a nord-ovest',
      'cells whose centre is inside the boundary of the comune, or else the cell at the comune\'s point':
        'celle con il centro nel confine del comune, oppure quella del suo punto',
      'boundary of the comune in the newest file that has the comune': 'confine del comune, dal file più recente che lo contiene',
      'raster that contains the representative point': 'raster che contiene il punto rappresentativo',
      'row {1}, column {2}': 'riga {1}, colonna {2}',
      cells: 'celle',
    },
  },
});
