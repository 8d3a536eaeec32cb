/**
 * Computes elevation, slope, aspect and ruggedness of parcels from the cells of an elevation model. As in GDAL's gdaldem, slope and aspect follow Horn (1981),
 * ruggedness follows Riley, DeGloria and Elliot (1999), and the terrain ruggedness index follows Wilson et al. (2007). All values except the elevation need the
 * eight neighbours of a cell. A cell without all neighbours has only an elevation.
 */
import { defineSweeps, rounded, type Accumulator, type CellRows } from '../../../pipelines/contract/sweep.ts';

const OCTANTS = ['N', 'NE', 'E', 'SE', 'S', 'SW', 'W', 'NW'] as const;
const DEGREE = 180 / Math.PI;
/** Slope in degrees below which a cell counts as flat and has no aspect. */
const FLAT = 1;

class Relief implements Accumulator {
  #cells = 0;
  #min = Infinity;
  #max = -Infinity;
  /** Elevation of the first cell. Sums are relative to this elevation, because sums of squared elevations would lose precision. */
  #base = 0;
  #sum = 0;
  #squares = 0;
  /** Number of cells with all eight neighbours. */
  #shaped = 0;
  #slopes = 0;
  #steepest = 0;
  #riley = 0;
  #wilson = 0;
  #flat = 0;
  readonly #facing = new Int32Array(OCTANTS.length);

  add({ north, here, south, cellWidthM, cellHeightM }: CellRows, first: number, end: number): void {
    for (let i = first; i < end; i += 1) {
      const e = here[i]!;
      if (Number.isNaN(e)) continue;
      if (this.#cells === 0) this.#base = e;
      this.#cells += 1;
      if (e < this.#min) this.#min = e;
      if (e > this.#max) this.#max = e;
      const above = e - this.#base;
      this.#sum += above;
      this.#squares += above * above;
      // From north to south, the rows of the window are a b c, d e f and g h k. Variable e is an elevation, and all others are differences from e.
      const [a, b, c] = [north[i - 1]! - e, north[i]! - e, north[i + 1]! - e];
      const [d, f] = [here[i - 1]! - e, here[i + 1]! - e];
      const [g, h, k] = [south[i - 1]! - e, south[i]! - e, south[i + 1]! - e];
      const squares = a * a + b * b + c * c + d * d + f * f + g * g + h * h + k * k;
      if (Number.isNaN(squares)) continue;
      this.#shaped += 1;
      this.#riley += Math.sqrt(squares);
      this.#wilson += (Math.abs(a) + Math.abs(b) + Math.abs(c) + Math.abs(d) + Math.abs(f) + Math.abs(g) + Math.abs(h) + Math.abs(k)) / 8;
      const toEast = (c + 2 * f + k - a - 2 * d - g) / (8 * cellWidthM);
      const toNorth = (a + 2 * b + c - g - 2 * h - k) / (8 * cellHeightM);
      const slope = Math.atan(Math.sqrt(toEast * toEast + toNorth * toNorth)) * DEGREE;
      this.#slopes += slope;
      if (slope > this.#steepest) this.#steepest = slope;
      if (slope < FLAT) this.#flat += 1;
      else {
        // Aspect is the direction of descent, clockwise from north. An octant includes its lower bound.
        const azimuth = Math.atan2(-toEast, -toNorth) * DEGREE;
        this.#facing[Math.floor((azimuth + 360 + 22.5) / 45) % OCTANTS.length]! += 1;
      }
    }
  }

  take(): readonly (number | string | null)[] {
    const cells = this.#cells;
    const shaped = this.#shaped;
    const mean = this.#sum / cells;
    const values = cells === 0 ? NOTHING : [
      rounded(this.#min, 1), rounded(this.#max, 1), rounded(this.#base + mean, 1), rounded(Math.sqrt(Math.max(0, this.#squares / cells - mean * mean)), 1),
      ...(shaped === 0 ? SHAPELESS : [
        rounded(this.#slopes / shaped, 1), rounded(this.#steepest, 1), rounded(this.#riley / shaped, 2), rounded(this.#wilson / shaped, 2), this.#aspect(),
      ]),
    ];
    this.#cells = this.#shaped = this.#sum = this.#squares = this.#slopes = this.#steepest = this.#riley = this.#wilson = this.#flat = 0;
    this.#min = Infinity;
    this.#max = -Infinity;
    this.#facing.fill(0);
    return values;
  }

  /** Returns flat if more than half of the cells are flat, else the most frequent octant. In a tie, returns the first octant clockwise from north. */
  #aspect(): string {
    if (this.#flat * 2 > this.#shaped) return 'flat';
    return OCTANTS[this.#facing.indexOf(Math.max(...this.#facing))] ?? 'flat';
  }
}

const SHAPELESS = [null, null, null, null, null] as const;
const NOTHING = [null, null, null, null, ...SHAPELESS] as const;

export default defineSweeps({
  tiles: 'elevation_tile',
  over: 'land',
  into: 'relief',
  columns: {
    elevation_min_m: 'float8',
    elevation_max_m: 'float8',
    elevation_mean_m: 'float8',
    elevation_std_m: 'float8',
    slope_mean_deg: 'float8',
    slope_max_deg: 'float8',
    ruggedness_index_m: 'float8',
    tri_mean_m: 'float8',
    aspect_predominant: 'text',
  },
  halo: true,
  accumulator: () => new Relief(),
});
