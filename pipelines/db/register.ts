/** The register of fids: what a build sees of the parcels that it takes the place of, and what becomes of those that leave. */
import { firstFid } from '../contract/regions.ts';
import { atHand, isOnNodes } from './at-hand.ts';
import { retireDistributed } from './distributed.ts';
import { statementsOf, type Part, type Place } from './statements.ts';
import type { Session } from './types.ts';

const register = statementsOf('register');
const part = (statement: string, names: Parameters<typeof register>[1]): Part => ({ sql: register(statement, names) });

/**
 * The view `published_parcel` of what is published of a region, which the new parcels take the place of; `carried` where a row is to stay.
 * @param members table of the members whose rows stay; null: none do
 */
export async function providePublishedParcels(session: Session, schema: string, published: Place | null, members: Place | null): Promise<void> {
  await session.query(register('published_parcel', {
    schema, from: await atHand(session, schema, published ?? { schema: 'core', table: 'parcel' }, published === null ? 'none' : 'all'), is_published: published !== null, carried: members === null ? { sql: 'false' } : part('is_carried', { members }),
  }));
}

/**
 * Parcels that leave are retired today, with their drawing; those that came back are in force again. A retired one, of any region, on whose ground a
 * parcel comes or goes names as its successor the only one in force with its drawing. Inside a transaction.
 * @param swap by which the register says something else
 * @param now table to be published
 * @param leaving the one that it takes the place of; null: none is published
 * @param among table of the fids that may have come or gone; null: any
 */
export async function retireParcels(session: Session, swap: number, region: number, now: Place, leaving: Place | null, among: Place | null): Promise<void> {
  // The region that loses a comune and the one that gains it must see one another.
  await session.query('lock table ledger.publication_lock in share row exclusive mode');
  if (await isOnNodes(session, now)) return retireDistributed(session, region, now, leaving);
  await session.query(register('come_back', { now }), [region, swap]);
  const parcels = [register('parcels_on', { table: now })];
  const moved = [register('is_on', { table: now, unless: leaving === null ? { sql: '' } : part('unless', { table: leaving }) })];
  if (leaving !== null) {
    await session.query(register('retire', { now, leaving, among: among === null ? { sql: '' } : part('among', { fids: among }) }), [region, swap]);
    parcels.push(register('parcels_on', { table: leaving }));
    moved.push(register('is_on', { table: leaving, unless: part('unless', { table: now }) }));
  }
  await session.query(register('name_successors', { now, parcels: { sql: parcels.join(' union all ') }, moved: { sql: moved.join(' or ') } }), [firstFid(region), firstFid(region + 1), swap]);
}
