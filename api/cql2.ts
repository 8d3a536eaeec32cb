/**
 * Parses filters in CQL2, as text or JSON, into one tree of conditions. The tree contains operators, names of queryables, and values. The database gets the
 * tree as a parameter, never as SQL. Length, depth and number of conditions are limited.
 */
import { invalidParameter, type ApiError } from './errors.ts';

export const FILTER_LANGUAGES = ['cql2-text', 'cql2-json'] as const;
type FilterLanguage = (typeof FILTER_LANGUAGES)[number];

/** Maximum length in UTF-8 bytes, number of conditions and nesting depth of a filter. */
export const FILTER_BOUNDS = { bytes: 8_192, conditions: 50, depth: 10 } as const;

/** Type of each property that a filter may name. The database functions use the same property names. */
export const FILTER_PROPERTIES = {
  cadastral_reference: 'string', municipality_code: 'string', sheet: 'string', label: 'string', kind: 'string', region_code: 'number', area_m2: 'number',
} as const;
type Property = keyof typeof FILTER_PROPERTIES;

/** Name of the geometry in filters. */
export const FILTER_GEOMETRY = 'geometry';

type Scalar = string | number;

/** A GeoJSON geometry with two coordinates in each position. */
export interface Shape {
  readonly type: string;
  readonly coordinates: unknown;
}

const COMPARISONS = ['=', '<>', '<', '<=', '>', '>='] as const;
type Comparison = (typeof COMPARISONS)[number];

/** A condition in the format that the function `api.ogc_filter` reads. `shape` is the position of a shape in `Filter.shapes`, from 1 on. */
export type Condition =
  | { readonly op: 'and' | 'or' | 'not'; readonly args: readonly Condition[] }
  | { readonly op: 'literal'; readonly value: boolean }
  | { readonly op: 's_intersects'; readonly shape: number }
  | { readonly op: 'isNull'; readonly property: Property }
  | { readonly op: Comparison | 'like'; readonly property: Property; readonly value: Scalar }
  | { readonly op: 'between'; readonly property: Property; readonly low: Scalar; readonly high: Scalar }
  | { readonly op: 'in'; readonly property: Property; readonly values: readonly Scalar[] };

export interface Filter {
  readonly where: Condition;
  readonly shapes: readonly Shape[];
  /** Number of conditions in the tree, including `and`, `or`, `not` and literals. */
  readonly conditions: number;
}

function problem(words: string): ApiError {
  return invalidParameter('filter', 'CQL2 with and, or, not, comparisons, between, in, like, is null and s_intersects; see docs/ogc-conformance.md', words);
}

/** Counts the conditions and collects the shapes of a filter, and checks names, types and limits. The parsers of text and JSON use this class. */
class Builder {
  readonly shapes: Shape[] = [];
  conditions = 0;

  /** Counts a condition and checks the limits. @param depth nesting depth of the condition, from 1 on */
  count<T extends Condition>(depth: number, condition: T): T {
    this.conditions += 1;
    if (this.conditions > FILTER_BOUNDS.conditions) throw problem(`has more than ${FILTER_BOUNDS.conditions} conditions`);
    this.enter(depth);
    return condition;
  }

  enter(depth: number): void {
    if (depth > FILTER_BOUNDS.depth) throw problem(`is nested more than ${FILTER_BOUNDS.depth} levels deep`);
  }

  property(name: string): Property {
    if (Object.hasOwn(FILTER_PROPERTIES, name)) return name as Property;
    throw problem(`names a property that is not queryable; the queryable properties are ${Object.keys(FILTER_PROPERTIES).join(', ')}, and ${FILTER_GEOMETRY} in s_intersects`);
  }

  /** Checks the type and the characters of a value, and returns the value. */
  value(property: Property, value: unknown): Scalar {
    const type = FILTER_PROPERTIES[property];
    if (typeof value !== type || (typeof value === 'number' && !Number.isFinite(value))) throw problem(`compares ${property} with a value that is not a ${type}`);
    if (typeof value === 'string' && UNFIT.test(value)) throw problem('has a text with control characters or unpaired surrogates');
    return value as Scalar;
  }

  pattern(property: Property, value: unknown): Scalar {
    if (FILTER_PROPERTIES[property] !== 'string') throw problem(`compares ${property}, which is not text, with a pattern`);
    const pattern = this.value(property, value) as string;
    let escapes = 0;
    while (pattern.at(-1 - escapes) === '\\') escapes += 1;
    if (escapes % 2 === 1) throw problem('has a like pattern that ends with the escape character');
    return pattern;
  }

  range(property: Property, low: unknown, high: unknown): { readonly low: Scalar; readonly high: Scalar } {
    if (FILTER_PROPERTIES[property] !== 'number') throw problem(`compares ${property}, which is not a number, with a range (between)`);
    return { low: this.value(property, low), high: this.value(property, high) };
  }

  /** @returns number of the shape, as in the condition */
  shape(name: string, shape: unknown): number {
    if (name !== FILTER_GEOMETRY) throw problem(`has s_intersects of a property other than ${FILTER_GEOMETRY}`);
    this.shapes.push(checkedShape(shape));
    return this.shapes.length;
  }
}

/** Control characters and unpaired surrogates. The database cannot store NUL and unpaired surrogates. */
const UNFIT = /[\u0000-\u001f\u007f-\u009f]|\p{Cs}/u;

/** For each geometry type: nesting depth of the positions in its coordinates, and the minimum number of positions of a line, ring or multipoint. */
const SHAPES: Readonly<Record<string, readonly [depth: number, least: number]>> = {
  Point: [0, 1], MultiPoint: [1, 1], LineString: [1, 2], MultiLineString: [2, 2], Polygon: [2, 4], MultiPolygon: [3, 4],
};

function checkedShape(shape: unknown): Shape {
  const { type, coordinates, bbox } = (typeof shape === 'object' && shape !== null ? shape : {}) as Readonly<Record<string, unknown>>;
  if (type === undefined && Array.isArray(bbox)) return boxShape(bbox);
  const [depth, least] = (typeof type === 'string' && Object.hasOwn(SHAPES, type) ? SHAPES[type] : undefined) ?? [-1, 0];
  if (depth < 0) throw problem(`has a geometry of an unknown type; allowed are ${Object.keys(SHAPES).join(', ')} and a box`);
  return { type: String(type), coordinates: positions(coordinates, depth, least) };
}

/** Checks coordinates and returns them with two numbers in each position. */
function positions(value: unknown, depth: number, least: number): unknown {
  if (!Array.isArray(value)) throw problem('has a geometry whose coordinates do not fit its type');
  if (depth > 0) {
    const inner = value.map((each: unknown) => positions(each, depth - 1, least));
    const isLine = depth === 1;
    if (inner.length < (isLine ? least : 1)) throw problem('has a geometry with too few positions');
    if (isLine && least === 4 && String(inner[0]) !== String(inner.at(-1))) throw problem('has a polygon whose ring is not closed');
    return inner;
  }
  const [x, y] = value as unknown[];
  if (value.length < 2 || value.length > 3 || ![x, y].every((each) => typeof each === 'number' && Math.abs(each) < 1e9)) throw problem('has a position that is not two or three numbers');
  return [x, y];
}

function boxShape(bbox: readonly unknown[]): Shape {
  const sides = bbox.length === 6 ? [bbox[0], bbox[1], bbox[3], bbox[4]] : bbox;
  const isBox = [4, 6].includes(bbox.length) && sides.every((side) => typeof side === 'number' && Math.abs(side) < 1e9);
  const [west = 0, south = 0, east = 0, north = 0] = isBox ? sides as readonly number[] : [];
  if (west >= east || south >= north) {
    throw problem('has a box that does not have four or six numbers, with the lower corner first');
  }
  return { type: 'Polygon', coordinates: [[[west, south], [east, south], [east, north], [west, north], [west, south]]] };
}

/** @throws ApiError `INVALID_PARAMS` */
export function parseFilter(text: string, language: FilterLanguage): Filter {
  if (Buffer.byteLength(text) > FILTER_BOUNDS.bytes) throw problem(`is longer than ${FILTER_BOUNDS.bytes} bytes`);
  const builder = new Builder();
  const where = language === 'cql2-json' ? fromJson(builder, parsedJson(text)) : new TextParser(text, builder).parse();
  return { where, shapes: builder.shapes, conditions: builder.conditions };
}

// --- JSON ---------------------------------------------------------------------------------------------------------------

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw problem('is not valid JSON');
  }
}

function fromJson(builder: Builder, value: unknown, depth = 1): Condition {
  builder.enter(depth);
  if (typeof value === 'boolean') return builder.count(depth, { op: 'literal', value });
  const { op, args } = (typeof value === 'object' && value !== null ? value : {}) as { readonly op?: unknown; readonly args?: unknown };
  if (typeof op !== 'string' || !Array.isArray(args)) throw problem('has a condition without op and args');
  const given = args as readonly unknown[];
  if (op === 'and' || op === 'or') {
    if (given.length < 2) throw problem(`has ${op} with fewer than two conditions`);
    return builder.count(depth, { op, args: given.map((each) => fromJson(builder, each, depth + 1)) });
  }
  if (op === 'not') return builder.count(depth, { op, args: [fromJson(builder, only(given, 1)[0], depth + 1)] });
  return builder.count(depth, predicateOf(builder, op, given));
}

function only(args: readonly unknown[], count: number): readonly unknown[] {
  if (args.length !== count) throw problem('has a condition with too many or too few arguments');
  return args;
}

function nameOf(value: unknown): string {
  const { property } = (typeof value === 'object' && value !== null ? value : {}) as { readonly property?: unknown };
  if (typeof property !== 'string') throw problem('has a condition whose first argument is not a property');
  return property;
}

function predicateOf(builder: Builder, op: string, args: readonly unknown[]): Condition {
  const name = nameOf(args[0]);
  if (op === 's_intersects') return { op, shape: builder.shape(name, only(args, 2)[1]) };
  const property = builder.property(name);
  if (op === 'isNull') {
    only(args, 1);
    return { op, property };
  }
  if (op === 'between') return { op, property, ...builder.range(property, only(args, 3)[1], args[2]) };
  const [, value] = only(args, 2);
  if (op === 'like') return { op, property, value: builder.pattern(property, value) };
  if (op === 'in' && Array.isArray(value) && value.length > 0) return { op, property, values: value.map((each: unknown) => builder.value(property, each)) };
  const comparison = COMPARISONS.find((each) => each === op);
  if (comparison === undefined) throw problem('has an operator that is not supported');
  return { op: comparison, property, value: builder.value(property, value) };
}

// --- Text ---------------------------------------------------------------------------------------------------------------

type Token =
  | { readonly kind: 'word' | 'quoted' | 'text' | 'sign'; readonly text: string; readonly at: number }
  | { readonly kind: 'number'; readonly text: string; readonly value: number; readonly at: number }
  | { readonly kind: 'end'; readonly text: ''; readonly at: number };

const TOKEN = /(?<word>[A-Za-z_]\w*)|"(?<quoted>[^"]+)"|'(?<text>(?:[^']|'')*)'|(?<number>[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)|(?<sign><>|<=|>=|[=<>(),])/y;
const SPACE = /\s*/y;

function* tokensOf(text: string): Generator<Token> {
  for (let at = 0; ;) {
    SPACE.lastIndex = at;
    at += SPACE.exec(text)?.[0].length ?? 0;
    if (at >= text.length) return;
    TOKEN.lastIndex = at;
    const found = TOKEN.exec(text);
    if (found === null) throw problem(`cannot be read at character ${at + 1}`);
    const { word, quoted, text: quotedText, number, sign } = found.groups ?? {};
    if (number !== undefined) yield { kind: 'number', text: number, value: Number(number), at };
    else if (word !== undefined) yield { kind: 'word', text: word, at };
    else if (quoted !== undefined) yield { kind: 'quoted', text: quoted, at };
    else if (sign !== undefined) yield { kind: 'sign', text: sign, at };
    else yield { kind: 'text', text: (quotedText ?? '').replaceAll("''", "'"), at };
    at += found[0].length;
  }
}

/** GeoJSON names of geometry types by their names in well-known text. */
const WKT_TYPES = new Map(Object.keys(SHAPES).map((type) => [type.toUpperCase(), type]));

/** Parses CQL2 text by recursive descent. */
class TextParser {
  readonly #tokens: readonly Token[];
  readonly #builder: Builder;
  readonly #length: number;
  #next = 0;

  constructor(text: string, builder: Builder) {
    this.#tokens = [...tokensOf(text)];
    this.#builder = builder;
    this.#length = text.length;
  }

  parse(): Condition {
    const condition = this.#or(1);
    if (this.#token().kind !== 'end') throw this.#unexpected('the end');
    return condition;
  }

  #token(): Token {
    return this.#tokens[this.#next] ?? { kind: 'end', text: '', at: this.#length };
  }

  #unexpected(expected: string): ApiError {
    return problem(`cannot be read at character ${this.#token().at + 1}, where ${expected} is expected`);
  }

  /** Consumes the next token and returns true if the token is the given keyword or sign. */
  #take(text: string): boolean {
    const token = this.#token();
    if (!(token.kind === 'word' ? token.text.toUpperCase() === text : token.kind === 'sign' && token.text === text)) return false;
    this.#next += 1;
    return true;
  }

  #expect(text: string): void {
    if (!this.#take(text)) throw this.#unexpected(text);
  }

  #or(depth: number): Condition {
    return this.#chain('or', depth, () => this.#chain('and', depth, () => this.#not(depth + 1)));
  }

  #chain(op: 'and' | 'or', depth: number, part: () => Condition): Condition {
    this.#builder.enter(depth);
    const args = [part()];
    while (this.#take(op.toUpperCase())) args.push(part());
    const [first] = args;
    return args.length === 1 && first !== undefined ? first : this.#builder.count(depth, { op, args });
  }

  #not(depth: number): Condition {
    this.#builder.enter(depth);
    if (this.#take('NOT')) return this.#builder.count(depth, { op: 'not', args: [this.#not(depth + 1)] });
    if (this.#take('(')) {
      const inner = this.#or(depth);
      this.#expect(')');
      return inner;
    }
    return this.#predicate(depth);
  }

  #predicate(depth: number): Condition {
    for (const value of [true, false]) if (this.#take(String(value).toUpperCase())) return this.#builder.count(depth, { op: 'literal', value });
    if (this.#take('S_INTERSECTS')) {
      this.#expect('(');
      const name = this.#name();
      this.#expect(',');
      const shape = this.#shape();
      this.#expect(')');
      return this.#builder.count(depth, { op: 's_intersects', shape: this.#builder.shape(name, shape) });
    }
    const property = this.#builder.property(this.#name());
    if (this.#take('IS')) {
      const isNegated = this.#take('NOT');
      this.#expect('NULL');
      return this.#negated(isNegated, depth, { op: 'isNull', property });
    }
    const isNegated = this.#take('NOT');
    return this.#negated(isNegated, depth, isNegated ? this.#advanced(property) : this.#advanced(property, 'comparisons'));
  }

  #negated(isNegated: boolean, depth: number, condition: Condition): Condition {
    const counted = this.#builder.count(depth, condition);
    return isNegated ? this.#builder.count(depth, { op: 'not', args: [counted] }) : counted;
  }

  /** Parses the rest of a condition after a property. @param more `comparisons`: comparison operators are allowed, too */
  #advanced(property: Property, more?: 'comparisons'): Condition {
    if (this.#take('BETWEEN')) {
      const low = this.#value();
      this.#expect('AND');
      return { op: 'between', property, ...this.#builder.range(property, low, this.#value()) };
    }
    if (this.#take('LIKE')) return { op: 'like', property, value: this.#builder.pattern(property, this.#value()) };
    if (this.#take('IN')) {
      this.#expect('(');
      const values = [this.#builder.value(property, this.#value())];
      while (this.#take(',')) values.push(this.#builder.value(property, this.#value()));
      this.#expect(')');
      return { op: 'in', property, values };
    }
    const op = more === undefined ? undefined : COMPARISONS.find((each) => this.#take(each));
    if (op === undefined) throw this.#unexpected('a comparison, between, in, like or is');
    return { op, property, value: this.#builder.value(property, this.#value()) };
  }

  #name(): string {
    const { kind, text } = this.#token();
    if (kind !== 'word' && kind !== 'quoted') throw this.#unexpected('a property');
    this.#next += 1;
    return text;
  }

  #value(): Scalar {
    const token = this.#token();
    if (token.kind !== 'text' && token.kind !== 'number') throw this.#unexpected('a number or a text in single quotes');
    this.#next += 1;
    return token.kind === 'number' ? token.value : token.text;
  }

  #shape(): unknown {
    if (this.#take('BBOX')) return { bbox: this.#list(() => this.#number()) };
    const type = WKT_TYPES.get(this.#token().text.toUpperCase());
    if (this.#token().kind !== 'word' || type === undefined) throw this.#unexpected('a geometry');
    this.#next += 1;
    this.#take('Z');
    const [depth = 0] = SHAPES[type] ?? [];
    return { type, coordinates: depth === 0 ? this.#list(() => this.#position())[0] : this.#nested(depth, type) };
  }

  #nested(depth: number, type: string): unknown[] {
    return this.#list(() => {
      if (depth > 1) return this.#nested(depth - 1, type);
      // The positions of a multipoint may be in parentheses.
      if (type !== 'MultiPoint' || !this.#take('(')) return this.#position();
      const position = this.#position();
      this.#expect(')');
      return position;
    });
  }

  #list<T>(element: () => T): T[] {
    this.#expect('(');
    const found = [element()];
    while (this.#take(',')) found.push(element());
    this.#expect(')');
    return found;
  }

  #position(): number[] {
    const found = [this.#number(), this.#number()];
    if (this.#token().kind === 'number') found.push(this.#number());
    return found;
  }

  #number(): number {
    const token = this.#token();
    if (token.kind !== 'number') throw this.#unexpected('a number');
    this.#next += 1;
    return token.value;
  }
}
