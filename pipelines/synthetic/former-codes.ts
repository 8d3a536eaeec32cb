/** Determines former codes of comuni in the synthetic region, for the lists of comuni and for sources that still use former codes. */
import type { SyntheticComune } from './region.ts';

/** A former comune, which was merged into another comune. */
export interface FormerComune {
  readonly istatCode: string;
  readonly name: string;
}

/** Returns the ISTAT code that a comune had before 2026, if the province got a new number; null if the code never changed. */
export function formerIstatCode(comune: SyntheticComune): string | null {
  return comune.index === 1 ? `9${comune.istatCode.slice(1)}` : null;
}

/** Returns the comuni that were merged into a comune in 2020; empty for all comuni except one. */
export function mergedComuni(comune: SyntheticComune): readonly FormerComune[] {
  if (comune.index !== 2) return [];
  return [{ istatCode: `${comune.province.code}196`, name: 'Fintaria Alta' }, { istatCode: `${comune.province.code}197`, name: 'Fintaria Bassa' }];
}
