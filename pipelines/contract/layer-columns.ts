/** Defines the columns and layers that several sources share. */
import type { Layer, LayerColumns } from './source.ts';

/** Columns of a published multipolygon: whether it was repaired, and its geometry. @param what description of the geometry, such as `Polygon of the zone` */
export function publishedPolygon(what: string): LayerColumns {
  return {
    made_valid: ['bool not null', 'True if a published polygon was invalid and has been repaired'],
    geom: ['geometry(multipolygon, 4326) not null', `${what}, EPSG:4326 longitude latitude`],
  };
}

/**
 * Columns for the size and the geometry of an area. `load.sql` measures the area, and repairs an invalid geometry.
 * @param what noun for the area, such as `polygon`
 * @param note text to append to the description of the geometry
 */
export function measuredArea(what: string, note = ''): LayerColumns {
  return {
    area_m2: ['float8 not null', 'Area in square metres, EPSG:3035.'],
    geom: ['geometry(multipolygon, 4326) not null', `The ${what}, repaired if invalid, EPSG:4326${note}.`],
  };
}

/** Columns of the footprint of a building. */
export const FOOTPRINT: LayerColumns = {
  area_m2: ['float8 not null', 'Area of the footprint in square metres, EPSG:3035.'],
  drawing: ['uuid not null', 'Digest of the rings. Footprints with the same geometry have the same digest.'],
  geom: ['geometry(multipolygon, 4326) not null', 'The footprint, repaired if invalid, EPSG:4326.'],
};

/**
 * Returns the layer with the pieces of a layer's areas.
 * @param of name of the layer with the complete areas
 * @param nouns nouns for the areas, as the first word of a sentence and in the singular: `['Boundaries', 'boundary']`
 * @param columns columns of an area that are repeated in each of its pieces
 */
export function piecesOf(of: string, [areas, area]: readonly [string, string], columns: LayerColumns = {}): Layer {
  return {
    description: `${areas} of ${of}, cut into pieces of at most 256 vertices for joins with parcels. Pieces of one ${area} do not overlap.`,
    position: `Position of the ${area} in ${of}, the same for all pieces of the ${area}.`,
    columns: {
      ...columns,
      geom: ['geometry(polygon, 4326) not null', 'The piece, EPSG:4326.'],
    },
  };
}

/** Column with the codes of the regions whose boxes overlap a geometry of the source. @param what noun for the geometry, such as `a polygon` */
export function reachedRegions(what: string): LayerColumns {
  return { regions: ['int2[] not null', `ISTAT codes of the regions whose boxes (core.region_box) overlap ${what}.`] };
}

/** Column with the number of a parcel in the land register (libro fondiario). */
export const LAND_REGISTER_NUMBER: LayerColumns = {
  code: ['text not null', 'Number of the parcel: 481/1 for land, .107/2 with a dot for a building parcel'],
};

/** Columns with the German name of a comune catastale of the land register, and with its comune. */
export const LAND_REGISTER_COMUNE: LayerColumns = {
  name_other: ['text', 'German name of the comune catastale; null if not stated'],
  istat_code: ['text', 'ISTAT code of the comune as published, 6 digits, in some cases a former code; null if not stated'],
  comune_name: ['text', 'Italian name of the comune; null if not stated'],
  comune_name_other: ['text', 'German name of the comune; null if not stated'],
};
