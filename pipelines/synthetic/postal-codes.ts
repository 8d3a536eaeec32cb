/** Where the postal codes of the synthetic region lie: known to the source that writes them and to those whose truth depends on them. */
import { itemAt } from './items.ts';
import type { SyntheticParcel, SyntheticSheet } from './region.ts';

/**
 * Postal code of a sheet. In the comune that has several, each has its share of the sheets; the last sheet lies in no area.
 * @returns null where the codes are several and no area says which
 */
export function postalCodeOfSheet(sheet: SyntheticSheet): string | null {
  const { postalCodes, parcelCount } = sheet.comune;
  const [only, ...others] = postalCodes;
  if (others.length === 0) return only;
  const sheets = Math.ceil(parcelCount / 100);
  const covered = sheets > postalCodes.length ? sheets - 1 : sheets;
  return sheet.index >= covered ? null : itemAt(postalCodes, Math.floor((sheet.index * postalCodes.length) / covered));
}

/** Postal code of a parcel, land, road or water; null: not known. */
export function postalCodeOf(parcel: SyntheticParcel): string | null {
  return postalCodeOfSheet(parcel.sheet);
}
