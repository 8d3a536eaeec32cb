/** Finds the comune that a user names. */
import { comuniNamed } from '../api/geocoding.ts';
import { one } from '../pipelines/db/index.ts';
import { openReader, type Reader } from '../pipelines/db/reader.ts';
import { MappaleError } from '../pipelines/errors.ts';
import type { Context } from '../pipelines/run/context.ts';

/** Statement timeout in milliseconds. `mappale serve` has a shorter timeout, because its clients share the database connections. */
const PATIENCE_MS = 60_000;

/** Runs `work` on a reader with the same functions as the server's reader. */
export async function onReader<T>({ database, config }: Context, work: (reader: Reader) => Promise<T>): Promise<T> {
  const reader = await openReader(database, config.databaseUrl, { connections: 1, statementTimeoutMs: PATIENCE_MS });
  try {
    return await work(reader);
  } finally {
    await reader.close();
  }
}

/**
 * Returns a code of a comune: a given ISTAT code unchanged, and otherwise the cadastral code.
 * @param comune cadastral code, ISTAT code or name
 * @param fixWith returns the corrected command for a given code
 * @throws MappaleError `COMUNE_UNKNOWN`, `COMUNE_AMBIGUOUS` (exit 2)
 */
export async function comuneCode(reader: Reader, comune: string, fixWith: (code: string) => string): Promise<string> {
  const named = /^\d{6}$/.test(comune) ? [comune] : await comuniNamed(reader, comune);
  const [code, ...others] = named;
  if (code === undefined) {
    throw new MappaleError(`there is no comune ${comune}`, { code: 'COMUNE_UNKNOWN', kind: 'usage', hint: 'Use the cadastral code, such as H501, or the ISTAT code (6 digits).', fix: fixWith('CODE') });
  }
  if (others.length > 0) {
    throw new MappaleError(`several comuni are called ${comune}`, { code: 'COMUNE_AMBIGUOUS', kind: 'usage', detail: `found ${named.join(', ')}`, hint: 'Use one of these codes.', fix: fixWith(code) });
  }
  return code;
}

/**
 * Returns the region and the cadastral code of a comune.
 * @throws MappaleError `COMUNE_UNKNOWN`, `COMUNE_AMBIGUOUS` (exit 2)
 */
export async function comunePlace(
  context: Context, comune: string, fixWith: (code: string) => string,
): Promise<{ readonly region: number; readonly belfiore: string }> {
  const code = await onReader(context, (reader) => comuneCode(reader, comune, fixWith));
  // The query runs with the rights of the login, because the server role may not execute this function.
  const { region, belfiore } = await one<{ region: number | null; belfiore: string | null }>(context.database, 'select region, belfiore from api.quality_place($1)', [code]);
  if (region === null || belfiore === null) {
    throw new MappaleError(`no data is loaded for ${comune}`, { code: 'COMUNE_UNKNOWN', kind: 'usage', hint: 'Check which regions are published.', fix: 'npx mappale status' });
  }
  return { region, belfiore };
}
