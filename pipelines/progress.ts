/** Lines of progress: share done, rows or bytes per second, time left. */

/** @param bytes done of `total`, of the compressed files; `elapsedMs` since the start */
export function progressLine(subject: string, rows: number, bytes: number, total: number, elapsedMs: number): string {
  const share = total === 0 ? 1 : Math.min(1, bytes / total);
  const seconds = elapsedMs / 1000;
  const left = share > 0.01 ? (seconds / share) * (1 - share) : null;
  const rate = seconds > 0.5 ? `${group(Math.round(rows / seconds))} rows/s, ` : '';
  return `${subject}: ${(share * 100).toFixed(0)} %, ${group(rows)} rows, ${rate}${left === null ? 'estimating' : `${duration(left)} left`}`;
}

/** `512 B`, `1.4 MB`, `2.3 GB`: powers of ten, as publishers state sizes. */
export function byteText(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  const power = Math.min(3, Math.floor(Math.log10(bytes) / 3));
  return `${(bytes / 1000 ** power).toFixed(1)} ${['', 'kB', 'MB', 'GB'][power] ?? ''}`;
}

const BAR = 20;

function bar(share: number): string {
  return `[${'#'.repeat(Math.round(share * BAR)).padEnd(BAR, '.')}]`;
}

/** A bar of work that is counted: `[#####...............] 11 of 44 tables of Molise`. */
export function barLine(done: number, of: number, what: string): string {
  return `${bar(of === 0 ? 1 : done / of)} ${done} of ${of} ${what}`;
}

/** What downloads are under way. */
export interface Bytes {
  /** Files that ended, of all. */
  readonly files: number;
  readonly of: number;
  /** Bytes that are here of the files under way, and all of them; null: a server does not say. */
  readonly have: number;
  readonly total: number | null;
  /** Bytes that came since the start. */
  readonly came: number;
  readonly elapsedMs: number;
  readonly names: readonly string[];
}

/** One line: a bar, size and rate, time left of the files under way. */
export function byteLine({ files, of, have, total, came, elapsedMs, names }: Bytes): string {
  const share = total === null || total === 0 ? null : Math.min(1, have / total);
  const rate = elapsedMs > 500 ? came / (elapsedMs / 1000) : 0;
  const done = share === null ? '' : `${bar(share)} ${(share * 100).toFixed(0)} %, `;
  const left = rate > 0 && total !== null && total > have ? `, ${duration((total - have) / rate)} left` : '';
  return `${done}${byteText(have)}${total === null ? '' : ` of ${byteText(total)}`}${rate > 0 ? `, ${byteText(Math.round(rate))}/s` : ''}${left}; ${files} of ${of} files done${names.length === 0 ? '' : `: ${names.join(', ')}`}`;
}

/** Made once: `toLocaleString` looks for its locale each time, which a line for each chunk of a fast reader would feel. */
const GROUPED = new Intl.NumberFormat('en-US');

export function group(n: number): string {
  return GROUPED.format(n);
}

/** @param startedAt of `performance.now()` */
export function secondsSince(startedAt: number): number {
  return (performance.now() - startedAt) / 1000;
}

/** `12 s`, `3 min 20 s`, `2 h 5 min` */
export function duration(seconds: number): string {
  if (seconds < 60) return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.round(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
