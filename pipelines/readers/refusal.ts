/** Defines refusals, which consist of a stable code and one line of text, and converts zod errors to refusals. */
import type { ZodError } from 'zod';

export interface Refusal {
  /** Code of the refusal, such as `outside_italy`. For a schema error, the name of the first wrong field and `_invalid`, such as `istat_code_invalid`. */
  readonly code: string;
  /** Message, such as `istat_code: expected six digits, found "70"`. */
  readonly message: string;
}

/**
 * Returns the refusal for a schema error. @param fields values of the record, by field name @param error the schema's error, whose messages state the expected
 * values
 */
export function refusalOf(fields: Readonly<Record<string, unknown>>, error: ZodError): Refusal {
  const { field, message } = firstIssue(error);
  const found = field in fields ? `, found ${shown(fields[field])}` : '';
  return { code: `${field}_invalid`, message: `${field}: ${message}${found}` };
}

/**
 * Returns the first issue of a zod error, because later issues are often consequences of the first issue. `code` is the code that the schema defines for the
 * issue, or null.
 */
export function firstIssue(error: ZodError): { readonly field: string; readonly message: string; readonly code: string | null } {
  const [issue] = error.issues;
  const code = issue?.code === 'custom' ? issue.params?.['code'] as unknown : null;
  return { field: String(issue?.path[0] ?? 'record'), message: issue?.message ?? 'not accepted', code: typeof code === 'string' ? code : null };
}

/** Formats a value as JSON. NaN and infinities are formatted as text, and undefined as `nothing`. */
export function shown(value: unknown): string {
  if (value === undefined) return 'nothing';
  return typeof value === 'number' ? String(value) : JSON.stringify(value);
}
