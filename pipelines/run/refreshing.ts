/** Defines the state that the phases of a refresh share. A phase records failures in this state, so that the other phases continue. */
import type { Survey } from '../contract/survey.ts';
import { MappaleError } from '../errors.ts';
import { holds } from '../ledger/hold.ts';
import { Inventory } from '../ledger/inventory.ts';
import type { Acceptance } from '../ledger/ledger.ts';
import type { Run } from '../ledger/runs.ts';
import { publications } from '../ledger/published.ts';
import type { Known } from '../plan/plan.ts';
import type { Context } from './context.ts';
import type { Omission, Withholding } from './left-out.ts';

export interface RefreshOptions {
  /** Name of the command, which the ledger stores with the run. */
  readonly command: string;
  /** Data folders; null to use only the loaded files. */
  readonly data: readonly string[] | null;
  /** Regions to update; null for all published regions and all regions with parcels or addresses. */
  readonly regions: readonly number[] | null;
  /** Maximum number of releases, regions or tables of a region to process in parallel. */
  readonly parallel: number;
  /** User and reason of `--accept`, which accepts a result that the quality gate refuses; null without `--accept`. */
  readonly accept: Acceptance | null;
  /** True to start even if the estimate exceeds the free disk space. */
  readonly force: boolean;
  /** True to run at the same time as other runs with this option, on any host. */
  readonly concurrent?: boolean;
  /** Largest share of changed parcels for which tables are patched. Default: `MOST_CHANGED`. */
  readonly mostChanged?: number;
}

/** State of a running refresh, which writes to the database. */
export interface Refreshing {
  readonly context: Context;
  readonly options: RefreshOptions;
  readonly run: Run;
  readonly survey: Survey;
  readonly trouble: Trouble;
  /** Maximum number of releases or regions to process in parallel. */
  readonly parallel: number;
}

/** Reads the state of the database that a plan needs. */
export async function readKnown({ database, sources, engine }: Context, inventory: Inventory): Promise<Known> {
  return { sources, engine, inventory, holds: await holds(database), published: await publications(database) };
}

/** Reads the inventory and all other state that a plan needs. */
export async function readAll(context: Context): Promise<Known> {
  return readKnown(context, await Inventory.read(context.database, context.sources));
}

/** Throws an error again. Adds source and region to a MappaleError. @throws the error */
export function rethrow(error: unknown, about: { readonly source?: string; readonly region?: string | undefined }): never {
  throw error instanceof MappaleError ? error.knowing(about) : error;
}

/** Failures of one refresh, and the files that are left out because of these failures. */
export class Trouble {
  readonly failures: MappaleError[];
  readonly omissions: Omission[];
  /** Files and releases that prevent the publication of regions. */
  readonly withholding: Withholding[];
  /** Ids of loaded files that a build could not use. */
  readonly unusable = new Set<number>();
  /** Paths of the files that could not be read. */
  readonly unread = new Set<string>();
  readonly #log: Context['log'];

  constructor(log: Context['log'], { failures, omissions, withholding }: Pick<Trouble, 'failures' | 'omissions' | 'withholding'>) {
    this.#log = log;
    this.failures = failures;
    this.omissions = omissions;
    this.withholding = withholding;
  }

  /**
   * Runs a step and records a failure.
   * @throws errors of the database, and errors that are not MappaleErrors, because the refresh cannot continue after such errors
   */
  async attempt<T>(work: () => Promise<T>): Promise<{ readonly done: T } | { readonly failure: MappaleError }> {
    try {
      return { done: await work() };
    } catch (error) {
      if (!(error instanceof MappaleError)) throw error;
      this.#log.warn(error.describe());
      this.failures.push(error);
      if (error.kind === 'database') throw error;
      return { failure: error };
    }
  }
}
