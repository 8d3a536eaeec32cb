/** Converts Italian dates, such as `22/01/2024`, to ISO dates, and checks whether days exist. */

/** Converts `22/01/2024` to `2024-01-22`; null for any other text or an invalid date. */
export function isoDate(italian: string): string | null {
  const match = /^(\d{2})\/(\d{2})\/(\d{4})$/.exec(italian);
  if (match === null) return null;
  const iso = match.slice(1).reverse().join('-');
  return isDay(iso) ? iso : null;
}

/** Returns whether a text is an existing day in the form `2024-01-22`. `Date.parse` alone also accepts `2024-02-31`. */
export function isDay(iso: string): boolean {
  const time = Date.parse(`${iso}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().slice(0, 10) === iso;
}
