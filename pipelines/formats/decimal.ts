/** Parses plain decimal numbers from bytes, without creating a string. Files have millions of such numbers. */

const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;

/** Maximum number of digits for which every integer is exact as a floating-point number. */
const MOST_DIGITS = 15;
/** Powers of ten. Each power is exact as a floating-point number. */
const POWERS = Array.from({ length: MOST_DIGITS + 1 }, (_, exponent) => 10 ** exponent);

/** Form of the numbers to parse. `whole` and `fraction` together are at most 15. */
export interface DecimalForm {
  readonly sign: 'none' | 'minus';
  /** Maximum number of digits before the point. At least one digit is required. */
  readonly whole: number;
  /** Maximum number of digits after the point; 0 if no point is allowed. */
  readonly fraction: number;
}

/**
 * Parses a number, and returns NaN for any other text. The mantissa and the power of ten are exact, so the quotient is the nearest floating-point number, the
 * same as from `Number`.
 */
export function decimalOf(bytes: Uint8Array, from: number, to: number, { sign, whole, fraction }: DecimalForm): number {
  const isNegative = sign === 'minus' && bytes[from] === MINUS;
  let mantissa = 0;
  let digits = 0;
  let decimals = -1;
  for (let at = isNegative ? from + 1 : from; at < to; at += 1) {
    const byte = bytes[at]!;
    if (byte >= ZERO && byte <= NINE) {
      mantissa = mantissa * 10 + (byte - ZERO);
      if (decimals >= 0) decimals += 1;
      else digits += 1;
    } else if (byte === POINT && decimals < 0) {
      decimals = 0;
    } else {
      return Number.NaN;
    }
  }
  if (digits < 1 || digits > whole || decimals === 0 || decimals > fraction) return Number.NaN;
  const value = decimals > 0 ? mantissa / POWERS[decimals]! : mantissa;
  return isNegative ? -value : value;
}
