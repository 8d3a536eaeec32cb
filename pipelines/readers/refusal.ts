/** From zod's verdict to a reject: one stable code and one line for a person. */
import type { ZodError } from 'zod';

export interface Refusal {
  /** `istat_code_invalid`: the first field that is wrong. */
  readonly code: string;
  /** `istat_code: expected six digits, found "70"`. */
  readonly message: string;
}

/**
 * @param fields what was parsed, by field name
 * @param error its schema's verdict; the schema's own messages say what was expected
 */
export function refusalOf(fields: Readonly<Record<string, unknown>>, error: ZodError): Refusal {
  const { field, message } = firstIssue(error);
  const found = field in fields ? `, found ${shown(fields[field])}` : '';
  return { code: `${field}_invalid`, message: `${field}: ${message}${found}` };
}

/** The first of zod's complaints, with the code that its schema stated: one says what to look at, the rest follow from it as often as not. */
export function firstIssue(error: ZodError): { readonly field: string; readonly message: string; readonly code: string | null } {
  const [issue] = error.issues;
  const code = issue?.code === 'custom' ? issue.params?.['code'] as unknown : null;
  return { field: String(issue?.path[0] ?? 'record'), message: issue?.message ?? 'not accepted', code: typeof code === 'string' ? code : null };
}

/** As JSON, which has no word for what is not a number or has no end. */
export function shown(value: unknown): string {
  if (value === undefined) return 'nothing';
  return typeof value === 'number' ? String(value) : JSON.stringify(value);
}
