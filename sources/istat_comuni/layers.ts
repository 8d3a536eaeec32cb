/** Current comuni with their cadastral, ISTAT and former ISTAT codes. */
import type { Layers } from '../../pipelines/contract/source.ts';

export const layers: Layers = {
  comune_code: {
    description: 'Current comuni (ISTAT, Elenco dei comuni italiani) with their cadastral, statistical and former codes',
    position: 'Line of the file, from 1. For a record of several lines, the last line.',
    columns: {
      belfiore: ['text not null', 'Cadastral code (codice catastale, Belfiore): letter and three digits'],
      istat_code: ['text not null', 'Current ISTAT code, 6 digits, text'],
      name: ['text not null', 'Italian name'],
      name_other: ['text', 'Name in the second language, with ? for letters that the publisher\'s encoding lacks; null if none'],
      province_code: ['text not null', 'ISTAT code of the province or metropolitan city (UTS) used for statistics, 3 digits, text. Metropolitan cities have codes 2xx'],
      province_historic_code: ['text not null', 'Code of the province at the start of the comune\'s code, 3 digits, text'],
      province_name: ['text not null', 'Name of the province or metropolitan city; in two languages if both are official'],
      province_type: ['int2 not null', 'Type of unit: 1 province, 2 autonomous province, 3 metropolitan city, 4 free consortium, 5 non-administrative unit'],
      sigla: ['text not null', 'Car plate code of the province'],
      region_code: ['int2 not null', 'ISTAT region code, 1–20'],
      region_name: ['text not null', 'Name of the region; in two languages if both are official'],
      capoluogo: ['bool not null', 'True if the comune is the seat of its province'],
      code_107_2017: ['text', 'ISTAT code with the 107 provinces of 2017–2025, 6 digits, text. Null if the edition lacks this column; before 2026, the code equals the current code'],
      code_110: ['text', 'ISTAT code with the 110 provinces of 2010–2016, 6 digits, text; null if none'],
      code_107: ['text', 'ISTAT code with the 107 provinces of 2006–2009, 6 digits, text; null if none'],
      code_103: ['text', 'ISTAT code with the 103 provinces of 1995–2005, 6 digits, text; null if none'],
    },
    indexes: { 'comuni by cadastral code': ['belfiore'], 'comuni by ISTAT code': ['istat_code'] },
  },
};
