/**
 * Decides which statistics of provinces, comuni and whole tables the quality gate refuses. Needs no database. A limit bounds either the change of a statistic
 * from its published value, or the statistic itself.
 */
import { QUANTILES, sumOf, WHOLE, type Changes, type FieldFigures, type Figures, type IdentityFigures, type Quantile } from '../db/figures.ts';
import { identityName, sliceName, type FieldGate, type Quantity, type TableGate } from '../contract/gate.ts';
import type { Relation } from '../contract/sql-files.ts';

/** A statistic that the quality gate refuses. */
export interface Violation {
  /** Section to which the table of the statistic belongs; empty for a layer. */
  readonly section: string;
  readonly relation: Relation;
  readonly place: string;
  readonly figure: string;
  /** Published value; null if there is none. */
  readonly before: number | null;
  readonly after: number | null;
  readonly limit: string;
}

/** Minimum number of published rows for comparing a comune. A province is always compared. */
const COMUNE_ROWS = 200;
const ROWS_LOST = 0.1;
const SHARE_LOST = 0.2;
const MOVED = 0.25;
/** Minimum number of lost or violating rows for a refusal, unless no other row is left. */
const LOST_ROWS = 2;
/** For fields with few values: minimum number of published values for comparing the number of values. */
const RARE = 20;
/** Maximum growth of the number of values for comparing quantiles, as a factor. Above this factor, most values have no published value to compare with. */
const GROWN = 2;
/**
 * Minimum number of values for comparing a quantile by `CHANGED`, `CHANGED_SHARE` and `DEVIATIONS`. In smaller samples, two or three values determine the 95th
 * percentile. For example, the correct removal of two of 80 roofs moved the percentile from 478 to 1,469 m².
 */
const ENOUGH = 50;
/**
 * Minimum number and share of changed values for comparing quantiles. A nightly update changes 1 to 50 parcels. A corrupt file changes most rows.
 */
const CHANGED = 5;
const CHANGED_SHARE = 0.05;
/**
 * Minimum share of changed values for comparing quantiles of fewer than `ENOUGH` values. For example, this limit detects incomes multiplied by 10 in
 * a province with six comuni.
 */
const FEW_CHANGED = 0.5;
/**
 * Limit for the net number of values that cross a quantile in one direction, in standard deviations. If the distribution is the same, changed values cross a
 * quantile in both directions. The net number then has a standard deviation of √(2 × changed × p × (1 − p)). By chance, the net number exceeds four standard
 * deviations once in 15,000 comparisons. Three standard deviations would be exceeded once in 370, which means a false alarm each year.
 */
const DEVIATIONS = 4;
/** Tolerance for rounding errors of shares. In floating-point arithmetic, 1 − 0.8 is less than 0.2. */
const ROUNDING = 1e-9;

export interface Comparison {
  readonly relation: Relation;
  readonly gate: TableGate;
  /** Statistics of the published table; empty if nothing is published. */
  readonly before: readonly Figures[];
  readonly after: readonly Figures[];
  /** Returns the current province of a comune; empty if the comune is not in ISTAT's list. */
  readonly provinceOf: (comune: string) => string;
  /** Returns the name of a place for messages. Without a comune, returns the name of the province. */
  readonly nameOf: (province: string, comune: string | null) => string;
  /** Measures several comuni as one place. Called for a province if its comuni changed, or if other comuni than before have values of a field. */
  readonly among: (comuni: readonly string[]) => Promise<{ readonly before: readonly Figures[]; readonly after: readonly Figures[] }>;
  /** Compares the old and new values of a field as multisets. Called only if a quantile exceeds its limit. @param comuni null for all comuni */
  readonly changes: (field: string, comuni: readonly string[] | null) => Promise<readonly Changes[]>;
}

/** A statistic of a place, and the condition for refusing the new value. */
interface Limit {
  readonly figure: string;
  readonly limit: string;
  /** Returns the statistic of a place; null if the place has no such statistic. */
  readonly of: (place: Figures) => number | null;
  readonly refuses: (before: Figures, after: Figures) => boolean;
}

interface QuantileLimit extends Limit {
  readonly quantile: Quantile;
}

/** A province or comune, in one slice of a table. */
interface GatedPlace {
  readonly slice: string;
  readonly province: string;
  /** Code of the comune; null for the whole province; `WHOLE` for the whole table. */
  readonly comune: string | null;
}

/** Returns the limits of a table, grouped by the places to which the limits apply. */
function limitsOf(gate: TableGate) {
  const fields = Object.entries(gate.fields);
  return {
    quantities: fields.flatMap(([name, field]) => (field.kind === 'quantity' ? [{ name, limits: quantiles(name, field) }] : [])),
    shares: fields.flatMap(([name, field]) => filled(name, field)),
    gains: fields.flatMap(([name, field]) => gained(name, field)),
    bounds: [
      ...fields.flatMap(([name, field]) => outside(name, field)),
      ...(gate.identities ?? []).map((each) => broken(`rows that violate ${identityName(each)}`, identityName(each), each.most)),
      ...fields.flatMap(([name, field]) => typical(name, field)),
    ],
    answers: (gate.queries ?? []).map(({ name, most }) => broken(name, name, most)),
  };
}

/** Returns the violations of a table's limits, slice by slice and province by province. */
export async function compare({ relation, gate, before, after, provinceOf, nameOf, among, changes }: Comparison): Promise<Violation[]> {
  const { quantities, shares, gains, bounds, answers } = limitsOf(gate);
  const explained = explaining(changes);
  const violations: Violation[] = [];
  const hold = (limits: readonly Limit[], { slice, province, comune }: GatedPlace, from: Figures, to: Figures): void => {
    const place = [nameOf(province, gate.by === 'whole' ? WHOLE : comune), sliceName(gate, slice)].filter((part) => part !== '').join(', ');
    for (const { figure, limit, of, refuses } of limits) {
      if (refuses(from, to)) violations.push({ section: gate.section, relation, place, figure, before: of(from), after: of(to), limit });
    }
  };
  for (const slice of [...new Set([...before, ...after].map((figures) => figures.slice))].sort()) {
    const was = comuniOf(before, slice);
    const now = comuniOf(after, slice);
    for (const province of [...new Set([...was.keys(), ...now.keys()].map(provinceOf))].sort()) {
      const mine = (comuni: ReadonlyMap<string, Figures>): Figures[] => [...comuni.values()].filter(({ comune }) => provinceOf(comune) === province);
      const [old, current] = [mine(was), mine(now)];
      const [whole, wholeNow] = [combined(gate, old, find(before, slice, province)), combined(gate, current, find(after, slice, province))];
      hold([...bounds, ROWS], { slice, province, comune: null }, whole, wholeNow);
      // Only comuni that have rows before and after the change are compared.
      const common = old.filter(({ comune }) => now.has(comune));
      const commonNow = common.flatMap(({ comune }) => now.get(comune) ?? []);
      hold([...shares, ...gains], { slice, province, comune: null }, combined(gate, common), combined(gate, commonNow));
      // True if the stored statistics of the province were measured with the same comuni.
      const isUnchanged = before.every((each) => each.slice !== slice || each.comune === '' || (each.province === province) === old.includes(each));
      for (const { name, limits } of quantities) {
        const had = old.filter((place) => valuesOf(place, name) > 0);
        const have = new Set(current.filter((place) => valuesOf(place, name) > 0).map(({ comune }) => comune));
        const both = had.map(({ comune }) => comune).filter((comune) => have.has(comune)).sort();
        if (both.length === 0) continue;
        const isSame = isUnchanged && both.length === had.length && both.length === have.size;
        const measured = isSame ? null : await among(both);
        const [from, to] = measured === null ? [whole, wholeNow] : [find(measured.before, slice), find(measured.after, slice)];
        const moved = limits.filter(({ refuses }) => refuses(from, to));
        hold(await explained.not(moved, name, { slice, province, comune: '' }, isSame ? null : both), { slice, province, comune: null }, from, to);
      }
      // A table without places was compared above as a single place.
      for (const each of gate.by === 'whole' ? [] : old.filter(({ rows }) => rows >= COMUNE_ROWS)) {
        const { comune } = each;
        const current = now.get(comune) ?? NOTHING;
        hold([ROWS, ...shares], { slice, province, comune }, each, current);
        for (const { name, limits } of quantities) {
          const moved = limits.filter(({ refuses }) => refuses(each, current));
          hold(await explained.not(moved, name, { slice, province, comune }, null), { slice, province, comune }, each, current);
        }
      }
    }
  }
  for (const each of after) if (each.province === WHOLE) hold(answers, { slice: each.slice, province: '', comune: WHOLE }, find(before, each.slice, WHOLE), each);
  return violations;
}

type PlaceOfSlice = Pick<Changes, 'slice' | 'province' | 'comune'>;

/**
 * Checks whether a quantile that exceeds its limit moved with the distribution of the values, and not by chance. The values of a field are compared once for
 * all places.
 */
function explaining(changes: Comparison['changes']): {
  /** Returns the exceeded limits for which the distribution of the values moved. */
  not(moved: readonly QuantileLimit[], field: string, place: PlaceOfSlice, comuni: readonly string[] | null): Promise<QuantileLimit[]>;
} {
  const known = new Map<string, Promise<readonly Changes[]>>();
  return {
    async not(moved, field, { slice, province, comune }, comuni) {
      if (moved.length === 0) return [];
      const key = JSON.stringify([field, comuni]);
      const asked = known.get(key) ?? changes(field, comuni);
      known.set(key, asked);
      const found = (await asked).find((each) => each.slice === slice && each.province === province && each.comune === comune);
      return found === undefined ? [] : moved.filter(({ quantile }) => isMovement(found, quantile));
    },
  };
}

/**
 * Returns whether the distribution of the values moved. Returns false if too few values changed, or if chance may explain how many values crossed the quantile.
 */
function isMovement({ before, after, changed, crossed }: Changes, quantile: Quantile): boolean {
  const most = Math.max(before, after);
  // At most one of two values can cross the median. A change of all values therefore also counts as a movement.
  if (Math.min(before, after) < ENOUGH) return changed >= FEW_CHANGED * most && (crossed[quantile] >= LOST_ROWS - ROUNDING || changed >= most);
  const share = QUANTILES[quantile];
  return changed >= Math.max(CHANGED, CHANGED_SHARE * most) && crossed[quantile] > DEVIATIONS * Math.sqrt(2 * changed * share * (1 - share));
}

/** Statistics of a place without rows. */
const NOTHING: Figures = { slice: '', province: '', comune: '', rows: 0, fields: {}, identities: {}, windows: null };

function fieldOf({ fields }: Figures, name: string): FieldFigures {
  return fields[name] ?? { values: 0, median: null, p95: null, outside: 0 };
}

function identityOf({ identities }: Figures, name: string): IdentityFigures {
  return identities[name] ?? { known: 0, broken: 0 };
}

function valuesOf(place: Figures, name: string): number {
  return fieldOf(place, name).values;
}

function comuniOf(figures: readonly Figures[], slice: string): Map<string, Figures> {
  return new Map(figures.filter((each) => each.slice === slice && each.comune !== '').map((each) => [each.comune, each]));
}

/** Returns the statistics of a whole province in a slice. Without `province`, returns the statistics of the only province in the slice. */
function find(figures: readonly Figures[], slice: string, province?: string): Figures {
  return figures.find((each) => each.slice === slice && each.comune === '' && each.province === (province ?? each.province)) ?? NOTHING;
}

/** Adds up the statistics of places. Quantiles cannot be added and are taken from `measured`. */
function combined(gate: TableGate, places: readonly Figures[], measured: Figures = NOTHING): Figures {
  const { rows, fields, identities } = sumOf(gate, places);
  const withQuantiles = Object.entries(fields).map(([name, { values, outside }]) => [name, { ...fieldOf(measured, name), values, outside }] as const);
  return { ...measured, rows, fields: Object.fromEntries(withQuantiles), identities };
}

function isPattern(lost: number, left: number): boolean {
  return lost >= LOST_ROWS - ROUNDING || left === 0;
}

/** Refuses the loss of a tenth of the rows or more, unless only one row is lost and other rows remain. */
const ROWS: Limit = {
  figure: 'rows', limit: percent(-ROWS_LOST), of: ({ rows }) => rows,
  refuses: ({ rows: before }, { rows: after }) => before > after && before - after >= ROWS_LOST * before - ROUNDING && isPattern(before - after, after),
};

/**
 * Refuses a decrease of the share of rows with a value (or of true rows) by 0.2 or more. Accepts the decrease if fewer than two values are lost and other
 * values remain. For a field with `keeps`, also refuses the loss of too large a share of the values.
 */
function filled(name: string, field: FieldGate): Limit[] {
  const isTruth = field.kind === 'truth';
  const shareOf = shareOfValues(name);
  const share: Limit = {
    figure: `${name}, share of ${isTruth ? 'true' : 'non-null'}`, limit: `−${SHARE_LOST.toFixed(2)}`, of: shareOf,
    refuses: (before, after) => shareOf(before) - shareOf(after) >= SHARE_LOST - ROUNDING
      && isPattern(shareOf(before) * after.rows - valuesOf(after, name), valuesOf(after, name)),
  };
  const keeps = field.kind === 'quantity' ? undefined : field.keeps;
  if (keeps === undefined) return [share];
  return [share, {
    figure: `${name}, ${isTruth ? 'rows that are true' : 'values'}`, limit: percent(keeps.share - 1), of: (place) => valuesOf(place, name),
    refuses: (before, after) => after.rows > 0 && !share.refuses(before, after)
      && valuesOf(before, name) >= (isTruth ? 0 : RARE) && valuesOf(after, name) < keeps.share * valuesOf(before, name),
  }];
}

function shareOfValues(name: string): (place: Figures) => number {
  return (place) => (place.rows === 0 ? NaN : valuesOf(place, name) / place.rows);
}

/** Refuses a large increase in the share of rows with a value, if the place already had values. */
function gained(name: string, field: FieldGate): Limit[] {
  const gains = field.kind === 'presence' ? field.gains : undefined;
  if (gains === undefined) return [];
  const shareOf = shareOfValues(name);
  return [{
    figure: `${name}, share of non-null`, limit: `+${gains.share.toFixed(2)}`, of: shareOf,
    refuses: (before, after) => valuesOf(before, name) > 0 && shareOf(after) - shareOf(before) >= gains.share - ROUNDING,
  }];
}

/** Returns the limits of the median and the 95th percentile. */
function quantiles(name: string, { moves }: Quantity): QuantileLimit[] {
  const { by = MOVED, step } = moves ?? {};
  return ([['median', 'median'], ['p95', '95th percentile']] as const).map(([key, figure]) => ({
    quantile: key, figure: `${name}, ${figure}`, limit: `±${Math.round(by * 100)} %${step === undefined ? '' : ` and ±${step}`}`, of: (place) => fieldOf(place, name)[key],
    refuses: (before, after) => {
      const [was, now] = [fieldOf(before, name), fieldOf(after, name)];
      if (was.values === 0 || now.values === 0 || now.values > GROWN * was.values) return false;
      const from = was[key] ?? NaN;
      const far = Math.abs((now[key] ?? NaN) - from);
      // Written as a negation, so that NaN is refused too.
      return !(far === 0 || far < (by - ROUNDING) * Math.abs(from) || far < (step ?? 0));
    },
  }));
}

/** Refuses a place that has more values outside the bounds than in the published table. Published values were accepted earlier. */
function outside(name: string, field: FieldGate): Limit[] {
  const within = field.kind === 'truth' ? undefined : field.within;
  if (within === undefined) return [];
  return [{
    figure: `${name}, values outside ${within[0] ?? ''} … ${within[1] ?? ''}`.trimEnd(), limit: 'none',
    of: (place) => (place.rows === 0 ? null : fieldOf(place, name).outside),
    refuses: (before, after) => fieldOf(after, name).outside > fieldOf(before, name).outside,
  }];
}

/** Refuses a median outside its bounds, unless the published median is also outside. */
function typical(name: string, field: FieldGate): Limit[] {
  const usual = field.kind === 'quantity' ? field.typical : undefined;
  if (usual === undefined) return [];
  const of = (place: Figures): number | null => fieldOf(place, name).median;
  const isUsual = (value: number | null): boolean => value === null || (value >= usual[0] && value <= usual[1]);
  return [{
    figure: `${name}, median`, limit: `${usual[0]} … ${usual[1]}`, of, refuses: (before, after) => !isUsual(of(after)) && isUsual(of(before)),
  }];
}

/**
 * Refuses a place if at least two rows, or all rows, violate an identity. The share of violating rows must also exceed both the allowed share and the published
 * share.
 */
function broken(figure: string, identity: string, most: number): Limit {
  const share = (place: Figures): number | null => {
    const { known, broken: count } = identityOf(place, identity);
    return known === 0 ? null : count / known;
  };
  return {
    figure: `${figure}, share`, limit: most.toFixed(2), of: share,
    refuses: (before, after) => {
      const { known, broken: count } = identityOf(after, identity);
      return isPattern(count, known - count) && (share(after) ?? 0) > Math.max(most, share(before) ?? 0) + ROUNDING;
    },
  };
}

function percent(share: number): string {
  return `${share < 0 ? '−' : ''}${Math.round(Math.abs(share) * 100)} %`;
}
