// @ts-check
/** Places the name of each street along the house numbers of the street. The database has points of numbers, and no lines of streets. */

/** @typedef {{ street: number, name: string, lng: number, lat: number }} Numbered */

/** Length of a degree of latitude, in metres. */
const DEGREE_M = 111_320;
/** Minimum length of a street per part, in metres. The line of a divided street has one point for each part and for each end. */
const PART_M = 70;
/** Maximum number of parts of a street. */
const MOST_PARTS = 8;
/** Shortest line with a name along it, in metres. */
const SHORTEST_M = 25;
/** Largest spread of the numbers across a street, as a share of their spread along the street. Wider sets are squares or scattered houses. */
const WIDEST = 0.35;

/**
 * @param {Iterable<Numbered>} numbers house numbers in view
 * @returns {GeoJSON.Feature[]} for each street with at least two numbers: a line along the numbers, or a point among the numbers if they form no line
 */
export function streetNames(numbers) {
  /** @type {Map<number, { name: string, points: Map<string, [number, number]> }>} */
  const streets = new Map();
  for (const { street, name, lng, lat } of numbers) {
    const known = streets.get(street) ?? { name, points: new Map() };
    streets.set(street, known);
    // Adjacent tiles repeat the numbers near their common edge.
    known.points.set(`${lng.toFixed(6)} ${lat.toFixed(6)}`, [lng, lat]);
  }
  return [...streets].sort(([a], [b]) => a - b).flatMap(([, { name, points }]) => (points.size < 2 ? [] : [nameOf(name, [...points.values()])]));
}

/** @param {string} name @param {[number, number][]} points @returns {GeoJSON.Feature} */
function nameOf(name, points) {
  const [lng, lat] = [mean(points.map(([x]) => x)), mean(points.map(([, y]) => y))];
  const metres = [DEGREE_M * Math.cos((lat * Math.PI) / 180), DEGREE_M];
  const flat = points.map(([x, y]) => [(x - lng) * metres[0], (y - lat) * metres[1]]);
  // The axis along which the points are spread most.
  const sum = (/** @type {(point: number[]) => number} */ of) => flat.reduce((total, point) => total + of(point), 0);
  const angle = 0.5 * Math.atan2(2 * sum(([x, y]) => x * y), sum(([x, y]) => x * x - y * y));
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  const turned = flat.map(([x, y]) => [x * cos + y * sin, y * cos - x * sin]).sort(([a], [b]) => a - b);
  const back = ([along, across]) => [lng + (along * cos - across * sin) / metres[0], lat + (along * sin + across * cos) / metres[1]];
  const [first, last] = [turned[0][0], turned[turned.length - 1][0]];
  const spread = (/** @type {number} */ axis) => Math.sqrt(mean(turned.map((point) => point[axis] ** 2)));
  if (last - first < SHORTEST_M || spread(1) > WIDEST * spread(0)) {
    return { type: 'Feature', properties: { name }, geometry: { type: 'Point', coordinates: back([middleOf(turned.map(([along]) => along)), middleOf(turned.map(([, across]) => across))]) } };
  }
  const parts = Math.min(MOST_PARTS, Math.max(1, Math.floor((last - first) / PART_M)), Math.floor(turned.length / 2));
  const middles = Array.from({ length: parts }, (_, part) => {
    const inside = turned.slice(Math.floor((part * turned.length) / parts), Math.floor(((part + 1) * turned.length) / parts));
    return [mean(inside.map(([along]) => along)), middleOf(inside.map(([, across]) => across))];
  });
  const line = [[first, middles[0][1]], ...(parts === 1 ? [] : middles), [last, middles[parts - 1][1]]];
  return { type: 'Feature', properties: { name }, geometry: { type: 'LineString', coordinates: line.map(back) } };
}

/** @param {number[]} values */
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Returns the middle between the quartiles, which is between the two sides of a street. A wrong position hardly moves the middle. @param {number[]} values */
function middleOf(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const quarter = Math.floor((sorted.length - 1) / 4);
  return (sorted[quarter] + sorted[sorted.length - 1 - quarter]) / 2;
}
