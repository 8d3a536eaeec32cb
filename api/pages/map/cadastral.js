// @ts-check
/** Recognises a search text that names parcels, by national cadastral reference, or in common notations by comune with foglio, particella or both. */

/**
 * @typedef {{ reference: string }} Reference
 * @typedef {{ comune: string, foglio?: string, label?: string, sezione?: string }} CadastralPlace
 */

const REFERENCE = /^(?:CadastralParcel\.IT\.AGE\.PLA\.)?[A-Z]\d{3}[A-Z_]\d{4}[0-9A-Z]{2}\.\S+$|^IT\.(?:TN|BZ)\.[0-9A-Z]+\.\S+$/i;
/** Cadastral code, sheet and number, such as `H833 13 594`. */
const SHORT = /^([A-Z]\d{3})[\s/,]+(\d{1,4})[\s/,]+([^\s/,]\S*)$/i;
const FOGLIO = /(?<![\p{L}\d])(?:foglio|fg\.?|f\.)\s*(\d{1,4})(?![\p{L}\d])/iu;
const LABEL = /(?<![\p{L}\d])(?:particella|p\.lla|part\.|mappale|mapp\.?|p\.)\s*(\.?\d[^\s,;]*)/iu;
const SEZIONE = /(?<![\p{L}\d])(?:sezione|sez\.?)\s*([A-Z])(?![\p{L}\d])/iu;

/** @param {string} text @returns {Reference | CadastralPlace | null} null: the text is not a search for a parcel */
export function readCadastral(text) {
  const plain = text.trim();
  if (REFERENCE.test(plain)) return { reference: plain };
  const [, code, sheet, number] = SHORT.exec(plain) ?? [];
  if (code !== undefined && sheet !== undefined && number !== undefined) return { comune: code.toUpperCase(), foglio: sheet, label: number };
  const [foglio, label, sezione] = [FOGLIO, LABEL, SEZIONE].map((pattern) => pattern.exec(plain)?.[1]);
  const comune = [FOGLIO, LABEL, SEZIONE].reduce((rest, pattern) => rest.replace(pattern, ' '), plain).replace(/[\s,;]+/g, ' ').trim().replace(/^comune di /i, '');
  if ((foglio ?? label) === undefined || comune === '') return null;
  return { comune, ...(foglio === undefined ? {} : { foglio }), ...(label === undefined ? {} : { label }), ...(sezione === undefined ? {} : { sezione }) };
}
