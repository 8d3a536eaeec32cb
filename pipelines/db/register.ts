/** The register of fids: what a build sees of the parcels that it takes the place of, and what becomes of those that leave. */
import type { Place } from './catalog.ts';
import { ident, type Session } from './types.ts';

/**
 * The view `published_parcel` of what is published of a region, which the new parcels take the place of; `carried` where a row is to stay.
 * @param members table of the members whose rows stay; null: none do
 */
export async function providePublishedParcels(session: Session, schema: string, published: Place | null, members: Place | null): Promise<void> {
  const carried = members === null ? 'false' : `exists (select from ${ident(members.schema, members.table)} m where m.was = p.member_id)`;
  const from = published === null ? ident('core', 'parcel') : ident(published.schema, published.table);
  await session.query(`create view ${ident(schema, 'published_parcel')} as select p.*, ${carried} as carried from ${from} p${published === null ? ' where false' : ''}`);
}

/**
 * Parcels that leave are retired today, with their drawing; those that came back are in force again. A retired one, of any region, on whose ground a
 * parcel comes or goes names as its successor the only one in force with its drawing. Inside a transaction.
 * @param parcels table to be published
 * @param leaving the one that it takes the place of; null: none is published
 * @param among table of the fids that may have come or gone; null: any
 */
export async function retireParcels(session: Session, region: number, parcels: Place, leaving: Place | null, among: Place | null): Promise<void> {
  // The region that loses a comune and the one that gains it must see one another.
  await session.query('lock table ledger.publication_lock in share row exclusive mode');
  const now = ident(parcels.schema, parcels.table);
  await session.query(
    `update core.parcel_register r set retired_on = null, drawing = null, point = null, successor_fid = null
     where r.region_code = $1 and r.retired_on is not null and exists (select from ${now} p where p.fid = r.fid)`, [region],
  );
  if (leaving !== null) {
    await session.query(
      `update core.parcel_register r set retired_on = current_date, drawing = core.drawing(w.geom), point = w.point
       from ${ident(leaving.schema, leaving.table)} w ${among === null ? '' : `join ${ident(among.schema, among.table)} using (fid)`}
       where r.region_code = $1 and r.fid = w.fid and not exists (select from ${now} p where p.fid = w.fid)`, [region],
    );
  }
  // offset 0: asked once per retired parcel, never a join, of which PostGIS now and then makes an estimate that the planner refuses.
  const moved = (one: string, other: string | null): string =>
    `exists (select from ${one} p where p.geom && r.point ${other === null ? '' : `and not exists (select from ${other} o where o.fid = p.fid)`} offset 0)`;
  const was = leaving === null ? null : ident(leaving.schema, leaving.table);
  await session.query(
    `with box as materialized (
       select st_setsrid(st_extent(geom)::geometry, 4326) as geom from (select geom from ${now} ${was === null ? '' : `union all select geom from ${was}`}) p
     ),
     standing as not materialized (
       select fid, geom from core.parcel where fid < $1 * 100000000 or fid >= ($1 + 1) * 100000000
       union all
       select fid, geom from ${now}
     ),
     found as materialized (
       select r.region_code, r.reference,
         (select case when count(*) = 1 then min(s.fid) end from standing s where s.geom && r.point and core.drawing(s.geom) = r.drawing) as fid
       from core.parcel_register r
       where r.point is not null and r.point && (select geom from box) and (${moved(now, was)}${was === null ? '' : ` or ${moved(was, now)}`})
     )
     update core.parcel_register r set successor_fid = f.fid from found f
     where r.region_code = f.region_code and r.reference = f.reference and r.successor_fid is distinct from f.fid`, [region],
  );
}
