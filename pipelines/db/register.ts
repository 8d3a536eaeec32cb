/** Maintains the register of fids. Gives a build access to the published parcels, and retires parcels that disappear. */
import { firstFid } from '../contract/regions.ts';
import { atHand, isOnNodes } from './at-hand.ts';
import { retireDistributed } from './distributed.ts';
import { statementsOf, type Part, type Place } from './statements.ts';
import type { Session } from './types.ts';

const register = statementsOf('register');
const part = (statement: string, names: Parameters<typeof register>[1]): Part => ({ sql: register(statement, names) });

/**
 * Creates the view `published_parcel` of the region's published parcels, which the new parcels replace. The column `carried` marks rows to keep.
 * @param changes schema with the tables `same_document` and `same_parcel` of the parcels to keep, or null to keep no parcels
 */
export async function providePublishedParcels(session: Session, schema: string, published: Place | null, changes: string | null): Promise<void> {
  const carried = changes === null ? { sql: 'false' }
    : part('is_carried', { same_document: { schema: changes, table: 'same_document' }, same_parcel: { schema: changes, table: 'same_parcel' } });
  await session.query(register('published_parcel', {
    schema, from: await atHand(session, schema, published ?? { schema: 'core', table: 'parcel' }, published === null ? 'none' : 'all'), is_published: published !== null, carried,
  }));
}

/**
 * Retires parcels that disappear, and stores a digest of their geometry, a point and today's date. Reactivates retired parcels that return. If exactly one
 * current parcel has the geometry of a retired parcel, the current parcel becomes the successor. Where parcels appear or disappear, the successors of the
 * retired parcels of all regions are determined again. Call inside a transaction.
 * @param swap swap that changes the register
 * @param now table of the parcels to publish. The table is attached later, or was used to patch the published table
 * @param leaving table of the replaced parcels, or null if nothing is replaced
 * @param rows content of `now`: `whole` for all parcels, `patched` for only the new rows
 */
export async function retireParcels(
  session: Session, { swap, region }: { readonly swap: number; readonly region: number }, now: Place, leaving: Place | null, rows: 'whole' | 'patched',
): Promise<void> {
  // The lock makes swaps of different regions run one after another. If a comune moves between regions, each swap then sees the changes of the other.
  await session.query('lock table ledger.publication_lock in share row exclusive mode');
  if (await isOnNodes(session, now)) return retireDistributed(session, region, now, leaving);
  await session.query(register('come_back', { now }), [region, swap]);
  const parcels = [register('parcels_on', { table: now })];
  const moved = [register('is_on', { table: now, unless: leaving === null ? { sql: '' } : part('unless', { table: leaving }) })];
  if (leaving !== null) {
    await session.query(register('retire', { now, leaving }), [region, swap]);
    parcels.push(register('parcels_on', { table: leaving }));
    moved.push(register('is_on', { table: leaving, unless: part('unless', { table: now }) }));
  }
  const standing = rows === 'patched' ? part('standing_parcels', {}) : part('standing_with_new', { now, first: firstFid(region), next: firstFid(region + 1) });
  await session.query(register('name_successors', { standing, parcels: { sql: parcels.join(' union all ') }, moved: { sql: moved.join(' or ') } }), [swap]);
}
