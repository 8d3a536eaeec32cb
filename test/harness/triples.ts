/**
 * Evaluates a small part of SPARQL for tests, without an endpoint. Supports `prefix`, `select` of variables over triples, property paths with `/` and `|`, and
 * nested `optional`. Requires `limit` and `offset`. Any other syntax is an error. Terms are texts, either `<iri>` or `"literal"` without its language tag.
 */

export type Triple = readonly [subject: string, predicate: string, object: string];
export type Solution = Readonly<Record<string, string>>;

type Path = { readonly iri: string } | { readonly sequence: readonly Path[] } | { readonly choice: readonly Path[] };
type Pattern = { readonly subject: string; readonly path: Path; readonly object: string } | { readonly optional: readonly Pattern[] };

const TYPE = '<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>';
/** Prefixes that the Turtle documents of the Ministry of Culture use without declaring them. */
const WELL_KNOWN: Readonly<Record<string, string>> = {
  rdf: 'http://www.w3.org/1999/02/22-rdf-syntax-ns#', rdfs: 'http://www.w3.org/2000/01/rdf-schema#', owl: 'http://www.w3.org/2002/07/owl#',
  dc: 'http://purl.org/dc/elements/1.1/', foaf: 'http://xmlns.com/foaf/0.1/',
};
const TOKEN = /<[^<>\s]*>|"(?:[^"\\]|\\.)*"(?:@[a-z-]+)?|\?\w+|@prefix|[A-Za-z0-9_]*:(?:[A-Za-z0-9_%-](?:[A-Za-z0-9_.%-]*[A-Za-z0-9_%-])?)?|[A-Za-z0-9]+|[.;,{}()/|]/g;

/** Splits a text into tokens. Comments are lines that begin with `#`. */
function tokensOf(text: string): string[] {
  const plain = text.replace(/^\s*#.*$/gm, '');
  const rest = plain.replace(TOKEN, '').trim();
  if (rest !== '') throw new Error(`expected a known token, found ${rest.slice(0, 60)}`);
  return plain.match(TOKEN) ?? [];
}

class Reader {
  readonly #tokens: readonly string[];
  readonly #prefixes: Map<string, string>;
  #at = 0;

  constructor(tokens: readonly string[], prefixes: Readonly<Record<string, string>>) {
    this.#tokens = tokens;
    this.#prefixes = new Map(Object.entries(prefixes));
  }

  get next(): string {
    return this.#tokens[this.#at] ?? '';
  }

  take(expected?: string): string {
    const token = this.next;
    if (token === '' || (expected !== undefined && token.toLowerCase() !== expected)) throw new Error(`expected ${expected ?? 'a token'}, found ${token === '' ? 'the end' : token}`);
    this.#at += 1;
    return token;
  }

  takeIf(token: string): boolean {
    if (this.next.toLowerCase() !== token) return false;
    this.#at += 1;
    return true;
  }

  prefix(): void {
    this.#prefixes.set(this.take().replace(/:$/, ''), this.take().slice(1, -1));
  }

  /** Reads a variable, an IRI or a literal. */
  term(): string {
    const token = this.take();
    if (/^[<?]/.test(token)) return token;
    if (token.startsWith('"')) return JSON.parse(`"${token.slice(1, token.lastIndexOf('"'))}"`.replace(/^"([\s\S]*)"$/, (_, inner: string) => `"\\"${inner}\\""`)) as string;
    if (token === 'a') return TYPE;
    const [prefix = '', name = ''] = token.split(/:(.*)/s);
    const base = this.#prefixes.get(prefix);
    if (base === undefined || !token.includes(':')) throw new Error(`expected a term, found ${token}`);
    return `<${base}${name}>`;
  }
}

/** Reads Turtle without blank nodes. Skips a predicate without an object, because a published example has such a predicate. */
export function readTurtle(text: string): Triple[] {
  const reader = new Reader(tokensOf(text), WELL_KNOWN);
  const triples: Triple[] = [];
  while (reader.next !== '') {
    if (reader.takeIf('@prefix')) {
      reader.prefix();
      reader.take('.');
      continue;
    }
    const subject = reader.term();
    do {
      const predicate = reader.term();
      if ([';', '.'].includes(reader.next)) continue;
      do triples.push([subject, predicate, reader.term()]);
      while (reader.takeIf(','));
    } while (reader.takeIf(';'));
    reader.take('.');
  }
  return triples;
}

export interface Query {
  readonly variables: readonly string[];
  readonly where: readonly Pattern[];
  readonly limit: number;
  readonly offset: number;
}

/** Parses a query. @throws Error for syntax that this evaluator does not support */
export function readQuery(text: string): Query {
  const reader = new Reader(tokensOf(text), {});
  while (reader.takeIf('prefix')) reader.prefix();
  reader.take('select');
  const variables: string[] = [];
  while (reader.next.startsWith('?')) variables.push(reader.take().slice(1));
  reader.take('where');
  const where = readGroup(reader);
  reader.take('limit');
  const limit = Number(reader.take());
  reader.take('offset');
  const offset = Number(reader.take());
  if (reader.next !== '') throw new Error(`expected the end, found ${reader.next}`);
  return { variables, where, limit, offset };
}

function readGroup(reader: Reader): Pattern[] {
  const patterns: Pattern[] = [];
  reader.take('{');
  while (!reader.takeIf('}')) {
    if (reader.takeIf('optional')) {
      patterns.push({ optional: readGroup(reader) });
      continue;
    }
    const subject = reader.term();
    do patterns.push({ subject, path: readPath(reader), object: reader.term() });
    while (reader.takeIf(';'));
    reader.takeIf('.');
  }
  return patterns;
}

function readPath(reader: Reader): Path {
  const part = (): Path => {
    if (!reader.takeIf('(')) return { iri: reader.term() };
    const inner = readPath(reader);
    reader.take(')');
    return inner;
  };
  const choice: Path[] = [];
  do {
    const sequence = [part()];
    while (reader.takeIf('/')) sequence.push(part());
    choice.push({ sequence });
  } while (reader.takeIf('|'));
  return { choice };
}

type Pairs = readonly (readonly [string, string])[];

function pairsOf(path: Path, triples: readonly Triple[]): Pairs {
  if ('iri' in path) return triples.flatMap(([subject, predicate, object]) => (predicate === path.iri ? [[subject, object] as const] : []));
  if ('choice' in path) return path.choice.flatMap((each) => pairsOf(each, triples));
  const joined = (before: Pairs, after: Pairs): Pairs => before.flatMap(([from, by]) => (
    after.flatMap(([start, to]) => (start === by ? [[from, to] as const] : []))
  ));
  return path.sequence.map((each) => pairsOf(each, triples)).reduce(joined);
}

function matched(patterns: readonly Pattern[], given: readonly Solution[], triples: readonly Triple[]): Solution[] {
  return patterns.reduce<readonly Solution[]>((solutions, pattern) => solutions.flatMap((solution) => {
    if ('optional' in pattern) {
      const more = matched(pattern.optional, [solution], triples);
      return more.length === 0 ? [solution] : more;
    }
    return pairsOf(pattern.path, triples).flatMap((pair) => {
      const found: Record<string, string> = { ...solution };
      const fits = [pattern.subject, pattern.object].every((term, index) => {
        const value = pair[index]!;
        if (!term.startsWith('?')) return term === value;
        return (found[term.slice(1)] ??= value) === value;
      });
      return fits ? [found] : [];
    });
  }), given) as Solution[];
}

/** Returns the values of the selected variables in each solution, without brackets and quotes. Unbound variables are missing. */
export function answerOf({ variables, where, limit, offset }: Query, triples: readonly Triple[]): Solution[] {
  return matched(where, [{}], triples).slice(offset, offset + limit)
    .map((solution) => Object.fromEntries(variables.flatMap((name) => (solution[name] === undefined ? [] : [[name, solution[name].slice(1, -1)]]))));
}
