/** Where the synthetic region has no incomes: known to the source that writes them and to those whose truth depends on them. */
import type { SyntheticComune } from './region.ts';

/** The fourth comune was founded after the tax returns were published. */
export function hasIncomes(comune: SyntheticComune): boolean {
  return comune.index !== 3;
}
