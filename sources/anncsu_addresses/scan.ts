/**
 * The fast path: copies the access's columns of an INDIR line directly into the bytes of a COPY row. The scanner accepts a line only if every field
 * is certainly valid. Every other line goes to `schema.ts`, which alone decides whether the line is rejected.
 */
import type { RowWriter } from '../../pipelines/formats/copy.ts';

const SEPARATOR = 0x3b;
const COMMA = 0x2c;
const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;
/** Maximum number of digits that a double holds exactly. */
const EXACT_DIGITS = 15;
/** Absolute value from which a negative number may mean no data. The schema parses such a number. */
const LOWEST = 9_999;
/** Powers of ten up to the maximum number of digits, all exact in a double. */
const TEN: readonly number[] = Array.from({ length: EXACT_DIGITS + 1 }, (_, power) => 10 ** power);
/** Number of bytes that are enough for a row without its free texts: 13 lengths, five int8 or float8, three int4, one int2, and the comune. */
const FIXED_BYTES = 160;

const number = new DataView(new ArrayBuffer(8));

/** Writes rows of raw_access up to the column metodo. */
export class AccessScanner {
  readonly #writer: RowWriter;
  /** PROGRESSIVO_NAZIONALE and CODICE_COMUNE as COPY fields. All accesses of a street have the same values. */
  readonly #street = Buffer.alloc(20);
  #at = 0;
  #end = 0;
  #to = 0;
  #out: Buffer;

  constructor(writer: RowWriter) {
    this.#writer = writer;
    this.#out = writer.buffer;
  }

  /** Sets the street of the following lines. @param comune code of the comune as four ASCII characters */
  street(key: number, comune: string): void {
    const street = this.#street;
    street.writeInt32BE(8, 0);
    street.writeInt32BE(Math.floor(key / 4_294_967_296), 4);
    street.writeUInt32BE(key % 4_294_967_296, 8);
    street.writeInt32BE(4, 12);
    street.write(comune, 16, 4, 'latin1');
  }

  /**
   * Scans one line from the ninth column on. The bytes must be UTF-8 without NUL.
   * @returns true if the access's columns were written. The caller then adds the other columns and ends the row. If false, the line is not certainly
   *   valid, and nothing was written.
   */
  scan(bytes: Buffer, at: number, end: number, position: number): boolean {
    const writer = this.#writer;
    writer.begin(position);
    writer.ensure(end - at + FIXED_BYTES);
    this.#at = at;
    this.#end = end;
    this.#out = writer.buffer;
    this.#to = writer.length;
    if (this.#fields(bytes)) {
      writer.length = this.#to;
      return true;
    }
    writer.abandon();
    return false;
  }

  #fields(bytes: Buffer): boolean {
    const key = this.#digits(bytes, EXACT_DIGITS);
    if (key < 0 || !this.#separator(bytes)) return false;
    this.#int32(8);
    this.#int32(Math.floor(key / 4_294_967_296));
    this.#int32(key % 4_294_967_296);
    const out = this.#out;
    const street = this.#street;
    for (let i = 0; i < 20; i += 1) out[this.#to + i] = street[i]!;
    this.#to += 20;
    return this.#text(bytes) && this.#separator(bytes) // CODICE_COMUNALE_ACCESSO
      && this.#whole(bytes) && this.#separator(bytes) // CIVICO
      && this.#text(bytes) && this.#separator(bytes) // ESPONENTE
      && this.#text(bytes) && this.#separator(bytes) // SPECIFICITA
      && this.#whole(bytes) && this.#separator(bytes) // METRICO
      && this.#whole(bytes) && this.#separator(bytes) // PROGRESSIVO_SNC
      && this.#decimal(bytes) && this.#separator(bytes) // COORD_X_COMUNE
      && this.#decimal(bytes) && this.#separator(bytes) // COORD_Y_COMUNE
      && this.#decimal(bytes) && this.#separator(bytes) // QUOTA
      && this.#method(bytes) && this.#at === this.#end;
  }

  #separator(bytes: Buffer): boolean {
    if (this.#at >= this.#end || bytes[this.#at] !== SEPARATOR) return false;
    this.#at += 1;
    return true;
  }

  /** Returns the value of 1 to `most` digits, or −1 if there are no digits or more than `most` digits. */
  #digits(bytes: Buffer, most: number): number {
    const start = this.#at;
    let at = start;
    let value = 0;
    for (; at < this.#end; at += 1) {
      const byte = bytes[at]!;
      if (byte < ZERO || byte > NINE) break;
      value = value * 10 + (byte - ZERO);
    }
    if (at === start || at - start > most) return -1;
    this.#at = at;
    return value;
  }

  #isEmpty(bytes: Buffer): boolean {
    return this.#at === this.#end || bytes[this.#at] === SEPARATOR;
  }

  #whole(bytes: Buffer): boolean {
    if (this.#isEmpty(bytes)) {
      this.#int32(-1);
      return true;
    }
    const value = this.#digits(bytes, 9);
    if (value < 0) return false;
    this.#int32(4);
    this.#int32(value);
    return true;
  }

  #text(bytes: Buffer): boolean {
    const start = this.#at;
    let at = start;
    while (at < this.#end && bytes[at] !== SEPARATOR) at += 1;
    this.#at = at;
    if (at === start) {
      this.#int32(-1);
      return true;
    }
    this.#int32(at - start);
    const out = this.#out;
    let to = this.#to;
    for (let i = start; i < at; i += 1) out[to++] = bytes[i]!;
    this.#to = to;
    return true;
  }

  #decimal(bytes: Buffer): boolean {
    if (this.#isEmpty(bytes)) {
      this.#int32(-1);
      return true;
    }
    let at = this.#at;
    const negative = bytes[at] === MINUS;
    if (negative) at += 1;
    let mantissa = 0;
    let digits = 0;
    let decimals = -1;
    for (; at < this.#end; at += 1) {
      const byte = bytes[at]!;
      if (byte >= ZERO && byte <= NINE) {
        mantissa = mantissa * 10 + (byte - ZERO);
        digits += 1;
        if (decimals >= 0) decimals += 1;
      } else if (byte === COMMA && decimals < 0) decimals = 0;
      else break;
    }
    // The quotient of fifteen digits and a power of ten is rounded once. `Number` gives the same double for the text.
    if (digits === 0 || digits > EXACT_DIGITS || decimals === 0) return false;
    this.#at = at;
    const value = decimals > 0 ? mantissa / TEN[decimals]! : mantissa;
    // −9999 means no data, and no height in Italy is that low.
    if (negative && value >= LOWEST) return false;
    number.setFloat64(0, negative ? -value : value);
    this.#int32(8);
    this.#int32(number.getInt32(0));
    this.#int32(number.getInt32(4));
    return true;
  }

  /** Reads one digit from 1 to 5, or nothing, at the end of the line. */
  #method(bytes: Buffer): boolean {
    if (this.#at === this.#end) {
      this.#int32(-1);
      return true;
    }
    const value = bytes[this.#at]! - ZERO;
    if (value < 1 || value > 5) return false;
    this.#at += 1;
    this.#int32(2);
    const out = this.#out;
    out[this.#to] = 0;
    out[this.#to + 1] = value;
    this.#to += 2;
    return true;
  }

  #int32(value: number): void {
    const out = this.#out;
    const to = this.#to;
    out[to] = value >>> 24;
    out[to + 1] = value >>> 16;
    out[to + 2] = value >>> 8;
    out[to + 3] = value;
    this.#to = to + 4;
  }
}
