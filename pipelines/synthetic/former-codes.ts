/** Which comuni of the synthetic region had other codes: known to the lists of comuni and to the sources that still use those codes. */
import type { SyntheticComune } from './region.ts';

/** A comune that is no more. */
export interface FormerComune {
  readonly istatCode: string;
  readonly name: string;
}

/** ISTAT code of before 2026, of a comune whose province was numbered anew then; null: the code was always the one in force. */
export function formerIstatCode(comune: SyntheticComune): string | null {
  return comune.index === 1 ? `9${comune.istatCode.slice(1)}` : null;
}

/** The comuni that one was made of in 2020; empty for all but one. */
export function mergedComuni(comune: SyntheticComune): readonly FormerComune[] {
  if (comune.index !== 2) return [];
  return [{ istatCode: `${comune.province.code}196`, name: 'Fintaria Alta' }, { istatCode: `${comune.province.code}197`, name: 'Fintaria Bassa' }];
}
