/** Formats the report of a year of nights, and checks the growth of the database. */
import { textTable } from '../../pipelines/text-table.ts';
import { median } from '../bench/shared.ts';
import type { Night } from './night.ts';

/** Number of nights after which pruning starts to remove data: one month and a margin. */
const WARM = 45;
/** Number of nights from which the usual size is determined. */
const WINDOW = 15;
/** Maximum growth of the system catalogue after `WARM` nights, as a factor. */
const MORE_RELATIONS = 1.05;
/** Maximum growth of the database, and of the ledger's rows, after `WARM` nights, as a factor. */
const MORE_BYTES = 1.25;
/** Maximum number of relations, bytes or ledger rows after a night of a long run, as a factor of the usual number. */
const MORE_IN_ONE_NIGHT = 1.2;
/** Maximum number of relations or bytes in a short run, as a factor of the number after the first publication. */
const MORE_AT_FIRST = 1.5;

/** Maximum length of a violation in the summary, in characters. The file of `--out` contains the complete text. */
const LONGEST = 600;

const mega = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;

export function lineOfNight({ night, day, kind, published, exits, codes, violations, size, seconds, figures }: Night): string {
  const parts = [
    String(night).padStart(3), day, kind.padEnd(44), published ? 'published' : 'unchanged', `exit ${exits.map((code) => code ?? 'killed').join(' ')}`, codes.join(' '),
    figures[0] ?? '', `${size.relations} relations`, mega(size.bytes), `${seconds.toFixed(1)} s`,
  ].filter((part) => part !== '');
  return [parts.join('  '), ...violations.map((violation) => `     VIOLATION: ${violation.slice(0, LONGEST)}`)].join('\n');
}

/**
 * Returns a line for each size that grew too much, and in a long run also for each size that was too large after a single night. A long run compares the median
 * of the last nights with the median of the nights after `WARM`. A short run compares the median of the other nights with the first night. Medians are used
 * because a single night may be larger: a publication keeps replaced rows until the next publication.
 */
export function growthViolations(nights: readonly Night[]): string[] {
  const isLong = nights.length > WARM + 2 * WINDOW;
  const early = isLong ? nights.slice(WARM, WARM + WINDOW) : nights.slice(0, 1);
  const late = nights.slice(isLong ? -WINDOW : 1);
  if (early.length === 0 || late.length === 0) return [];
  const bounds = [
    ['relations', isLong ? MORE_RELATIONS : MORE_AT_FIRST, (night: Night) => night.size.relations],
    ['bytes', isLong ? MORE_BYTES : MORE_AT_FIRST, (night: Night) => night.size.bytes],
    ['rows of the ledger', isLong ? MORE_BYTES : nights.length + 1, (night: Night) => night.size.ledgerRows],
  ] as const;
  return bounds.flatMap(([name, factor, of]) => {
    const [from, to, most] = [median(early.map(of)), median(late.map(of)), Math.max(...nights.map(of))];
    const grew = to <= factor * from ? [] : [`${name} grew from ${from} to ${to}, expected at most ${factor} times as much`];
    const jumped = !isLong || most <= MORE_IN_ONE_NIGHT * from ? [] : [`${name} rose to ${most} in one night, expected at most ${MORE_IN_ONE_NIGHT} times ${from}`];
    return [...grew, ...jumped];
  });
}

/** Returns the summary of all nights: the nights by kind, the sizes during the year, and the refusals. */
export function describeYear(nights: readonly Night[]): string {
  const kinds = [...new Set(nights.map(({ kind }) => kind))];
  const counts = kinds.map((kind) => {
    const own = nights.filter((night) => night.kind === kind);
    const [first] = own.filter(({ codes }) => codes.length > 0);
    return [own[0]?.group ?? '', kind, own.length, own.filter(({ published }) => published).length, first?.codes.join(' ') ?? '', own.filter(({ violations }) => violations.length > 0).length];
  });
  const points = [1, 60, 120, 180, 240, 300, nights.length].flatMap((night) => nights.find((each) => each.night === night) ?? []);
  const sizes = [...new Set(points)].map(({ night, size, seconds }) => [night, size.relations, mega(size.bytes), size.ledgerRows, seconds]);
  const refusals = nights.filter(({ group }) => group === 'corruption').map(({ night, kind, codes, figures }) => [night, kind, codes.join(' '), figures.length, figures[0] ?? '']);
  return [
    textTable(counts, ['group', 'kind of night', 'nights', 'published', 'code', 'violations']),
    textTable(sizes, ['night', 'relations', 'database', 'ledger rows', 'seconds']),
    textTable(refusals, ['night', 'corruption', 'code', 'figures', 'first figure']),
    `${nights.length} nights, ${nights.filter(({ published }) => published).length} publications, ${nights.filter(({ group, codes }) => group === 'corruption' && codes.length > 0).length} refusals of ${refusals.length} corruptions, `
    + `${nights.filter(({ violations }) => violations.some((each) => each.startsWith('false alarm'))).length} false alarms, ${nights.filter(({ violations }) => violations.length > 0).length} nights with violations`,
  ].join('\n\n');
}
