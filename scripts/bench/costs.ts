/** Compares the costs of refreshes with the costs of the full load. */
import { ofSteps, rounded, stepOf, type Measurement } from './history.ts';
import { megabytes, number, percent } from './shared.ts';

/** Costs of one refresh. */
export interface Cost {
  readonly name: string;
  readonly seconds: number;
  readonly cpuSeconds: { readonly node: number; readonly server: number | null };
  readonly walBytes: number;
  readonly tables: ChangedTables;
}

export interface ChangedTables {
  /** Published tables in which rows were replaced. */
  readonly patched: readonly string[];
  /** Published tables that were built completely. */
  readonly rebuilt: readonly string[];
}

/** Names of a published table in the ledger. */
export interface TableNames {
  /** Name that the ledger gives to the content. The name changes when rows change. */
  readonly partition: string;
  /** Name of the table that contains the rows. */
  readonly heldIn: string;
}

/** Maximum number of rebuilt tables whose names are printed. If more tables are rebuilt, only their number is printed. */
const FEW = 5;

/** Lists the relations that a refresh changed. @param before names of the published tables before the refresh, by region and relation: `14 core.parcel` */
export function changedTables(before: ReadonlyMap<string, TableNames>, after: ReadonlyMap<string, TableNames>): ChangedTables {
  const changed = [...after].filter(([key, { partition }]) => before.get(key)?.partition !== partition);
  const isPatched = ([key, { heldIn }]: readonly [string, TableNames]): boolean => before.get(key)?.heldIn === heldIn;
  const relationsOf = (tables: typeof changed): string[] => tables.map(([key]) => key.split(' ').at(-1) ?? key);
  return { patched: relationsOf(changed.filter(isPatched)), rebuilt: relationsOf(changed.filter((table) => !isPatched(table))) };
}

/** Returns the CPU time of Node and of the server in seconds; null if the CPU time of the server is not readable. */
export function cpuOf({ cpuSeconds: { node, server } }: Pick<Cost, 'cpuSeconds'>): number | null {
  return server === null ? null : node + server;
}

/** Returns the CPU time of Node and of the server as two figures of a measurement. */
export function cpuFigures(name: string, { cpuSeconds: { node, server } }: Pick<Cost, 'cpuSeconds'>): (readonly [string, number | null])[] {
  return [[`${name}: CPU of Node, s`, rounded(node)], [`${name}: CPU of the server, s`, server === null ? null : rounded(server)]];
}

/** Describes the costs of a refresh in one line. @param load costs of the full load */
export function describeCost(cost: Cost, load: Cost): string {
  const { name, seconds, cpuSeconds: { node, server }, walBytes, tables: { patched, rebuilt } } = cost;
  return [
    `  ${name}: CPU ${number(cpuOf(cost), 1)} s (Node ${number(node, 1)}, server ${number(server, 1)}), ${share(cpuOf(cost), cpuOf(load))} of the load`,
    `WAL ${megabytes(walBytes)}, ${share(walBytes, load.walBytes)}`, `${number(seconds, 1)} s, ${share(seconds, load.seconds)}`,
    `${patched.length} tables patched, ${rebuilt.length} rebuilt${rebuilt.length > 0 && rebuilt.length <= FEW ? ` (${rebuilt.join(', ')})` : ''}`,
  ].join('; ');
}

function share(part: number | null, whole: number | null): string {
  return part !== null && whole !== null && part < whole / 10 ? `${number((part / whole) * 100, 1)} %` : percent(part, whole);
}

/** Returns the measurement of a full load and of refreshes. CPU, WAL and duration of the measurement are those of the full load. */
export function compareCosts(size: number, load: Cost, refreshes: readonly Cost[]): Measurement {
  const shareOf = (part: number | null, whole: number | null): number | null => (part === null || whole === null ? null : rounded((part / whole) * 100));
  const figures = refreshes.flatMap((cost) => [
    [`${cost.name}: CPU, % of the load`, shareOf(cpuOf(cost), cpuOf(load))],
    ...cpuFigures(cost.name, cost),
    [`${cost.name}: WAL, % of the load`, shareOf(cost.walBytes, load.walBytes)],
    [`${cost.name}: duration, % of the load`, shareOf(cost.seconds, load.seconds)],
    [`${cost.name}: tables patched in place`, cost.tables.patched.length],
    [`${cost.name}: tables rebuilt`, cost.tables.rebuilt.length],
  ] as const);
  const steps = [stepOf(load.name, load.seconds, size), ...refreshes.map(({ name, seconds }) => stepOf(name, seconds, null))];
  const { node, server } = load.cpuSeconds;
  return {
    ...ofSteps(size, steps, Object.fromEntries(figures)),
    seconds: rounded(load.seconds), cpuSeconds: { node: rounded(node), server: server === null ? null : rounded(server) }, walBytes: load.walBytes,
  };
}

/** Returns the slope of the regression line through values at equal distances; 0 for fewer than two values. */
export function slopeOf(values: readonly number[]): number {
  const middle = (values.length - 1) / 2;
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const [above, below] = values.reduce(([up, down], value, at) => [up + (at - middle) * (value - mean), down + (at - middle) ** 2], [0, 0]);
  return below === 0 ? 0 : above / below;
}
