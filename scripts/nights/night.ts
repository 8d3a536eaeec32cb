/** Runs one night: makes the changes, runs the program, and compares the database with the expected result. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Expectation, Kind, Refusal, Scene } from './kinds.ts';
import type { Facts, Observer, Size } from './observe.ts';
import { SLUG, type Ended, type World } from './world.ts';

export interface Night {
  readonly night: number;
  readonly day: string;
  readonly kind: string;
  readonly group: Kind['group'];
  readonly published: boolean;
  readonly exits: readonly (number | null)[];
  readonly codes: readonly string[];
  /** Statistics that the quality gate refused. */
  readonly figures: readonly string[];
  readonly violations: readonly string[];
  readonly size: Size;
  /** Duration of the `watch` command in seconds. */
  readonly seconds: number;
}

/** An output line of `watch` with MAPPALE_LOG=json. */
interface Line {
  readonly failures: readonly { readonly error: string }[];
  readonly left_out: readonly { readonly error: string }[];
  readonly warnings: readonly { readonly code: string }[];
}

/** Steps of a run in which a night may kill the program. */
const MIDDLE = ['stage', 'load', 'join', 'check', 'gate', 'publish'];

function watch(world: World, night: number): readonly string[] {
  return ['watch', ...(night === 1 ? [SLUG] : []), '--once', '--data', world.downloads, '--data', world.byHand, '--keep', '1', '--metrics-file', `${world.folder}/mappale.prom`];
}

async function runWatch(world: World, observer: Observer, night: number, way: Expectation['way']): Promise<readonly Ended[]> {
  const args = watch(world, night);
  if (way === 'twice') return Promise.all([world.run(args), world.run(args)]);
  const process = world.begin(args);
  if (way !== 'killed') return [await process.ended];
  let isOver = false;
  void process.ended.then(() => (isOver = true));
  while (!isOver && !(await observer.isIn(MIDDLE))) await sleep(20);
  process.child.kill('SIGKILL');
  return [await process.ended];
}

function lineOf({ stdout }: Ended): Line | null {
  const last = stdout.trim().split('\n').at(-1) ?? '';
  return last === '' ? null : JSON.parse(last) as Line;
}

/** Returns the lines of the quality gate's report. A line has section, relation, place, statistic, the values before and after, and the limit. */
function figuresOf({ stderr }: Ended): string[] {
  const messages = stderr.split('\n').flatMap((line) => (line.startsWith('{') ? [(JSON.parse(line) as { readonly message: string }).message] : []));
  return messages.flatMap((message) => message.split('\n')).filter((line) => /^ +\S+ +(?:core|section)\.[a-z_]+ .* → /.test(line)).map((line) => line.trim().replaceAll(/  +/g, '  '));
}

function isOf(figure: string, { relation, figure: pattern }: Refusal): boolean {
  const [, table, , name = ''] = figure.split('  ');
  return table === relation && pattern.test(name);
}

/** Runs one night and returns the result. @param firstFacts returns the content of the first publication, which is unknown before the first night */
export async function runNight(scene: Scene, observer: Observer, kind: Kind, firstFacts?: () => Promise<Facts>): Promise<Night> {
  const { world, night } = scene;
  const expected = await kind.act(scene);
  const before = await observer.publication();
  const startedAt = performance.now();
  const ended = await runWatch(world, observer, night, expected.way);
  const seconds = Math.round(performance.now() - startedAt) / 1_000;
  const published = (await observer.publication()) !== before;
  if (firstFacts !== undefined) scene.files = await firstFacts();
  if (expected.published ?? published) scene.publish();
  const lines = ended.map(lineOf);
  const codes = lines.flatMap((line) => [...line?.failures ?? [], ...line?.left_out ?? []].map(({ error }) => error));
  const warnings = lines.flatMap((line) => line?.warnings.map(({ code }) => code) ?? []);
  const figures = ended.flatMap(figuresOf);
  const violations = violationsOf(expected, { published, ended, lines, codes, warnings, figures, facts: await observer.facts(), planned: scene.published[0] });
  return {
    night, day: world.day, kind: kind.name, group: kind.group, published, exits: ended.map(({ code }) => code), codes: [...new Set(codes)], figures,
    violations: violations.length === 0 ? [] : [...violations, ...ended.map(({ stderr }) => stderr.trim().slice(-4_000)).filter((text) => text !== '')], size: await observer.size(), seconds,
  };
}

interface Found {
  readonly published: boolean;
  readonly ended: readonly Ended[];
  readonly lines: readonly (Line | null)[];
  readonly codes: readonly string[];
  readonly warnings: readonly string[];
  readonly figures: readonly string[];
  readonly facts: Facts;
  /** Content that the publication should have. */
  readonly planned: Facts;
}

function violationsOf(expected: Expectation, found: Found): string[] {
  const { published, ended, lines, codes, warnings, figures, facts, planned } = found;
  const { refusal } = expected;
  return [
    ...(expected.published === null || expected.published === published ? [] : [`expected ${expected.published ? 'a' : 'no'} publication`]),
    ...ended.filter(({ code }) => !expected.exits.includes(code)).map(({ code }) => `expected exit ${expected.exits.join(' or ')}, found ${code}`),
    ...(expected.way === 'killed' || lines.some((line) => line !== null) ? [] : ['expected a JSON summary from at least one process, found none']),
    ...(expected.code === undefined || codes.includes(expected.code) ? [] : [`expected ${expected.code}, found ${codes.join(', ') || 'no failure'}`]),
    ...(expected.code !== undefined || expected.way !== undefined || codes.length === 0 ? [] : [`false alarm: ${codes.join(', ')}`]),
    ...(expected.warning === undefined || warnings.includes(expected.warning) ? [] : [`expected the warning ${expected.warning}`]),
    ...(refusal === undefined || figures.some((figure) => isOf(figure, refusal)) ? [] : [`expected a refusal of ${refusal.relation} ${refusal.figure.source}, found ${figures.join(' | ') || 'none'}`]),
    ...differences(planned, facts),
  ];
}

function differences(planned: Facts, found: Facts): string[] {
  const text = (facts: Facts, name: keyof Facts): string => JSON.stringify(name === 'stations' ? Object.entries(facts.stations).sort(([a], [b]) => (a < b ? -1 : 1)) : facts[name]);
  return (['stations', 'civics', 'parcels', 'income', 'price'] as const).filter((name) => text(planned, name) !== text(found, name))
    .map((name) => `expected ${name} ${text(planned, name)}, found ${text(found, name)}`);
}
