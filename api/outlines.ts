/**
 * Simplifies outlines of comuni. A border ends at points where more than two comuni, or two comuni and the sea, meet. A border is simplified equally for
 * the comuni on both sides, so neighbours still touch.
 */

type Point = readonly [lng: number, lat: number];
type Ring = readonly Point[];

export interface MultiPolygon {
  readonly type: 'MultiPolygon';
  readonly coordinates: readonly (readonly Ring[])[];
}

/**
 * @param outlines outlines of comuni; neighbours have the same corners on their common border
 * @param tolerance maximum distance in degrees between a removed corner and the simplified line
 * @returns the simplified outlines in the same order
 */
export function simplifiedWithNeighbours(outlines: readonly (MultiPolygon | null)[], tolerance: number): (MultiPolygon | null)[] {
  /** The two adjacent corners of each corner. Null if the adjacent corners differ between two rings, because borders end at such a corner. */
  const joined = new Map<string, string | null>();
  for (const outline of outlines) {
    for (const ring of outline?.coordinates.flat() ?? []) {
      const names = open(ring).map(nameOf);
      for (const [at, name] of names.entries()) {
        const between = [names.at(at - 1) ?? '', names[(at + 1) % names.length] ?? ''].sort().join(' ');
        const known = joined.get(name);
        joined.set(name, known === undefined || known === between ? between : null);
      }
    }
  }
  const meets = (point: Point): boolean => joined.get(nameOf(point)) === null;
  const rings = outlines.flatMap((outline) => outline?.coordinates.flat() ?? []);
  const simplified = new Map(rings.map((ring) => [ring, simplifiedRing(open(ring), meets, tolerance)]));
  // A ring that would become a line is not simplified. Its corners become ends of borders, so that the neighbours keep the same corners.
  const kept = new Set(rings.filter((ring) => corners(simplified.get(ring) ?? []) < 3).flatMap((ring) => open(ring).map(nameOf)));
  for (const name of kept) joined.set(name, null);
  for (const ring of rings) {
    if (open(ring).some((point) => kept.has(nameOf(point)))) simplified.set(ring, simplifiedRing(open(ring), meets, tolerance));
  }
  const simpler = (polygon: readonly Ring[]): Ring[] => polygon.map((ring) => simplified.get(ring) ?? ring);
  return outlines.map((outline) => outline && { ...outline, coordinates: outline.coordinates.map(simpler) });
}

/** Returns the number of different corners. */
function corners(ring: Ring): number {
  return new Set(ring.map(nameOf)).size;
}

/** Returns a ring without its last corner, which repeats the first. */
function open(ring: Ring): Ring {
  return ring.slice(0, -1);
}

function nameOf([lng, lat]: Point): string {
  return `${lng},${lat}`;
}

function simplifiedRing(ring: Ring, meets: (point: Point) => boolean, tolerance: number): Ring {
  const [first = 0, ...others] = ring.flatMap((point, at) => (meets(point) ? [at] : []));
  const from = (start: number): Ring => [...ring.slice(start), ...ring.slice(0, start)];
  const kept = others.length === 0 && !ring.some(meets)
    ? loop(from(ring.reduce((lowest, point, at) => (isBefore(point, ring[lowest] ?? point) ? at : lowest), 0)), tolerance)
    : pieces(from(first), [...others.map((at) => at - first), ring.length]).flatMap((line) => border(line, tolerance).slice(0, -1));
  return kept.length === 0 ? [] : [...kept, ...kept.slice(0, 1)];
}

/** Splits a ring into borders. @param ring begins at an end of a border @param ends index of the last corner of each border */
function pieces(ring: Ring, ends: readonly number[]): Ring[] {
  const closed = [...ring, ...ring.slice(0, 1)];
  return ends.map((end, index) => closed.slice(ends[index - 1] ?? 0, end + 1));
}

/** Simplifies a border from end to end. The direction of the border does not change the result. */
function border(line: Ring, tolerance: number): Ring {
  const [one, other] = [line, [...line].reverse()];
  const different = one.findIndex((point, at) => nameOf(point) !== nameOf(other[at] ?? point));
  const turned = different >= 0 && isBefore(other[different] ?? [0, 0], one[different] ?? [0, 0]);
  const [start, end] = [one[0], one.at(-1)];
  const isLoop = start !== undefined && end !== undefined && nameOf(start) === nameOf(end);
  const way = turned ? other : one;
  const kept = isLoop ? [...loop(way.slice(0, -1), tolerance), start] : lineOf(way, tolerance);
  return turned ? [...kept].reverse() : kept;
}

/** Simplifies a closed border as two parts, split at the corner that is farthest from the start. The direction of the border does not change the result. */
function loop(ring: Ring, tolerance: number): Ring {
  const [start, second] = ring;
  const last = ring.at(-1);
  if (start === undefined || second === undefined || last === undefined) return ring;
  const isTurned = isBefore(last, second);
  const way = isTurned ? [start, ...ring.slice(1).reverse()] : ring;
  const farthest = way.reduce((found, point, at) => (apart(start, point) > apart(start, way[found] ?? start) ? at : found), 0);
  const halves = [...lineOf(way.slice(0, farthest + 1), tolerance).slice(0, -1), ...lineOf([...way.slice(farthest), start], tolerance).slice(0, -1)];
  return isTurned ? [start, ...halves.slice(1).reverse()] : halves;
}

function isBefore([lng, lat]: Point, [otherLng, otherLat]: Point): boolean {
  return lng < otherLng || (lng === otherLng && lat < otherLat);
}

function apart([lng, lat]: Point, [otherLng, otherLat]: Point): number {
  return Math.hypot(lng - otherLng, lat - otherLat);
}

/** Simplifies a line: keeps its ends, and the corners that are farther from the simplified line than the tolerance (Douglas and Peucker 1973). */
function lineOf(line: Ring, tolerance: number): Ring {
  const kept = new Set([0, line.length - 1]);
  const open: [number, number][] = [[0, line.length - 1]];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [from, to] = next;
    const [start, end] = [line[from], line[to]];
    if (start === undefined || end === undefined) continue;
    let [farthest, most] = [0, tolerance];
    for (let at = from + 1; at < to; at += 1) {
      const away = offLine(line[at] ?? start, start, end);
      if (away > most) [farthest, most] = [at, away];
    }
    if (farthest === 0) continue;
    kept.add(farthest);
    open.push([from, farthest], [farthest, to]);
  }
  return line.filter((_, at) => kept.has(at));
}

/** Returns the distance of a point from a line segment. */
function offLine(point: Point, start: Point, end: Point): number {
  const [x, y] = [end[0] - start[0], end[1] - start[1]];
  const length = x * x + y * y;
  const along = length === 0 ? 0 : Math.min(1, Math.max(0, ((point[0] - start[0]) * x + (point[1] - start[1]) * y) / length));
  return apart(point, [start[0] + along * x, start[1] + along * y]);
}
