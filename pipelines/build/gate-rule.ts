/**
 * The rule of the quality gate, without a database: which figures moved further from what is published than they may, and which values or sums
 * cannot be, whatever is published.
 */
import type { FieldFigures, Figures, IdentityFigures } from '../db/figures.ts';
import { identityName, sliceName, type Quantity, type TableGate } from '../contract/gate.ts';
import type { Relation } from '../contract/sql-files.ts';

/** A figure that is refused. */
export interface Offence {
  /** Section of the record in which it would be seen, and the table that holds it. */
  readonly section: string;
  readonly relation: Relation;
  readonly place: string;
  readonly figure: string;
  /** Null: nothing is published to compare with. */
  readonly before: number | null;
  readonly after: number | null;
  readonly limit: string;
}

/** A comune is compared by itself when so many of its rows are published; a province always. */
export const COMUNE_ROWS = 200;
const ROWS_LOST = 0.1;
const SHARE_LOST = 0.2;
const MOVED = 0.25;
/** One row alone is no pattern: a loss counts from so many on, or when nothing is left. */
const LOST_ROWS = 2;
/** Rare values are counted from so many on. */
const RARE = 20;
/** Where values became so many times more, most of them are new and have nothing to be compared with. */
const GROWN = 2;
/** Differences of shares are not exact in binary: 1 − 0.8 is less than 0.2. */
const ROUNDING = 1e-9;

export interface Comparison {
  readonly relation: Relation;
  readonly gate: TableGate;
  /** Null: nothing is published. */
  readonly before: readonly Figures[] | null;
  readonly after: readonly Figures[];
  /** Province of a comune today; empty: not listed. */
  readonly provinceOf: (comune: string) => string;
  /** What a place is called in messages; no comune: the province. */
  readonly nameOf: (province: string, comune: string | null) => string;
  /** Figures of these comuni together, for provinces that were not made of the same ones. */
  readonly among: (comuni: readonly string[]) => Promise<{ readonly before: readonly Figures[]; readonly after: readonly Figures[] }>;
}

/** What is refused, before it is said of which place and table. */
type Finding = Pick<Offence, 'figure' | 'before' | 'after' | 'limit'>;

/** What can be added up over comuni. */
interface Sum {
  readonly rows: number;
  readonly values: (field: string) => number;
  readonly outside: (field: string) => number;
  readonly identity: (name: string) => IdentityFigures;
}

/** @returns what is refused, slice by slice and province by province */
export async function compare(comparison: Comparison): Promise<Offence[]> {
  const { relation, gate, after, provinceOf, nameOf } = comparison;
  const before = comparison.before ?? [];
  const offences: Offence[] = [];
  for (const slice of [...new Set([...before, ...after].map((figures) => figures.slice))].sort()) {
    const was = comuniOf(before, slice);
    const now = comuniOf(after, slice);
    const offend = (province: string, comune: string | null, found: readonly Finding[]): void => {
      const place = [nameOf(province, comune), sliceName(gate, slice)].filter((part) => part !== '').join(', ');
      offences.push(...found.map((finding) => ({ section: gate.section, relation, place, ...finding })));
    };
    for (const province of [...new Set([...was.keys(), ...now.keys()].map(provinceOf))].sort()) {
      const mine = (comuni: ReadonlyMap<string, Figures>): Figures[] => [...comuni.values()].filter(({ comune }) => provinceOf(comune) === province);
      const [old, current] = [mine(was), mine(now)];
      offend(province, null, [...impossible(gate, sum(old), sum(current)), ...untypical(gate, wholeOf(before, slice, province), wholeOf(after, slice, province))]);
      if (old.length === 0) continue;
      const common = old.filter(({ comune }) => now.has(comune));
      offend(province, null, [
        ...rowsLost(sum(old).rows, sum(current).rows),
        ...sharesLost(gate, sum(common), sum(common.map(({ comune }) => now.get(comune)!))),
        ...(await movedInProvince(comparison, slice, province, old, current)),
      ]);
      for (const each of old.filter(({ rows }) => rows >= COMUNE_ROWS)) {
        const same = now.get(each.comune);
        offend(province, each.comune, same === undefined ? rowsLost(each.rows, 0) : [
          ...rowsLost(each.rows, same.rows), ...sharesLost(gate, sum([each]), sum([same])),
          ...quantities(gate).flatMap(([name, field]) => moved(name, field, each.fields[name]!, same.fields[name]!)),
        ]);
      }
    }
  }
  return offences;
}

function comuniOf(figures: readonly Figures[], slice: string): Map<string, Figures> {
  return new Map(figures.filter((each) => each.slice === slice && each.comune !== '').map((each) => [each.comune, each]));
}

function wholeOf(figures: readonly Figures[], slice: string, province: string): Figures | undefined {
  return figures.find((each) => each.slice === slice && each.province === province && each.comune === '');
}

function quantities(gate: TableGate): [string, Quantity][] {
  return Object.entries(gate.fields).filter((entry): entry is [string, Quantity] => entry[1].kind === 'quantity');
}

function sum(figures: readonly Figures[]): Sum {
  const add = (of: (each: Figures) => number): number => figures.reduce((total, each) => total + of(each), 0);
  return {
    rows: add(({ rows }) => rows),
    values: (field) => add(({ fields }) => fields[field]!.values),
    outside: (field) => add(({ fields }) => fields[field]!.outside),
    identity: (name) => ({ known: add(({ identities }) => identities[name]!.known), broken: add(({ identities }) => identities[name]!.broken) }),
  };
}

/** A tenth of the rows, and more than one of them. */
function rowsLost(before: number, after: number): Finding[] {
  const lost = before - after;
  if (lost < ROWS_LOST * before - ROUNDING || lost <= 0 || (lost < LOST_ROWS && after > 0)) return [];
  return [{ figure: 'rows', before, after, limit: percent(-ROWS_LOST) }];
}

/** Of rows in places that are there before and after. */
function sharesLost(gate: TableGate, before: Sum, after: Sum): Finding[] {
  if (before.rows === 0 || after.rows === 0) return [];
  return Object.entries(gate.fields).flatMap(([name, field]): Finding[] => {
    const [was, now] = [before.values(name), after.values(name)];
    const [share, left] = [was / before.rows, now / after.rows];
    const lost = share * after.rows - now;
    if (share - left >= SHARE_LOST - ROUNDING && (lost >= LOST_ROWS - ROUNDING || now === 0)) return [{ figure: `${name}, share of ${field.kind === 'truth' ? 'true' : 'non-null'}`, before: share, after: left, limit: `−${SHARE_LOST.toFixed(2)}` }];
    const keeps = field.kind === 'quantity' ? undefined : field.keeps;
    const few = field.kind === 'truth' ? 0 : RARE;
    if (keeps !== undefined && was >= few && now < keeps.share * was) return [{ figure: `${name}, ${field.kind === 'truth' ? 'rows that are true' : 'values'}`, before: was, after: now, limit: percent(keeps.share - 1) }];
    return [];
  });
}

/** Median and 95th percentile. */
function moved(name: string, { moves }: Quantity, before: FieldFigures, after: FieldFigures): Finding[] {
  if (before.values === 0 || after.values === 0 || after.values > GROWN * before.values) return [];
  const by = moves?.by ?? MOVED;
  return ([['median', before.median!, after.median!], ['95th percentile', before.p95!, after.p95!]] as const).flatMap(([figure, was, now]): Finding[] => {
    const far = Math.abs(now - was);
    // Said so that what is no number is far, too.
    if (far === 0 || far < by * Math.abs(was) - ROUNDING * Math.abs(was) || far < (moves?.step ?? 0)) return [];
    return [{ figure: `${name}, ${figure}`, before: was, after: now, limit: `±${Math.round(by * 100)} %${moves?.step === undefined ? '' : ` and ±${moves.step}`}` }];
  });
}

/** The province's quantiles where the comuni with values are the same; else those of the comuni that have some before and after. */
async function movedInProvince({ gate, before, after, among }: Comparison, slice: string, province: string, old: readonly Figures[], current: readonly Figures[]): Promise<Finding[]> {
  const wholes = { before: wholeOf(before!, slice, province), after: wholeOf(after, slice, province) };
  // What is kept of the province was measured when it had these comuni.
  const stands = before!.every((each) => each.slice !== slice || each.comune === '' || (each.province === province) === old.includes(each));
  const findings: Finding[] = [];
  for (const [name, field] of quantities(gate)) {
    const filled = (figures: readonly Figures[]): Set<string> => new Set(figures.filter(({ fields }) => fields[name]!.values > 0).map(({ comune }) => comune));
    const [was, now] = [filled(old), filled(current)];
    const common = [...was].filter((comune) => now.has(comune)).sort();
    if (common.length === 0) continue;
    const isSame = stands && common.length === was.size && common.length === now.size;
    const found = isSame ? wholes : await among(common).then((both) => ({ before: both.before.find((each) => each.slice === slice && each.comune === ''), after: both.after.find((each) => each.slice === slice && each.comune === '') }));
    findings.push(...moved(name, field, found.before!.fields[name]!, found.after!.fields[name]!));
  }
  return findings;
}

/** Values outside their bounds and rows whose parts do not make the whole, unless as many are published: they were accepted then. */
function impossible(gate: TableGate, before: Sum, after: Sum): Finding[] {
  const outside = Object.entries(gate.fields).flatMap(([name, field]): Finding[] => {
    const within = field.kind === 'truth' ? undefined : field.within;
    if (within === undefined || after.outside(name) <= before.outside(name)) return [];
    return [{ figure: `${name}, values outside ${within[0] ?? ''} … ${within[1] ?? ''}`.trimEnd(), before: before.rows === 0 ? null : before.outside(name), after: after.outside(name), limit: 'none' }];
  });
  const broken = (gate.identities ?? []).flatMap((identity) => {
    const name = identityName(identity);
    return brokenIdentity(`rows without ${name}`, identity.most, before.identity(name), after.identity(name));
  });
  return [...outside, ...broken];
}

/** More of the rows than may break it, and more than one, and a larger share than is published: that was accepted. */
export function brokenIdentity(figure: string, most: number, before: IdentityFigures, after: IdentityFigures): Finding[] {
  const share = ({ known, broken }: IdentityFigures): number => (known === 0 ? 0 : broken / known);
  if (after.broken < LOST_ROWS && after.broken < after.known) return [];
  if (share(after) <= most + ROUNDING || share(after) <= share(before) + ROUNDING) return [];
  return [{ figure: `${figure}, share`, before: before.known === 0 ? null : share(before), after: share(after), limit: most.toFixed(2) }];
}

/** Medians that no province has, unless what is published has one, too. */
function untypical(gate: TableGate, before: Figures | undefined, after: Figures | undefined): Finding[] {
  return quantities(gate).flatMap(([name, { typical }]): Finding[] => {
    const median = after?.fields[name]!.median ?? null;
    if (typical === undefined || median === null) return [];
    const isUsual = (value: number): boolean => value >= typical[0] && value <= typical[1];
    const was = before?.fields[name]!.median ?? null;
    if (isUsual(median) || (was !== null && !isUsual(was))) return [];
    return [{ figure: `${name}, median`, before: was, after: median, limit: `${typical[0]} … ${typical[1]}` }];
  });
}

function percent(share: number): string {
  return `${share < 0 ? '−' : ''}${Math.round(Math.abs(share) * 100)} %`;
}
