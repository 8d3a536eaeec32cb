/** Map layer of the section population, and the texts of the section on the map in English and Italian. */
import { defineMap } from '../../../pipelines/contract/section-map.ts';

export default defineMap({
  panel: {
    summary: ['estimated'],
    words: {
      estimated: 'Residents, estimated', dasymetric: 'By residential footprint', areal: 'By area', estimation_method: 'Method', estimation_confidence: 'Confidence',
      municipality_total: 'Residents of the comune',
    },
    values: { dasymetric: 'by residential footprint', areal: 'by area' },
    units: { estimated: 'persons', dasymetric: 'persons', areal: 'persons', estimation_confidence: 'share' },
    first: ['estimated', 'estimation_method', 'estimation_confidence', 'dasymetric', 'areal', 'municipality_total'],
  },
  layer: {
    group: 'people',
    title: 'Residents, estimated',
    value: 'estimated',
    unit: 'persons',
    classes: [
      { color: '#e7d4e8' }, { from: 0.5, color: '#c994c7' }, { from: 2, color: '#df4a9e' }, { from: 5, color: '#b0105a' }, { from: 20, color: '#67001f' },
    ],
    none: 'No estimate',
  },
  italian: {
    title: 'Popolazione',
    words: {
      estimated: 'Residenti stimati', estimation_method: 'Metodo di stima', estimation_confidence: 'Affidabilità',
      dasymetric: 'Per superficie residenziale', areal: 'Per superficie', municipality_total: 'Residenti del comune',
    },
    units: { persons: 'persone' },
    values: { dasymetric: 'dasimetrico', areal: 'areale' },
    legend: { 'Residents, estimated': 'Residenti stimati', 'No estimate': 'Nessuna stima' },
    fields: {
      'Estimated residents: dasymetric if known, else areal': 'Residenti: stima per superficie residenziale dove è nota, altrimenti per superficie',
      'Residents of the parcel: the residents of the census section, distributed by residential footprint; null: there is no residential footprint, or the uses of the buildings are unknown':
        'Residenti della particella: quelli della sezione di censimento, ripartiti sulla superficie coperta residenziale; vuoto: la sezione non ne ha, o la destinazione d’uso dei suoi edifici non è nota',
      'Residents of the parcel: the residents of the census section, distributed by area of the land parcels':
        'Residenti della particella: quelli della sezione di censimento, ripartiti sulla superficie delle particelle di terreno',
      'Method by which estimated was computed': 'Quale delle due è la stima data',
      "Agreement of the census section's residents per household with the comune's mean, 0.1–0.9, halved for method areal; null: the census section has no residents":
        'Quanto residenti e famiglie della sezione si accordano con quelli del comune, 0,1–0,9, la metà dove il metodo è areale; vuoto: nella sezione non abita nessuno',
      'Residents of the comune, including homeless people; null: not published': 'Residenti del comune, compresi i senza tetto; vuoto: non pubblicato',
    },
    evidence: {
      'census section that contains the representative point': 'sezione che contiene il punto rappresentativo',
      'source of the residential footprints over which the residents are distributed': 'fonte delle superfici residenziali su cui si distribuiscono i residenti della sezione',
      'residents of all census sections of the comune in its newest year': 'residenti di tutte le sezioni del comune, dell’anno più recente che lo conta',
      persons: 'persone',
      'residents of the census section, distributed over the area of its land parcels':
        'residenti della sezione di censimento, ripartiti sulla superficie delle sue particelle di terreno',
      'residents of the census section, distributed over the residential footprint of its parcels':
        'residenti della sezione di censimento, ripartiti sulla superficie coperta residenziale delle sue particelle',
      '1 minus the relative difference between residents and households × mean household size of the comune; limited to 0.1–0.9, halved for areal':
        'uno meno la parte dei residenti che le famiglie, moltiplicate per la media del comune, non spiegano; da 0,1 a 0,9, la metà dove il metodo è areale',
      '{1} residents, {2} households': '{1} residenti, {2} famiglie',
      "share of the section's land": 'del terreno della sezione',
      'share of the section\'s residential footprint': 'della superficie coperta residenziale della sezione',
      'persons per household in the comune': 'persone per famiglia nel comune',
    },
  },
});
