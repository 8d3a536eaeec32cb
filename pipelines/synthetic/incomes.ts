/** Comuni of the synthetic region without incomes, for the source of incomes and for sources with a truth that depends on them. */
import type { SyntheticComune } from './region.ts';

/** The fourth comune was founded after the tax returns were published. */
export function hasIncomes(comune: SyntheticComune): boolean {
  return comune.index !== 3;
}
