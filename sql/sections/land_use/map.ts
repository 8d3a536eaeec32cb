/** Map layer of the section land_use, and the texts of the section on the map in English and Italian. */
import { defineMap, FIRST_LEVEL_OF_LAND, LARGEST_IN_ITALIAN } from '../../../pipelines/contract/section-map.ts';
import { ITALIAN_CLASSES } from './class-names.ts';

export default defineMap({
  panel: {
    words: { class: 'Class', code: 'Code', share: 'Share of the parcel', level1: 'First level', level2: 'Second level' },
    published: Object.keys(ITALIAN_CLASSES),
    units: { share: 'share' },
    codes: ['code', 'level1', 'level2'],
    first: ['class', 'share', 'code', 'level2', 'level1'],
  },
  layer: {
    group: 'land',
    title: 'Urban land use, first level',
    value: 'level1',
    classes: FIRST_LEVEL_OF_LAND,
    none: 'No class',
  },
  italian: {
    title: 'Uso del suolo',
    words: { code: 'Codice', share: 'Parte della particella', level1: 'Primo livello', level2: 'Secondo livello', class: 'Classe' },
    values: ITALIAN_CLASSES,
    legend: {
      'Urban land use, first level': 'Uso del suolo urbano, primo livello', '1, artificial': '1, artificiale', '2, agricultural': '2, agricolo',
      '3, forest and semi-natural': '3, boschi e seminaturale', '4, wetlands': '4, zone umide', '5, water': '5, acque', 'No class': 'Nessuna classe',
    },
    fields: {
      'Class of the Urban Atlas, such as 11210': 'Classe dell’Urban Atlas: 11210',
      'Name of the class as published; null: not published': 'Nome della classe come pubblicato; vuoto: non pubblicato',
      'First digit: 1 artificial, 2 agricultural, 3 natural, 4 wetlands, 5 water':
        'Prima cifra: 1 artificiale, 2 agricolo, 3 naturale, 4 zone umide, 5 acque',
      'First two digits': 'Prime due cifre',
      'Share of the parcel that the class covers': 'Parte della particella coperta dalla classe',
    },
    evidence: {
      ...LARGEST_IN_ITALIAN,
      'boundary of the urban area that contains the representative point': 'confine dell’area urbana che contiene il punto rappresentativo',
    },
  },
});
