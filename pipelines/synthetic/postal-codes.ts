/** Returns postal codes of the synthetic region. Used by the source of postal codes and by sources whose true values depend on postal codes. */
import { itemAt } from './items.ts';
import type { SyntheticParcel, SyntheticSheet } from './region.ts';

/**
 * Returns the postal code of a sheet. In the comune with several codes, each code has a part of the sheets, and the last sheet is in no area.
 * @returns null if the comune has several codes and the sheet is in no area
 */
export function postalCodeOfSheet(sheet: SyntheticSheet): string | null {
  const { postalCodes, parcelCount } = sheet.comune;
  const [only, ...others] = postalCodes;
  if (others.length === 0) return only;
  const sheets = Math.ceil(parcelCount / 100);
  const covered = sheets > postalCodes.length ? sheets - 1 : sheets;
  return sheet.index >= covered ? null : itemAt(postalCodes, Math.floor((sheet.index * postalCodes.length) / covered));
}

/** Returns the postal code of a parcel of any kind; null if unknown. */
export function postalCodeOf(parcel: SyntheticParcel): string | null {
  return postalCodeOfSheet(parcel.sheet);
}
