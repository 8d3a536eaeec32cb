/** Frees disk: what is neither published, nor the last publication before it, nor needed to make either again. */
import type { Database } from '../db/index.ts';
import { dropTable, schemasLike, dropSchema, tablesIn } from '../db/catalog.ts';
import { tableOf } from '../contract/sql-files.ts';
import type { RegisteredSource } from '../contract/registry.ts';
import { Inventory } from '../ledger/inventory.ts';

export interface Pruned {
  readonly partitions: readonly string[];
  readonly releases: readonly number[];
  readonly workspaces: readonly string[];
}

/**
 * @param dry only say what would go
 */
export async function prune(database: Database, sources: readonly RegisteredSource[], dry: boolean): Promise<Pruned> {
  // Before the session: the embedded engine has only one.
  const inventory = await Inventory.read(database, sources);
  return database.session(async (session) => {
    const kept = new Set((await session.query<{ partition: string }>(
      "select distinct t.partition from ledger.publication_table t join ledger.publication p using (publication_id) where p.state in ('current', 'previous')",
    )).map(({ partition }) => partition));
    const partitions = (await tablesIn(session, 'previous')).filter((name) => !kept.has(name));
    const all = [...inventory.releases.values()];
    const used = new Set<number>();
    for (let unit = 0; unit <= 20; unit += 1) for (const { releaseId } of inventory.used(unit)) used.add(releaseId);
    // What lies in the data folders would only be read again.
    for (const { releaseId, present } of inventory.files) if (present) used.add(releaseId);
    // Provenance of what is published must stay readable.
    const cited = await session.query<{ id: number }>(
      `select distinct f.release_id as id from ledger.publication_file c join ledger.publication p using (publication_id) join ledger.file f using (file_id)
       where p.state in ('current', 'previous')`,
    );
    for (const { id } of cited) used.add(id);
    const releases = all.filter(({ releaseId }) => !used.has(releaseId));
    const workspaces = [...(await schemasLike(session, 'staging_')), ...(await schemasLike(session, 'build_'))];
    if (!dry) {
      for (const partition of partitions) await dropTable(session, 'previous', partition);
      for (const release of releases) {
        const source = sources.find(({ id }) => id === release.sourceId);
        for (const layer of source?.layer.writes ?? []) await dropTable(session, 'layer', `${tableOf(layer)}_${release.releaseId}`);
        await session.query('delete from ledger.release where release_id = $1', [release.releaseId]);
      }
      for (const schema of workspaces) await dropSchema(session, schema);
      await session.query('delete from ledger.built');
      await session.query("delete from ledger.publication where state = 'past'");
      await session.query('delete from ledger.figure f where not exists (select from ledger.publication_table t where t.relation = f.relation and t.partition = f.partition)');
    }
    return { partitions, releases: releases.map(({ releaseId }) => releaseId), workspaces };
  });
}
