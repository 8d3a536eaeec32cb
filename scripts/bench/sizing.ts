/** Computes time, disk and memory of a load of Italy on several machines from the measured loads, for `docs/sizing.md`. */
import { join } from 'node:path';
import { ROOT } from '../../pipelines/config.ts';
import { duration, group } from '../../pipelines/progress.ts';
import { isSameMachine, latestOf, shortState, stateOf, statesOf, type Line } from './history.ts';
import { perDecade, STEEP } from './slopes.ts';

export const SIZING_PAGE = join(ROOT, 'docs', 'sizing.md');

/** Parcels and addresses in the publishers' files of 2026. */
export const ITALY = { parcels: 86_750_000, addresses: 27_400_000, regions: 20, largest: 9_700_000 } as const;
const OTHER = (ITALY.parcels - ITALY.largest) / (ITALY.regions - 1);

export interface Machine {
  readonly name: string;
  readonly nodes: number;
  /** Cores of each node. */
  readonly cores: number;
}

const MACHINES: readonly Machine[] = [
  { name: 'laptop, 8 cores', nodes: 1, cores: 8 },
  { name: 'server, 16 cores', nodes: 1, cores: 16 },
  { name: '4 Citus nodes of 8 cores', nodes: 4, cores: 8 },
];

/** Model derived from the two largest loads of one state on one machine. A value is null if it needs a missing measurement. */
export interface Model {
  /** The loads, the smaller first. */
  readonly loads: readonly [Line, Line];
  /** CPU seconds of a parcel at the larger size, in total and in Node, and their growth for ten times as many parcels, at least 1. */
  readonly cpu: number | null;
  readonly nodeCpu: number | null;
  readonly cpuGrowth: number;
  /** Busy share of the cores, at most 1. */
  readonly busy: number | null;
  /** Seconds of a parcel in steps that cannot run in parallel within a region, and their growth. */
  readonly chain: number;
  readonly chainGrowth: number;
  /** Bytes of each additional parcel. */
  readonly published: number | null;
  readonly after: number | null;
  readonly wal: number | null;
  /** Temporary bytes of a parcel while its region is loaded. */
  readonly passing: number | null;
  /** MiB of one lane (a release, region or table in progress), and their growth for ten times as many parcels, at least 1. */
  readonly nodeMiB: number | null;
  readonly nodeMiBGrowth: number;
  readonly serverMiB: number | null;
  readonly serverMiBGrowth: number;
}

export interface Size {
  readonly seconds: number | null;
  /** The limit that determines the time. */
  readonly boundBy: string;
  /** Bytes on one node. */
  readonly published: number | null;
  readonly after: number | null;
  readonly peak: number | null;
  readonly wal: number | null;
  /** MiB on one node. */
  readonly node: number | null;
  readonly server: number | null;
}

/** @returns null if no state has loads of two sizes on one machine */
export function modelOf(history: readonly Line[]): Model | null {
  for (const state of statesOf(history).reverse()) {
    const loads = latestOf(history, state).filter(({ bench, size }) => bench === 'load' && size !== null).sort((a, b) => (a.size ?? 0) - (b.size ?? 0));
    const larger = loads.at(-1);
    const smaller = loads.filter((each) => larger !== undefined && isSameMachine(each, larger)).at(-2);
    if (larger !== undefined && smaller !== undefined) return modelFrom(smaller, larger);
  }
  return null;
}

function modelFrom(smaller: Line, larger: Line): Model {
  const [fewer, parcels] = [smaller.size ?? 0, larger.size ?? 0];
  const lanes = larger.figures['parallel'] ?? 1;
  const growth = (of: (line: Line) => number | null): number => {
    const [a, b] = [of(smaller), of(larger)];
    return a === null || b === null || a <= 0 || b <= 0 ? 1 : Math.max(1, perDecade({ size: fewer, value: a }, { size: parcels, value: b }));
  };
  // Returns the growth of a value per parcel, which should be 1, for ten times as many parcels.
  const fixedGrowth = (of: (line: Line) => number | null): number => growth((line) => over(of(line), 1 / (line.size ?? 1)));
  const marginal = (of: (line: Line) => number | null): number | null => over(minus(of(larger), of(smaller)), parcels - fewer);
  const cpu = ({ cpuSeconds: { node, server } }: Line): number | null => (node === null || server === null ? null : node + server);
  const all = cpu(larger);
  const { published, after, peak } = larger.diskBytes;
  return {
    loads: [smaller, larger],
    cpu: over(all, parcels),
    nodeCpu: over(larger.cpuSeconds.node, parcels),
    cpuGrowth: growth(cpu),
    busy: all === null || larger.seconds === null ? null : Math.min(1, all / (larger.seconds * larger.machine.cores)),
    chain: chainOf(larger) / parcels,
    chainGrowth: growth(chainOf),
    published: published === null ? null : marginal(({ diskBytes }) => diskBytes.published),
    after: after === null ? null : marginal(({ diskBytes }) => diskBytes.after),
    wal: marginal(({ walBytes }) => walBytes),
    passing: peak === null || after === null ? null : Math.max(0, peak - after) / parcels,
    nodeMiB: over(larger.peakMiB.node, lanes),
    nodeMiBGrowth: fixedGrowth(({ peakMiB }) => peakMiB.node),
    serverMiB: over(larger.peakMiB.server, lanes),
    serverMiBGrowth: fixedGrowth(({ peakMiB }) => peakMiB.server),
  };
}

function over(value: number | null, by: number): number | null {
  return value === null ? null : value / by;
}

function minus(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : a - b;
}

/** Returns the seconds of the sequential steps of a region: its cadastre, its parcels, its longest section, and the steps to publication. */
export function chainOf({ steps }: Line): number {
  const secondsOf = (name: string): number => steps.find((step) => step.name === name)?.seconds ?? 0;
  const longest = Math.max(0, ...steps.filter(({ name }) => name.startsWith('section.')).map(({ seconds }) => seconds ?? 0));
  return ['stage ade_cadastre', 'load ade_cadastre', 'core.parcel', 'check', 'gate', 'publish'].reduce((sum, name) => sum + secondsOf(name), longest);
}

/** Computes the size of Italy on a machine. */
export function sizeOf(model: Model, { nodes, cores }: Machine): Size {
  const measured = model.loads[1].size ?? 1;
  const grown = (growth: number, parcels: number): number => growth ** Math.log10(parcels / measured);
  const work = (each: number | null): number | null =>
    each === null ? null : each * (ITALY.largest * grown(model.cpuGrowth, ITALY.largest) + (ITALY.parcels - ITALY.largest) * grown(model.cpuGrowth, OTHER));
  const { busy } = model;
  const bounds: readonly (readonly [name: string, seconds: number | null])[] = [
    ['CPU of all nodes', busy === null ? null : over(work(model.cpu), nodes * cores * busy)],
    ['CPU of Node, on one node', busy === null ? null : over(work(model.nodeCpu), cores * busy)],
    ['the largest region', model.chain * ITALY.largest * grown(model.chainGrowth, ITALY.largest)],
  ];
  const known = bounds.flatMap(([name, seconds]) => (seconds === null ? [] : [{ name, seconds }]));
  const longest = known.reduce((a, b) => (b.seconds > a.seconds ? b : a), { name: '', seconds: 0 });
  const italy = (each: number | null): number | null => over(each, 1 / ITALY.parcels);
  // Tables with a row for each parcel are distributed; every node has the layers and lists.
  const spread = over(italy(model.published), nodes);
  const everywhere = minus(italy(model.after), italy(model.published));
  const after = spread === null || everywhere === null ? null : spread + everywhere;
  const passing = over(model.passing, nodes / (ITALY.largest + (Math.min(cores, ITALY.regions) - 1) * OTHER));
  const memory = (each: number | null, growth: number): number | null => (each === null ? null : each * cores * grown(growth, ITALY.largest));
  return {
    seconds: known.length < bounds.length ? null : longest.seconds,
    boundBy: longest.name,
    published: spread, after, peak: after === null || passing === null ? null : after + passing,
    wal: over(italy(model.wal), nodes),
    node: memory(model.nodeMiB, model.nodeMiBGrowth),
    server: memory(model.serverMiB, model.serverMiBGrowth),
  };
}

/** @returns the content of `docs/sizing.md` */
export function sizingPage(history: readonly Line[]): string {
  const model = modelOf(history);
  const head = `# Size of Italy

Written by \`npm run bench -- sizing\` from \`scripts/bench/history.jsonl\`. A test compares the page with the script. Change the script or the history, not this page.
`;
  if (model === null) return `${head}\nNo state of the code has loads of two sizes on one machine: \`npm run bench -- load 20000 200000\` measures them.\n`;
  const [, larger] = model.loads;
  const measured = latestOf(history, stateOf(larger)).filter((line) => line.bench === 'load' && isSameMachine(line, larger)).sort((a, b) => (a.size ?? 0) - (b.size ?? 0));
  const { machine, versions, settings } = larger;
  const sizes = MACHINES.map((each) => sizeOf(model, each));
  const row = (name: string, cell: (size: Size) => string, formula: string): string => `| ${[name, ...sizes.map(cell), 'extrapolated', formula].join(' | ')} |`;
  return `${head}
The first two tables were **measured**. The third table is **extrapolated** from them by the formula in its last column, and is only as certain as the formula.

## Measured

Loads of a synthetic region about as dense as Italy, all sources and all sections, into an empty database, at commit ${shortState(stateOf(larger))} on ${larger.date.slice(0, 10)}: ${machine.cpu}, ${machine.cores} cores, ${gib(machine.memoryMiB)};
Node ${versions.node}, PostgreSQL ${versions.postgres ?? '?'}, PostGIS ${versions.postgis ?? '?'}; ${Object.entries(settings).map(([name, value]) => `${name} ${value}`).join(', ')}.

| Parcels | Time | CPU of Node | CPU of the server | Memory of Node | Memory of the server* | WAL | Published | Database after | Disk at most |
|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|
${measured.map((line) => `| ${[
  group(line.size ?? 0), time(line.seconds), time(line.cpuSeconds.node), time(line.cpuSeconds.server), gib(line.peakMiB.node), gib(line.peakMiB.server),
  bytes(line.walBytes), bytes(line.diskBytes.published), bytes(line.diskBytes.after), bytes(line.diskBytes.peak),
].join(' | ')} |`).join('\n')}

\\* Private memory of its processes, without shared buffers.

Longest steps with ${group(larger.size ?? 0)} parcels. The last column is the cost of a parcel for ten times as many parcels, relative to its cost now
(from ${group(model.loads[0].size ?? 0)}; above ${STEEP} in bold):

| Step | Time | µs a parcel | For ten times as many |
|---|---:|---:|---:|
${stepsOf(model).join('\n')}

## Extrapolated

Italy: ${group(ITALY.parcels)} parcels and ${group(ITALY.addresses)} addresses in ${ITALY.regions} regions, the largest of ${group(ITALY.largest)} parcels. Disk, WAL and memory are those of one node.

| | ${MACHINES.map(({ name }) => name).join(' | ')} | | Formula |
|---|${'---:|'.repeat(MACHINES.length)}---|---|
${row('Time', (size) => time(size.seconds), 'the longest of: CPU seconds ÷ (cores of all nodes × *busy*); CPU seconds of Node ÷ (cores of one node × *busy*); *chain*')}
${row('Decided by', (size) => size.boundBy, '')}
${row('Published', (size) => bytes(size.published), '*published* × parcels ÷ nodes')}
${row('Database after', (size) => bytes(size.after), 'published + (*after* − *published*) × parcels: every node has the layers and lists')}
${row('Disk at most', (size) => bytes(size.peak), 'after + *passing* × parcels of as many regions as there are cores in a node, the largest first, ÷ nodes')}
${row('WAL', (size) => bytes(size.wal), '*wal* × parcels ÷ nodes')}
${row('Memory of Node', (size) => gib(size.node), '*memory of a lane* × lanes, as many as there are cores; with Citus on the coordinator only')}
${row('Memory of the server', (size) => gib(size.server), 'the same; shared buffers come on top')}

| Term of the formulas | Value | Meaning |
|---|---:|---|
| CPU seconds | ${micro(model.cpu)} a parcel, ${micro(model.nodeCpu)} of them in Node | at ${group(larger.size ?? 0)} parcels, × ${model.cpuGrowth.toFixed(2)} for each ten times as many in a region |
| *busy* | ${model.busy === null ? NOT_MEASURED : model.busy.toFixed(2)} | share of the cores that worked for the load; the formulas assume the same share with more cores; other work on the machine lowers it and makes the times too long |
| *chain* | ${micro(model.chain)} a parcel | cadastre staged and loaded, parcels, the longest section, check, gate, publication of the largest region; × ${model.chainGrowth.toFixed(2)} for each ten times as many |
| *published*, *after*, *wal* | ${bytes(model.published)}, ${bytes(model.after)}, ${bytes(model.wal)} | for each additional parcel: the difference of the two largest loads |
| *passing* | ${bytes(model.passing)} | disk of a parcel that is used only during its load |
| *memory of a lane* | Node ${gib(model.nodeMiB)}, server ${gib(model.serverMiB)} | peak divided by lanes; × ${model.nodeMiBGrowth.toFixed(2)} and × ${model.serverMiBGrowth.toFixed(2)} for each ten times as many parcels; an upper bound, because lanes do not peak at the same time |

Measured growth below 1 counts as 1, because it comes from the fixed cost of a start, which more parcels share. Nothing here was measured on Citus, nor on more than ${machine.cores} cores.
`;
}

const NOT_MEASURED = 'not measured';
const SHOWN = 12;

function stepsOf({ loads: [smaller, larger] }: Model): string[] {
  const [fewer, parcels] = [smaller.size ?? 0, larger.size ?? 0];
  return larger.steps
    .flatMap(({ name, seconds }) => (seconds === null || name === 'all' ? [] : [{ name, seconds }]))
    .sort((a, b) => b.seconds - a.seconds || (a.name < b.name ? -1 : 1))
    .slice(0, SHOWN)
    .map(({ name, seconds }) => {
      const before = smaller.steps.find((step) => step.name === name)?.seconds ?? null;
      const growth = before === null || before === 0 ? null : perDecade({ size: fewer, value: before }, { size: parcels, value: seconds });
      const shown = growth === null ? NOT_MEASURED : growth > STEEP ? `**${growth.toFixed(2)}**` : growth.toFixed(2);
      return `| ${name} | ${time(seconds)} | ${((seconds / parcels) * 1e6).toFixed(1)} | ${shown} |`;
    });
}

function time(seconds: number | null): string {
  return seconds === null ? NOT_MEASURED : duration(seconds);
}

function micro(seconds: number | null): string {
  return seconds === null ? NOT_MEASURED : `${(seconds * 1e6).toFixed(0)} µs`;
}

function gib(mib: number | null): string {
  if (mib === null) return NOT_MEASURED;
  return mib < 1024 ? `${Math.round(mib)} MiB` : `${(mib / 1024).toFixed(1)} GiB`;
}

function bytes(count: number | null): string {
  if (count === null) return NOT_MEASURED;
  for (const [unit, size] of [['TB', 1e12], ['GB', 1e9], ['MB', 1e6]] as const) if (count >= size) return `${(count / size).toFixed(count >= 100 * size ? 0 : 1)} ${unit}`;
  return `${Math.round(count)} bytes`;
}
