/** Determines which comuni of the synthetic region have no incomes. Used by the source of incomes and by sources whose true values depend on incomes. */
import type { SyntheticComune } from './region.ts';

/** Returns whether a comune has incomes. The fourth comune was founded after the tax returns were published. */
export function hasIncomes(comune: SyntheticComune): boolean {
  return comune.index !== 3;
}
