/** Map layer of the section buildings, and the texts of the section on the map in English and Italian. */
import { defineMap } from '../../../pipelines/contract/section-map.ts';

export default defineMap({
  panel: {
    summary: ['count'],
    words: {
      count: 'Buildings', footprint_m2: 'Footprint', residential_count: 'Residential buildings', residential_footprint_m2: 'Residential footprint', built_share: 'Built-up share of the parcel',
      not_counted: 'Not counted',
    },
    units: { footprint_m2: 'm²', residential_footprint_m2: 'm²', built_share: 'share' },
  },
  layer: {
    group: 'land',
    title: 'Built-up share of the parcel',
    value: 'built_share',
    classes: [
      { label: 'under 5 %', color: '#fdd0a2' }, { from: 0.05, label: '5 to 20 %', color: '#fdae6b' }, { from: 0.2, label: '20 to 40 %', color: '#f16913' },
      { from: 0.4, label: '40 to 70 %', color: '#c94701' }, { from: 0.7, label: '70 % or more', color: '#7f2704' },
    ],
    none: 'No building',
  },
  italian: {
    title: 'Edifici',
    words: { not_counted: 'Non contato',
      count: 'Edifici', footprint_m2: 'Superficie coperta', residential_count: 'Di cui residenziali', residential_footprint_m2: 'Superficie di questi',
      built_share: 'Parte edificata della particella',
    },
    legend: {
      'Built-up share of the parcel': 'Parte edificata della particella', 'under 5 %': 'meno del 5 %', '5 to 20 %': '5–20 %', '20 to 40 %': '20–40 %', '40 to 70 %': '40–70 %',
      '70 % or more': '70 % e più', 'No building': 'Nessun edificio',
    },
    fields: {
      'Number of buildings whose largest part is on the parcel': 'Edifici che si trovano per la maggior parte sulla particella',
      'Sum of the areas of buildings on the parcel, m²; where buildings overlap, the area counts for each of them':
        'Sovrapposizione degli edifici con la particella, m²; dove due si sovrappongono contano entrambi',
      'Null: the source has no uses of buildings': 'Vuoto: la fonte non dice la destinazione d’uso degli edifici',
      'Footprint of residential buildings, m²; null: the source has no uses of buildings': 'Degli edifici residenziali, m²; vuoto: come per il loro numero',
      'Share of the parcel under buildings; overlaps count once': 'Parte edificata della particella, ogni luogo contato una volta sola',
    },
    evidence: {
      'building whose largest part is on the parcel; if two parts differ by less than 0.01 m², the parcel with the smaller fid is used':
        'edificio che si trova per la maggior parte sulla particella; a parti uguali entro 0,01 m², sulla particella con il fid minore',
      'area shared with the parcel; built_share counts overlaps once':
        'superficie di sovrapposizione con la particella; la parte edificata conta una volta sola dove più edifici si sovrappongono',
      'not counted, because the shared area is below 1 m² (or below half of a parcel of less than 2 m²)':
        'non contato: la sovrapposizione è sotto 1 m² (metà, se la particella è sotto i 2 m²)',
      "source of the comune's buildings: igm_dbsn if it covers the comune, else trento_cadastre, else dpc_buildings":
        'fonte i cui edifici contano nel comune: igm_dbsn dove arriva, altrimenti trento_cadastre, altrimenti dpc_buildings',
      residential: 'residenziale',
      'not residential': 'non residenziale',
      'unknown use': 'destinazione d’uso non nota',
    },
  },
});
