/** Computes the radiance at the representative point of each land parcel, and the mean radiance of each comune. */
import { defineSweeps, type Accumulator, type CellRows } from '../../../pipelines/contract/sweep.ts';

/** Computes the mean of the cells of an area. Cells without a value are ignored. All other cells have the same weight, even if they extend beyond the area. */
class Mean implements Accumulator {
  #cells = 0;
  #sum = 0;

  add({ here }: CellRows, first: number, end: number): void {
    for (let i = first; i < end; i += 1) {
      const value = here[i]!;
      if (Number.isNaN(value)) continue;
      this.#cells += 1;
      this.#sum += value;
    }
  }

  take(): readonly (number | null)[] {
    const mean = this.#cells === 0 ? null : this.#sum / this.#cells;
    this.#cells = this.#sum = 0;
    return [mean];
  }
}

export default defineSweeps(
  { tiles: 'light_tile', over: 'land', into: 'radiance', sample: 'nearest' },
  { tiles: 'light_tile', over: 'outline', into: 'comune_radiance', columns: { value: 'float8' }, halo: false, accumulator: () => new Mean() },
);
