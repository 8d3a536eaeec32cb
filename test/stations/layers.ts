/** Railway stations. */
import type { Layers } from '../../pipelines/contract/source.ts';

export const layers: Layers = {
  station: {
    description: 'Railway stations (RFI)',
    position: 'Line of the file, from 1.',
    columns: {
      station_code: ['text not null', 'Code of the station: S and five digits, text'],
      name: ['text not null', 'Name of the station'],
      geom: ['geometry(point, 4326) not null', 'Position, EPSG:4326'],
    },
    indexes: { 'stations near a position': ['geom'] },
  },
};
