/**
 * Parses the national cadastral reference, `CCCCZFFFFAS[.label]`. The first eleven characters identify the sheet. The reference of a parcel also has a dot
 * and the label of the parcel. Source: Agenzia delle Entrate, "Servizio di consultazione WFS", coding of the map (CCCCZFFFFAS).
 */

export interface Reference {
  /** CCCC: cadastral code of the comune, `H833`. */
  readonly belfiore: string;
  /** Z: letter of the sezione censuaria; null if the reference has `_`. */
  readonly section: string | null;
  /** FFFF: number of the sheet (foglio) with leading zeros, `0013`. For a quadro d'unione, FFFF is the number of the request. */
  readonly sheet: string;
  /** A: attachment (allegato), `0` if the sheet has none, `Q` for a quadro d'unione. */
  readonly attachment: string;
  /** S: development (sviluppo), `0` if the sheet has none, `U` for a quadro d'unione. */
  readonly development: string;
  /** Text after the first dot: `594`, `A`, `STRADA001`, `ACQUA005`; null for a sheet. */
  readonly label: string | null;
}

/** Number of characters before the first dot. Never split the reference at `_`, because `_` occurs only if the comune has no sezioni censuarie. */
export const SHEET_REFERENCE_LENGTH = 11;

const GRAMMAR = /^([A-Z]\d{3})([A-Z_])(\d{4})([0-9A-Z])([0-9A-Z])(?:\.([^]+))?$/u;
/** Characters that a label must not contain: control characters, markup, and spaces other than single spaces between words. */
const NOT_IN_LABEL = /[\p{C}<>&"]|(?! )\p{Z}|^ | $| {2}/u;

/** Returns the parts of a reference, or null if the text is not a reference. */
export function parseReference(text: string): Reference | null {
  const match = GRAMMAR.exec(text);
  if (match === null || (match[6] !== undefined && NOT_IN_LABEL.test(match[6]))) return null;
  const [, belfiore = '', section = '', sheet = '', attachment = '', development = '', label = null] = match;
  return { belfiore, section: section === '_' ? null : section, sheet, attachment, development, label };
}
