/** Generates the roofs in the synthetic land register of Trento. Real land registers mark built parts of parcels, or whole parcels, as roofs. */
import { itemAt } from './items.ts';
import type { LonLat, SyntheticParcel, SyntheticPolygon } from './region.ts';

/** Corners of roofs in units of a cell, counter-clockwise. Roofs are in the middle of a cell, which no border of a parcel crosses. */
const SHAPES: readonly (readonly (readonly [number, number])[])[] = [
  [[0.3, 0.3], [0.6, 0.3], [0.6, 0.55], [0.3, 0.55]],
  [[0.3, 0.3], [0.7, 0.3], [0.7, 0.45], [0.45, 0.45], [0.45, 0.7], [0.3, 0.7]],
  [[0.35, 0.3], [0.65, 0.35], [0.6, 0.65], [0.3, 0.6]],
  [[0.3, 0.3], [0.7, 0.3], [0.7, 0.7], [0.6, 0.7], [0.6, 0.4], [0.4, 0.4], [0.4, 0.7], [0.3, 0.7]],
  // This roof has less than 10 m².
  [[0.5, 0.5], [0.56, 0.5], [0.56, 0.56], [0.5, 0.56]],
];

/** Returns whether the whole parcel is a roof. */
export function isRoof({ comuneCatastale }: SyntheticParcel['sheet'], { label, index, polygons }: SyntheticParcel): boolean {
  return comuneCatastale?.comune.province.sigla === 'TN' && label.startsWith('.') && index % 4 === 0 && polygons.length === 1;
}

/** Returns the roofs of a parcel of Trento, as polygons in degrees; empty for a parcel without roofs. */
export function roofsOf(parcel: SyntheticParcel): SyntheticPolygon[] {
  const { sheet, index, label, cells: [[column, row]] } = parcel;
  if (sheet.comuneCatastale?.comune.province.sigla !== 'TN') return [];
  if (isRoof(sheet, parcel)) return [...parcel.polygons];
  if (!label.startsWith('.') && index % 6 !== 0) return [];
  const shape = itemAt(SHAPES, index % SHAPES.length);
  const ring = shape.map(([x, y]): LonLat => sheet.place([column + x, row + y]));
  return [[[...ring, itemAt(ring, 0)]]];
}
