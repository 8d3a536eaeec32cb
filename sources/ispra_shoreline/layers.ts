/** Segments of the shore with their change, and the covered area. */
import { reachedRegions } from '../../pipelines/contract/layer-columns.ts';
import type { Layers } from '../../pipelines/contract/source.ts';

export const layers: Layers = {
  shoreline_segment: {
    description: 'Low coast, segment by segment, with its change between two surveys of ISPRA. The layer contains no rocky coast and no harbours. The change is measured history, not a forecast.',
    position: 'Number of the feature in its layer, from 1.',
    columns: {
      dynamic: ['text', 'erosion or accretion if the segment moved by more than 5 m between the surveys, otherwise stable; null if the publisher has no information.'],
      avg_change_m_year: ['float8', 'Mean change in metres per year, positive seaward; null if not published.'],
      geom: ['geometry(multilinestring, 4326) not null', 'The segment, EPSG:4326.'],
    },
    checks: { within: [6, 35, 19, 46] },
  },
  shoreline_coverage: {
    description: 'Regions that the segments of each member cover. In other regions, the change of a shore without a segment is unknown.',
    position: 'Number of the first feature of the member.',
    columns: reachedRegions('a segment'),
  },
};
