/** Former codes of comuni of the synthetic region, for the lists of comuni and the sources that still use these codes. */
import type { SyntheticComune } from './region.ts';

/** A suppressed comune. */
export interface FormerComune {
  readonly istatCode: string;
  readonly name: string;
}

/** Returns the ISTAT code before 2026 of a comune whose province got a new number; null if the code never changed. */
export function formerIstatCode(comune: SyntheticComune): string | null {
  return comune.index === 1 ? `9${comune.istatCode.slice(1)}` : null;
}

/** Returns the comuni that were merged into this one in 2020; empty for all but one. */
export function mergedComuni(comune: SyntheticComune): readonly FormerComune[] {
  if (comune.index !== 2) return [];
  return [{ istatCode: `${comune.province.code}196`, name: 'Fintaria Alta' }, { istatCode: `${comune.province.code}197`, name: 'Fintaria Bassa' }];
}
