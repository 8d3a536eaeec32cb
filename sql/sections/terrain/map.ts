/** Map layer of the section terrain, and the texts of the section on the map in English and Italian. */
import { defineMap } from '../../../pipelines/contract/section-map.ts';

export default defineMap({
  panel: {
    words: {
      elevation_min: 'Lowest', elevation_max: 'Highest', elevation_mean: 'Mean height', elevation_std: 'Standard deviation of heights', slope_mean: 'Mean slope', slope_max: 'Steepest',
      ruggedness_index: 'Ruggedness (Riley)', tri_mean: 'Ruggedness (TRI)', aspect_predominant: 'Faces', cells: 'Number of model cells', elevation_of: 'Elevations of', elevation: 'elevation', slope: 'slope',
    },
    values: { flat: 'flat', ground: 'ground', surface: 'surface, with trees and roofs' },
    units: {
      elevation_min: 'm', elevation_max: 'm', elevation_mean: 'm', elevation_std: 'm', slope_mean: '°', slope_max: '°', ruggedness_index: 'm', tri_mean: 'm',
    },
    first: ['elevation_mean', 'elevation_min', 'elevation_max', 'slope_mean', 'slope_max', 'aspect_predominant'],
  },
  layer: {
    group: 'land',
    title: 'Mean height',
    value: 'elevation_mean_m',
    unit: 'm',
    classes: [
      { color: '#440154' }, { from: 50, color: '#443983' }, { from: 200, color: '#31688e' }, { from: 400, color: '#21918c' }, { from: 700, color: '#35b779' },
      { from: 1200, color: '#90d743' }, { from: 2000, color: '#fde725' },
    ],
    none: 'No elevation known',
  },
  italian: {
    title: 'Terreno',
    words: {
      elevation_min: 'Quota minima', elevation_max: 'Quota massima', elevation_mean: 'Quota media', elevation_std: 'Scarto delle quote',
      slope_mean: 'Pendenza media', slope_max: 'Pendenza massima', ruggedness_index: 'Rugosità (Riley)', tri_mean: 'Rugosità (TRI)',
      aspect_predominant: 'Esposizione', cells: 'celle del modello', elevation_of: 'Quote di', elevation: 'Quota', slope: 'Pendenza',
    },
    values: { SW: 'SO', W: 'O', NW: 'NO', flat: 'piano', ground: 'suolo', surface: 'superficie, con alberi e tetti' },
    legend: { 'Mean height': 'Quota media', 'No elevation known': 'Nessuna quota nota' },
    fields: {
      'Metres above sea level, as in the model': 'Metri sul livello del mare, come nel modello',
      'Standard deviation of the elevations, metres': 'Deviazione standard delle quote, in metri',
      'Degrees, after Horn (1981); null: no cell has all eight neighbours':
        'Gradi, secondo Horn (1981); vuoto: nessuna cella ha attorno tutte e otto le altre',
      'Metres, after Riley (1999), mean of the cells; null: no cell has all eight neighbours':
        'Metri, secondo Riley (1999), media delle celle; vuoto: nessuna cella ha attorno tutte e otto le altre',
      'Metres, after Wilson (2007), mean of the cells; null: no cell has all eight neighbours':
        'Metri, secondo Wilson (2007), media delle celle; vuoto: nessuna cella ha attorno tutte e otto le altre',
      'Most frequent aspect (octant) of sloping cells; flat: more than half of the cells have a slope below 1°; null: no cell has all eight neighbours':
        'Ottante verso cui è esposta la maggior parte delle celle in pendenza; piano: più di metà ha pendenza sotto 1°; vuoto: nessuna cella ha attorno tutte e otto le altre',
      'Number of cells of the elevation model whose centre is in the parcel; if there is none, 1 for the cell that contains the representative point':
        'Celle del modello di elevazione con il centro nella particella; 1 dove non ce n’è: quella che contiene il punto rappresentativo',
      'ground: height of the bare ground; surface: height including trees and roofs; null: not known for the date of the record':
        'suolo: del terreno; superficie: con alberi e tetti; vuoto: non noto per quel giorno',
    },
    evidence: {
      'cells whose centre is in the parcel, or else the cell that contains the representative point, with row and column in the raster, from 0 in the north-west':
        'celle con il centro nella particella, oppure quella che contiene il punto rappresentativo; righe e colonne del raster, da 0 a nord-ovest',
      'raster that contains the representative point': 'raster che contiene il punto rappresentativo',
      'row {1}, column {2}': 'riga {1}, colonna {2}',
      cells: 'celle',
    },
  },
});
