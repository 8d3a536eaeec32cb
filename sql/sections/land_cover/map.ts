/** Map layer of the section land_cover, and the texts of the section on the map in English and Italian. */
import { defineMap, FIRST_LEVEL_OF_LAND, LARGEST_IN_ITALIAN } from '../../../pipelines/contract/section-map.ts';
import { ENGLISH_CLASSES } from './class-names.ts';

export default defineMap({
  panel: {
    summary: ['description'],
    words: { description: 'Land cover', code: 'Code', share: 'Share of the parcel', subclass: 'Second level', class: 'First level' },
    values: ENGLISH_CLASSES,
    units: { share: 'share' },
    codes: ['code', 'class', 'subclass'],
    first: ['description', 'share', 'code', 'subclass', 'class'],
  },
  layer: {
    group: 'land',
    title: 'Land cover, first level',
    value: 'class',
    classes: FIRST_LEVEL_OF_LAND,
    none: 'No class',
  },
  italian: {
    title: 'Copertura del suolo',
    words: { description: 'Copertura del suolo', code: 'Codice', share: 'Parte della particella', subclass: 'Secondo livello', class: 'Primo livello' },
    legend: {
      'Land cover, first level': 'Copertura del suolo, primo livello', '1, artificial': '1, artificiale', '2, agricultural': '2, agricola',
      '3, forest and semi-natural': '3, boschi e seminaturale', '4, wetlands': '4, zone umide', '5, water': '5, acque', 'No class': 'Nessuna classe',
    },
    fields: {
      'Class of CORINE Land Cover, third level, such as 112': 'Classe CORINE Land Cover, terzo livello: 112',
      'First level: 1 artificial, 2 agricultural, 3 forest and semi-natural, 4 wetlands, 5 water':
        'Primo livello: 1 artificiale, 2 agricola, 3 boschi e seminaturale, 4 zone umide, 5 acque',
      'Second level, such as 11': 'Secondo livello: 11',
      'Name of the class in the Italian nomenclature': 'Nome della classe nella nomenclatura italiana',
      'Share of the parcel that the class covers': 'Parte della particella coperta dalla classe',
    },
    evidence: {
      ...LARGEST_IN_ITALIAN,
      'newest file that covers the comune: a file with at least 15 regions, or a file with a polygon that shares at least 1 m² with the comune':
        'file più recente che copre il comune: raggiunge 15 regioni d’Italia, oppure un suo poligono si sovrappone al comune per 1 m²',
    },
  },
});
