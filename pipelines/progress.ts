/** One line of progress: share done, rows per second, time left. */

/** @param bytes done of `total`, of the compressed files; `elapsedMs` since the start */
export function progressLine(subject: string, rows: number, bytes: number, total: number, elapsedMs: number): string {
  const share = total === 0 ? 1 : Math.min(1, bytes / total);
  const seconds = elapsedMs / 1000;
  const left = share > 0.01 ? (seconds / share) * (1 - share) : null;
  const rate = seconds > 0.5 ? `${group(Math.round(rows / seconds))} rows/s, ` : '';
  return `${subject}: ${(share * 100).toFixed(0)} %, ${group(rows)} rows, ${rate}${left === null ? 'estimating' : `${duration(left)} left`}`;
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
