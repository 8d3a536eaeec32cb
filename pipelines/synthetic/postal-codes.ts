/** Determines postal codes of the synthetic region. The source of postal codes uses this module, as do sources whose true values depend on postal codes. */
import { itemAt } from './items.ts';
import type { SyntheticParcel, SyntheticSheet } from './region.ts';

/**
 * Returns the postal code of a sheet. In the comune with several codes, each code covers some of the sheets. If this comune has more sheets than codes, the
 * last sheet is in no postal area.
 * @returns null if the sheet is in no postal area
 */
export function postalCodeOfSheet(sheet: SyntheticSheet): string | null {
  const { postalCodes, parcelCount } = sheet.comune;
  const [only, ...others] = postalCodes;
  if (others.length === 0) return only;
  const sheets = Math.ceil(parcelCount / 100);
  const covered = sheets > postalCodes.length ? sheets - 1 : sheets;
  return sheet.index >= covered ? null : itemAt(postalCodes, Math.floor((sheet.index * postalCodes.length) / covered));
}

/** Returns the postal code of a parcel of any kind; null if the parcel's sheet is in no postal area. */
export function postalCodeOf(parcel: SyntheticParcel): string | null {
  return postalCodeOfSheet(parcel.sheet);
}
