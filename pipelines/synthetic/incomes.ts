/**
 * Determines which comuni of the synthetic region have no incomes. The source of incomes uses this module, as do sources whose true values depend on incomes.
 */
import type { SyntheticComune } from './region.ts';

/** Returns whether the file of incomes contains the comune. The fourth comune was founded after the file's publication. */
export function hasIncomes(comune: SyntheticComune): boolean {
  return comune.index !== 3;
}
