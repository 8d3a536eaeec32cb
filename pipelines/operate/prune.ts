/** Deletes data that is no longer needed. Keeps the current and previous publications, and all data from which these publications can be rebuilt. */
import type { Database } from '../db/index.ts';
import { cutHistory, type Cut } from '../db/history.ts';
import { dropTable, schemasLike, dropSchema, tablesIn } from '../db/ddl.ts';
import { statementsOf } from '../db/statements.ts';
import { REGIONS } from '../contract/regions.ts';
import { tableOf } from '../contract/sql-files.ts';
import type { RegisteredSource } from '../contract/registry.ts';
import { Inventory } from '../ledger/inventory.ts';

interface Pruned {
  readonly partitions: readonly string[];
  readonly releases: readonly number[];
  readonly workspaces: readonly string[];
  /** Number of deleted runs: runs older than `keep` months, except runs that created a kept publication. */
  readonly runs: number;
  /** Deleted history; null if history was not pruned. */
  readonly history: Cut | null;
}

interface PruneOptions {
  /** True to report the objects to delete without deleting them. */
  readonly dry?: boolean;
  /** Number of months of history and runs to keep; null to keep all history and runs. */
  readonly keep?: number | null;
}

/** Deletes tables, releases, workspaces, runs and history that are no longer needed. @returns the deleted objects, or in a dry run the objects to delete */
export async function prune(database: Database, sources: readonly RegisteredSource[], { dry = false, keep = null }: PruneOptions = {}): Promise<Pruned> {
  // Reads the inventory before the session opens, because the embedded engine has only one session.
  const inventory = await Inventory.read(database, sources);
  const statement = statementsOf('operate');
  return database.session(async (session) => {
    const kept = (await session.query<{ partition: string }>(statement('kept_partitions'))).map(({ partition }) => partition);
    const partitions = (await tablesIn(session, 'previous')).filter((name) => !kept.includes(name));
    const used = new Set([
      ...[0, ...REGIONS.map(({ code }) => code)].flatMap((region) => inventory.used(region)).map(({ releaseId }) => releaseId),
      // Keeps releases whose files are in the data folders, because a refresh would read these files again.
      ...inventory.files.filter(({ present }) => present).map(({ releaseId }) => releaseId),
      // Keeps forgotten files. Otherwise a refresh would use such a file again as soon as the file returns to a data folder.
      ...inventory.files.filter(({ forgotten }) => forgotten).map(({ releaseId }) => releaseId),
      ...(await session.query<{ id: number }>(statement('cited_releases'))).map(({ id }) => id),
    ]);
    for (const { releaseId, refersTo } of inventory.files) if (used.has(releaseId)) for (const referred of refersTo) used.add(referred);
    const releases = [...inventory.releases.values()].filter(({ releaseId }) => !used.has(releaseId));
    const workspaces = [...(await schemasLike(session, 'staging_')), ...(await schemasLike(session, 'build_'))];
    const runs = keep === null ? [] : await session.query(statement(dry ? 'old_runs' : 'forget_runs'), [keep]);
    const history = keep === null ? null : await session.transaction((within) => cutHistory(within, keep, dry ? 'count' : 'delete'));
    if (!dry) {
      for (const partition of partitions) await dropTable(session, 'previous', partition);
      for (const { releaseId, sourceId } of releases) {
        const layers = sources.find(({ id }) => id === sourceId)?.layer.writes ?? [];
        // Deletes a release's ledger row and layers in one transaction, so that an interruption keeps both or neither.
        await session.transaction(async () => {
          for (const layer of layers) await dropTable(session, 'layer', `${tableOf(layer)}_${releaseId}`);
          await session.query(statement('forget_release'), [releaseId]);
        });
      }
      for (const schema of workspaces) await dropSchema(session, schema);
      await session.query(statement('forget_built'));
      await session.query(statement('forget_publications'));
      await session.query(statement('forget_figures'));
    }
    return { partitions, releases: releases.map(({ releaseId }) => releaseId), workspaces, runs: runs.length, history };
  });
}
