/** Map layers of the section risk, and the texts of the section on the map in English and Italian. */
import { defineMap } from '../../../pipelines/contract/section-map.ts';

export default defineMap({
  panel: {
    summary: ['flood_level', 'landslide_level', 'seismic_zone'],
    words: {
      seismic_zone: 'Seismic zone', seismic_zone_label: 'Seismic zone as published', seismic_zone_exact: 'Only one zone in the comune', pga: 'Peak ground acceleration',
      flood_level: 'Flood hazard', flood_share: 'Share of the parcel in this class', landslide_level: 'Landslide hazard', landslide_share: 'Share of the parcel in this class',
      landslide_attention: 'Area of attention', coverage: 'Coverage', flood: 'floods', landslide: 'landslides',
    },
    values: { P1: 'P1, low or moderate', P2: 'P2, medium', P3: 'P3, high', P4: 'P4, very high', AA: 'AA, area of attention', HPH: 'HPH, without a class' },
    units: { pga: 'g', flood_share: 'share', landslide_share: 'share' },
    codes: ['seismic_zone'],
    coverage: { pga: 'pga', flood_level: 'flood', flood_share: 'flood', landslide_level: 'landslide', landslide_share: 'landslide', landslide_attention: 'landslide' },
  },
  layer: {
    group: 'hazards',
    title: 'Flood hazard',
    value: 'flood_level',
    coverage: 'flood_coverage',
    classes: [
      { value: 'P1', label: 'P1, low', color: '#9ecae1' },
      { value: 'P2', label: 'P2, medium', color: '#4292c6' },
      { value: 'P3', label: 'P3, high', color: '#08519c' },
      { value: 'HPH', label: 'HPH, an area without a class', color: '#cc79a7' },
    ],
    none: 'No known flood hazard',
  },
  otherLayers: {
    risk_landslide: {
      group: 'hazards',
      title: 'Landslide hazard',
      value: 'landslide_level',
      coverage: 'landslide_coverage',
      classes: [
        { value: 'AA', label: 'AA, attention', color: '#cab2d6' },
        { value: 'P1', label: 'P1, moderate', color: '#fed98e' },
        { value: 'P2', label: 'P2, medium', color: '#fe9929' },
        { value: 'P3', label: 'P3, high', color: '#cc4c02' },
        { value: 'P4', label: 'P4, very high', color: '#662506' },
      ],
      none: 'No known landslide hazard',
    },
    risk_seismic: {
      group: 'hazards',
      title: 'Seismic zone',
      value: 'seismic_zone',
      coverage: 'pga_coverage',
      classes: [
        { value: '1', label: '1, high hazard', color: '#7a0177' },
        { value: '2', label: '2, medium', color: '#c51b8a' },
        { value: '3', label: '3, low', color: '#f768a1' },
        { value: '4', label: '4, very low', color: '#fbb4b9' },
      ],
      none: 'Not classified',
    },
  },
  italian: {
    title: 'Rischi naturali',
    words: {
      seismic_zone: 'Zona sismica', seismic_zone_label: 'Zona sismica come pubblicata', seismic_zone_exact: 'Zona certa',
      pga: 'Accelerazione massima del suolo', flood_level: 'Pericolosità idraulica', flood_share: 'Parte della particella',
      landslide_level: 'Pericolosità da frana', landslide_share: 'Parte della particella', landslide_attention: 'Area di attenzione',
      coverage: 'Copertura', flood: 'alluvioni', landslide: 'frane',
    },
    values: {
      P1: 'P1, bassa o moderata', P2: 'P2, media', P3: 'P3, elevata', P4: 'P4, molto elevata', AA: 'AA, area di attenzione', HPH: 'HPH, senza classe',
    },
    legend: {
      'Flood hazard': 'Pericolosità idraulica', 'P1, low': 'P1, bassa', 'P2, medium': 'P2, media', 'P3, high': 'P3, elevata',
      'HPH, an area without a class': 'HPH, area senza classe', 'No known flood hazard': 'Nessuna pericolosità nota',
      'Landslide hazard': 'Pericolosità da frana', 'AA, attention': 'AA, attenzione', 'P1, moderate': 'P1, moderata', 'P4, very high': 'P4, molto elevata',
      'No known landslide hazard': 'Nessuna pericolosità da frana nota',
      'Seismic zone': 'Zona sismica', '1, high hazard': '1, pericolosità alta', '2, medium': '2, media', '3, low': '3, bassa', '4, very low': '4, molto bassa', 'Not classified': 'Non classificata',
    },
    fields: {
      'Most severe zone of the comune, 1–4; null: not classified': 'Zona più severa del comune, da 1 a 4; vuoto: comune non classificato',
      'As published': 'Come pubblicata',
      'False: the comune or its former comuni have several zones; null: not classified':
        'No: il comune ha più zone, o è nato dalla fusione di comuni in zone diverse; vuoto: comune non classificato',
      'Peak ground acceleration in g, exceeded with a probability of 10 % in 50 years; null: no node within 5 km':
        'Accelerazione massima del suolo in g, 10 % in 50 anni; vuoto: nessun nodo del reticolo entro 5 km',
      'Most severe class that overlaps the parcel; HPH: an area without a class; null: see coverage':
        'Classe peggiore che si sovrappone alla particella; HPH: pericolosità senza classe; vuoto: si veda la copertura',
      'Share of the parcel in areas of this class; overlaps count once; null: no level':
        'Parte della particella in aree di questa classe, ogni luogo contato una volta sola; vuoto: nessuna classe',
      'Most severe class that overlaps the parcel; null: see coverage': 'Classe peggiore che si sovrappone alla particella; vuoto: si veda la copertura',
      'True: an area of attention (AA) overlaps the parcel, whatever the level; null: no such area overlaps, and coverage.landslide is not mapped':
        'Sì: si sovrappone un’area di attenzione (AA), qualunque sia la classe; vuoto: non se ne sovrappone nessuna, e la copertura delle frane non è «mappato»',
      'Coverage of this place by the sources': 'Se le fonti coprono questo luogo',
      'mapped: the source covers this place, and a null level means none here; not_mapped: the source does not cover this place':
        'mappato: la fonte copre questo luogo, e un valore vuoto vuol dire che qui non ce n’è; non mappato: la fonte non copre questo luogo',
      'mapped: a map covers the comune, and a null level means none here; partial: the level is from an export that may be incomplete, and is a lower bound; not_mapped: no source covers this place, or all areas here have an undetermined class':
        'mappato: una mappa copre il comune, e una classe vuota vuol dire che qui non ci sono aree; mappato in parte: la classe viene da un’esportazione forse incompleta ed è un limite inferiore; non mappato: nessuna fonte copre questo luogo, oppure tutte le aree qui hanno una classe non determinata',
      'mapped: all three scenarios cover the comune; partial: not all three scenarios cover the comune, but P1 or P2 does or an area is on the parcel, so the level is a lower bound; not_mapped: otherwise':
        'mappato: tutti e tre gli scenari coprono il comune; mappato in parte: non tutti e tre gli scenari coprono il comune, ma P1 o P2 lo copre oppure un’area si sovrappone alla particella, e la classe è un limite inferiore; non mappato: in ogni altro caso',
    },
    evidence: {
      'most severe zone of the comune, or of all former comuni of a merged comune':
        'zona del comune, nella cifra più severa; fra i comuni dalla cui fusione è nato, la più severa',
      'exact only if the comune and all its former comuni have the same single zone':
        'certa dove il comune, e ciascuno di quelli dalla cui fusione è nato, ha questa sola zona',
      'node of the grid cell around the representative point in ED50 (transformation EPSG:1133), weighted by the inverse of its distance':
        'nodo della maglia del reticolo attorno al punto rappresentativo in ED50 (EPSG:1133), pesato con l’inverso della sua distanza',
      'nearest node within 5 km in ED50 (transformation EPSG:1133), used because the grid cell around the point has no node':
        'nodo del reticolo più vicino entro 5 km in ED50 (EPSG:1133), dove la maglia attorno non ne ha',
      'area shared with the parcel; the most severe class that shares at least 1 m² (or half of a parcel below 2 m²) is used':
        'superficie di sovrapposizione con la particella; vale la classe peggiore che vi si sovrappone per 1 m² (metà, se la particella è sotto i 2 m²)',
      "share of the parcel in areas of the level's class; overlaps count once":
        'parte della particella in un’area della classe indicata; dove più aree si sovrappongono si conta una volta sola',
      'area of attention; counts if all areas of attention share at least 1 m² in total (or half of a parcel below 2 m²)':
        'area di attenzione; conta se tutte insieme si sovrappongono per 1 m² (metà, se la particella è sotto i 2 m²)',
      'newest file that covers the comune: a file with at least 15 regions, or a file with an area that shares at least 1 m² with the comune':
        'file più recente che copre il comune: raggiunge 15 regioni d’Italia, oppure una sua area si sovrappone al comune per 1 m²',
      'of the parcel': 'della particella',
      landslide: 'frane',
    },
  },
});
