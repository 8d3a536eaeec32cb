/** Flood hazard areas, their pieces for joins, and the area that each scenario covers. */
import { measuredArea, piecesOf, reachedRegions } from '../../pipelines/contract/layer-columns.ts';
import type { Layers } from '../../pipelines/contract/source.ts';

export const layers: Layers = {
  flood_hazard: {
    description: 'Flood hazard areas of the ISPRA mosaic (D.Lgs. 49/2010). The classes are nested: an area of P3 is also in P2 and P1, so never add up their areas.',
    position: 'Number of the feature in its shapefile, from 1.',
    areasOf: 'raw_flood_hazard',
    columns: {
      class: ['text not null', 'P3: floods of 20–50 years; P2: 100–200 years; P1: 200–500 years or extreme; HPH: neither the text nor the file name states a class.'],
      scenario: ['text', 'Text that states the class, as published; null if none. If null, the class is from the file name.'],
      ...measuredArea('polygon', ', with up to several million vertices. For joins, use flood_hazard_piece'),
    },
    checks: { within: [6, 35, 19, 48], pieces: 'flood_hazard_piece' },
  },
  flood_hazard_piece: piecesOf('flood_hazard', ['Areas', 'area'], {
    class: ['text not null', 'As in flood_hazard.'],
  }),
  flood_coverage: {
    description: 'Scenarios of each member, the regions that they cover, and the provinces that were not mapped. In a province that was not mapped, the class is unknown outside all areas.',
    position: 'Number of the first feature of the class in the member.',
    columns: {
      class: ['text not null', 'P1, P2 or P3; HPH for areas without a class, which do not map a scenario.'],
      missing_provinces: ['text[] not null', 'ISTAT codes (3 digits) of the provinces for which the authorities delivered no map of the scenario; empty if all provinces are mapped.'],
      ...reachedRegions('an area of the class'),
    },
  },
};
