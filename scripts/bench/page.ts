/** Draws the history as one self-contained page: rates of each step over commits, and cost per parcel over sizes. */
import { shortState, stateOf, statesOf, type Line } from './history.ts';

const [WIDTH, HEIGHT, LEFT, BOTTOM, TOP] = [380, 170, 56, 30, 8] as const;
const COLOURS = ['#1b6ca8', '#c8553d', '#588157', '#8338ec', '#b08900', '#444444'];

interface Series {
  readonly name: string;
  readonly points: readonly { readonly x: number; readonly y: number }[];
}

interface Chart {
  readonly title: string;
  readonly series: readonly Series[];
  /** Labels of the x axis, by x. */
  readonly ticks: ReadonlyMap<number, string>;
}

/** @returns HTML */
export function drawPage(history: readonly Line[]): string {
  const benches = [...new Set(history.map(({ bench }) => bench))].sort();
  const sections = benches.map((bench) => {
    const lines = history.filter((line) => line.bench === bench);
    const charts = [...new Set(lines.flatMap(({ steps }) => steps.map(({ name }) => name)))];
    const rates = charts.map((step) => ratesOf(lines, step, statesOf(history))).filter(({ series }) => series.length > 0);
    const costs = charts.map((step) => costsOf(lines, step)).filter(({ series }) => series.length > 0);
    return `<section>\n<h2>${escaped(bench)}</h2>\n${group('Rows per second by commit, with a line for each size', rates)}${group('Microseconds per parcel by number of parcels, with a line for each commit', costs)}</section>`;
  });
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Benchmarks</title>
<style>
body { font: 14px/1.4 system-ui, sans-serif; margin: 2em; color: #222; }
figure { display: inline-block; margin: 0 1em 1em 0; }
figcaption { font-weight: 600; }
svg text { font-size: 10px; fill: #555; }
</style>
</head>
<body>
<h1>Benchmarks</h1>
<p>${history.length} measurements. Compare points of one machine: ${escaped([...new Set(history.map(({ machine }) => `${machine.cpu}, ${machine.cores} cores`))].join('; '))}.</p>
${sections.join('\n')}
</body>
</html>
`;
}

function group(title: string, charts: readonly Chart[]): string {
  return charts.length === 0 ? '' : `<h3>${title}</h3>\n${charts.map(drawChart).join('\n')}\n`;
}

/** Draws a point for each measurement. Several measurements of a commit have the same x. */
function ratesOf(lines: readonly Line[], step: string, states: readonly string[]): Chart {
  const sizes = [...new Set(lines.map(({ size }) => size))].sort((a, b) => (a ?? 0) - (b ?? 0));
  const series = sizes.map((size) => ({
    name: size === null ? 'any size' : size.toLocaleString('en-US'),
    points: lines.filter((line) => line.size === size).flatMap((line) => {
      const rate = line.steps.find(({ name }) => name === step)?.rowsPerSecond ?? null;
      return rate === null ? [] : [{ x: states.indexOf(stateOf(line)), y: rate }];
    }),
  }));
  return { title: step, series: series.filter(({ points }) => points.length > 0), ticks: new Map(states.map((state, index) => [index, shortState(state)])) };
}

/** Draws the cost per parcel for commits with more than one size. The scale of sizes is logarithmic. */
function costsOf(lines: readonly Line[], step: string): Chart {
  const ticks = new Map<number, string>();
  const series = statesOf(lines).map((state) => ({
    name: shortState(state),
    points: lines.filter((line) => stateOf(line) === state).flatMap(({ size, steps }) => {
      const seconds = steps.find(({ name }) => name === step)?.seconds ?? null;
      if (size === null || seconds === null) return [];
      ticks.set(Math.log10(size), size.toLocaleString('en-US'));
      return [{ x: Math.log10(size), y: (seconds / size) * 1e6 }];
    }).sort((a, b) => a.x - b.x),
  }));
  return { title: step, series: series.filter(({ points }) => new Set(points.map(({ x }) => x)).size > 1), ticks };
}

function drawChart({ title, series, ticks }: Chart): string {
  const points = series.flatMap((each) => each.points);
  const [first, last] = [Math.min(...points.map(({ x }) => x)), Math.max(...points.map(({ x }) => x))];
  const most = Math.max(...points.map(({ y }) => y), Number.MIN_VALUE);
  const across = (x: number): number => round(LEFT + (last === first ? 0.5 : (x - first) / (last - first)) * (WIDTH - LEFT - 40));
  const up = (y: number): number => round(TOP + (1 - y / most) * (HEIGHT - TOP - BOTTOM));
  const shown = [...ticks].filter(([x]) => x >= first && x <= last);
  // Only as many labels as fit.
  const every = Math.ceil(shown.length / 5);
  const marks = shown.filter((_, index) => index % every === 0).map(([x, text]) => `<text x="${across(x)}" y="${HEIGHT - 12}" text-anchor="middle">${escaped(text)}</text>`);
  const axis = [0, most / 2, most].map((y) => `<line x1="${LEFT}" x2="${WIDTH}" y1="${up(y)}" y2="${up(y)}" stroke="#ddd"/><text x="${LEFT - 4}" y="${up(y) + 3}" text-anchor="end">${amount(y)}</text>`);
  const drawn = series.map(({ name, points: own }, index) => {
    const colour = COLOURS[index % COLOURS.length] ?? '#000';
    const dots = own.map(({ x, y }) => `<circle cx="${across(x)}" cy="${up(y)}" r="2.5" fill="${colour}"><title>${escaped(name)}: ${amount(y)}</title></circle>`);
    return `<polyline fill="none" stroke="${colour}" points="${own.map(({ x, y }) => `${across(x)},${up(y)}`).join(' ')}"/>${dots.join('')}`;
  });
  const legend = series.map(({ name }, index) => `<span style="color:${COLOURS[index % COLOURS.length] ?? '#000'}">${escaped(name)}</span>`).join(' · ');
  return `<figure><figcaption>${escaped(title)}</figcaption><svg width="${WIDTH}" height="${HEIGHT}" role="img">${axis.join('')}${marks.join('')}${drawn.join('')}</svg><div>${legend}</div></figure>`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function amount(value: number): string {
  return Number(value.toPrecision(3)).toLocaleString('en-US');
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
