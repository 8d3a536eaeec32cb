/**
 * Errors of the whole program, in PostgreSQL's shape: a primary line, where it happened, what was expected and
 * found, and a hint with what to do.
 */

import { maskTaxCode } from './mask-tax-code.ts';

/** Exit code of the process by kind of failure; documented in the README. */
export const EXIT = {
  done: 0,
  bug: 1,
  usage: 2,
  input: 3,
  rejects: 4,
  checks: 5,
  database: 6,
  locked: 7,
} as const;

export type ExitKind = keyof typeof EXIT;

export interface ErrorFacts {
  /** Stable, upper case, for machines: `ZIP_TRUNCATED`. */
  readonly code: string;
  readonly kind: ExitKind;
  /** Where: `file`, `file:line`, `outer.zip!inner.csv:line`. */
  readonly at?: string | undefined;
  /** `expected … found …`. */
  readonly detail?: string | undefined;
  /** One full sentence that says what to type or to edit. */
  readonly hint?: string | undefined;
  /** The command that mends it, as it is typed; what nobody but the person knows stands in capitals. Printed last, so that it is found. */
  readonly fix?: string | undefined;
  /** What `detail` says, for machines. */
  readonly data?: unknown;
  /** Source that the file at fault belongs to. */
  readonly source?: string | undefined;
  /** Region whose load or publication failed, by its slug; `italia` for the tables of Italy. */
  readonly region?: string | undefined;
  /** Files at fault, where others of the same release or region can be used. */
  readonly files?: readonly FaultyFile[] | undefined;
  readonly cause?: unknown;
}

export interface FaultyFile {
  readonly name: string;
  readonly sha256: string;
}

/** Every failure that the program foresees. What is not a `MappaleError` is a bug and keeps its stack. */
export class MappaleError extends Error {
  readonly code: string;
  readonly kind: ExitKind;
  readonly at: string | undefined;
  readonly detail: string | undefined;
  readonly hint: string | undefined;
  readonly fix: string | undefined;
  readonly data: unknown;
  readonly source: string | undefined;
  readonly region: string | undefined;
  readonly files: readonly FaultyFile[];

  constructor(message: string, facts: ErrorFacts) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.name = 'MappaleError';
    this.code = facts.code;
    this.kind = facts.kind;
    this.at = facts.at === undefined ? undefined : maskTaxCode(facts.at);
    this.detail = facts.detail;
    this.hint = facts.hint;
    this.fix = facts.fix;
    this.data = facts.data;
    this.source = facts.source;
    this.region = facts.region;
    this.files = facts.files ?? [];
  }

  get exitCode(): number {
    return EXIT[this.kind];
  }

  /** The same failure, of which more is known where it is told. */
  knowing(more: Pick<ErrorFacts, 'at' | 'fix' | 'source' | 'region' | 'files'>): MappaleError {
    const { code, kind, at, detail, hint, fix, data, source, region, files } = this;
    return new MappaleError(this.message, {
      code, kind, detail, hint, data, cause: this.cause ?? this,
      at: more.at ?? at, fix: more.fix ?? fix, source: more.source ?? source, region: more.region ?? region, files: more.files ?? files,
    });
  }

  /** The lines a person reads on stderr. */
  report(): string {
    const lines = [`error: ${this.message} [${this.code}]`];
    if (this.at !== undefined) lines.push(`  at: ${this.at}`);
    if (this.detail !== undefined) lines.push(`  detail: ${this.detail}`);
    if (this.hint !== undefined) lines.push(`  hint: ${this.hint}`);
    if (this.fix !== undefined) lines.push(`  type: ${this.fix}`);
    return lines.join('\n');
  }

  toJSON(): Record<string, unknown> {
    const { code, message, at, detail, hint, fix, data, source, region } = this;
    return { error: code, message, at, detail, hint, fix, data, source, region };
  }
}

/** An input file that is not what its source reads. Exit 3. @throws never; it builds the error. */
export function inputError(message: string, facts: Omit<ErrorFacts, 'kind'>): MappaleError {
  return new MappaleError(message, { ...facts, kind: 'input' });
}
