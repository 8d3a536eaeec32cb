/** Formats progress lines, sizes and durations. */

/**
 * Formats a progress line.
 * @param bytes number of bytes read from the compressed files so far
 * @param total size of all compressed files in bytes
 * @param elapsedMs time since the start in milliseconds
 */
export function progressLine(subject: string, rows: number, bytes: number, total: number, elapsedMs: number): string {
  const share = total === 0 ? 1 : Math.min(1, bytes / total);
  const seconds = elapsedMs / 1000;
  const left = share > 0.01 ? (seconds / share) * (1 - share) : null;
  const rate = seconds > 0.5 ? `${group(Math.round(rows / seconds))} rows/s, ` : '';
  return `${subject}: ${(share * 100).toFixed(0)} %, ${group(rows)} rows, ${rate}${left === null ? 'estimating' : `${duration(left)} left`}`;
}

/** Formats a size such as `512 B`, `1.4 MB` or `2.3 GB`. 1 MB is 1,000,000 bytes, as on the publishers' pages. */
export function byteText(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  // Compares the rounded number, so that 999,999 bytes are 1.0 MB and not 1000.0 kB.
  const power = [1, 2].find((each) => Number((bytes / 1000 ** each).toFixed(1)) < 1000) ?? 3;
  return `${(bytes / 1000 ** power).toFixed(1)} ${['', 'kB', 'MB', 'GB'][power] ?? ''}`;
}

const BAR = 20;

function bar(share: number): string {
  return `[${'#'.repeat(Math.round(share * BAR)).padEnd(BAR, '.')}]`;
}

/** Formats a progress bar with counts, such as `[#####...............] 11 of 44 tables of Molise`. */
export function barLine(done: number, of: number, what: string): string {
  return `${bar(of === 0 ? 1 : done / of)} ${done} of ${of} ${what}`;
}

/** Progress of the running downloads. */
export interface Bytes {
  /** Numbers of completed files and of all files. */
  readonly files: number;
  readonly of: number;
  /** Received and total bytes of the running downloads; null if the total is unknown. */
  readonly have: number;
  readonly total: number | null;
  /** Number of bytes received since the start. */
  readonly came: number;
  readonly elapsedMs: number;
  readonly names: readonly string[];
}

/** Formats a progress line with a bar, and the size, speed and remaining time of the running downloads. */
export function byteLine({ files, of, have, total, came, elapsedMs, names }: Bytes): string {
  const share = total === null || total === 0 ? null : Math.min(1, have / total);
  const rate = elapsedMs > 500 ? came / (elapsedMs / 1000) : 0;
  const done = share === null ? '' : `${bar(share)} ${(share * 100).toFixed(0)} %, `;
  const left = rate > 0 && total !== null && total > have ? `, ${duration((total - have) / rate)} left` : '';
  return `${done}${byteText(have)}${total === null ? '' : ` of ${byteText(total)}`}${rate > 0 ? `, ${byteText(Math.round(rate))}/s` : ''}${left}; ${files} of ${of} files done${names.length === 0 ? '' : `: ${names.join(', ')}`}`;
}

let grouped: Intl.NumberFormat | undefined;

/** Formats a number with thousands separators. Creates the format at the first call only, because looking up the locale is slow. */
export function group(n: number): string {
  grouped ??= new Intl.NumberFormat('en-US');
  return grouped.format(n);
}

/** Returns the number of seconds since a start time. @param startedAt start time from `performance.now()` */
export function secondsSince(startedAt: number): number {
  return (performance.now() - startedAt) / 1000;
}

/** Formats a duration such as `12 s`, `3 min 20 s` or `2 h 5 min`. */
export function duration(seconds: number): string {
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes} min ${whole % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
