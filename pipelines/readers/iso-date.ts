/** Parses dates in Italian form, and checks that days exist. */

/** Converts `22/01/2024` to `2024-01-22`; null for any other text or an invalid date. */
export function isoDate(italian: string): string | null {
  const match = /^(\d{2})\/(\d{2})\/(\d{4})$/.exec(italian);
  if (match === null) return null;
  const iso = match.slice(1).reverse().join('-');
  return isDay(iso) ? iso : null;
}

/** Returns whether a day such as `2024-01-22` exists. `Date.parse` alone also accepts `2024-02-31`. */
export function isDay(iso: string): boolean {
  const time = Date.parse(`${iso}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().slice(0, 10) === iso;
}
