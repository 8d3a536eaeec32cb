/** Suppressed comuni, and the comuni that took over their territory. */
import type { Layers } from '../../pipelines/contract/source.ts';

export const layers: Layers = {
  comune_suppressed: {
    description: 'Suppressed comuni (ISTAT) and the comuni that took over their territory',
    position: 'Line of the file, from 1.',
    columns: {
      istat_code: ['text not null', 'ISTAT code of the suppressed comune, 6 digits, text'],
      name: ['text not null', 'Name of the suppressed comune'],
      province_code: ['text not null', 'Province of the suppressed comune (UTS), 3 digits, text'],
      sigla: ['text not null', 'Car plate code of the province of the suppressed comune'],
      divided: ['bool not null', 'True if the territory was divided. Each comune that took over a part of a divided territory has a row'],
      event_date: ['date not null', 'Day of the suppression'],
      successor_istat_code: ['text', 'ISTAT code, on that day, of the comune that took over; null if another state took over. This comune may have been suppressed since'],
      successor_name: ['text not null', 'Name of the comune that took over, or Stato estero'],
    },
    indexes: { 'the successors of a code': ['istat_code'] },
  },
};
