/** The sections of a parcel's record, in the order of the contract; `address` is this project's addition. */
import { MappaleError } from '../errors.ts';

export const SECTIONS = [
  'basic', 'risk', 'subsidence', 'coastal_erosion', 'valuation', 'valuation_history', 'economics', 'demographics', 'address',
] as const;

export type Section = (typeof SECTIONS)[number];

/** @param text comma-separated names; empty: all. @throws MappaleError `SECTION_UNKNOWN` (exit 2) */
export function parseInclude(text: string | undefined): Section[] {
  if (text === undefined || text.trim() === '') return [...SECTIONS];
  const names = text.split(',').map((name) => name.trim());
  for (const name of names) {
    if (!(SECTIONS as readonly string[]).includes(name)) {
      throw new MappaleError(`there is no section ${name}`, { code: 'SECTION_UNKNOWN', kind: 'usage', detail: `expected names of ${SECTIONS.join(', ')}` });
    }
  }
  return SECTIONS.filter((section) => names.includes(section));
}
