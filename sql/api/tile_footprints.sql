-- purpose: outlines of buildings for a map tile
-- reads: core.building_coverage, core.parcel, layer.dbsn_building, layer.dpc_building, layer.trento_building, ledger.file, ledger.member, ledger.publication, ledger.publication_file, ledger.release
-- writes: api.parcels_of_other_sources, api.tile_footprints
-- grain: one call per tile
-- crs: EPSG:4326, longitude latitude; geometries are TWKB with 7 decimals, one after another, clipped to the box

create or replace function api.parcels_of_other_sources(p_box geometry, p_comuni text[], p_source text) returns geometry
language plpgsql stable as $$
declare
  v_comuni constant text[] := array(select c.belfiore from core.building_coverage c where c.belfiore = any (p_comuni) and c.source <> p_source);
begin
  return (
    select st_collect(d.geom)
    from core.parcel p
    cross join lateral st_dump(p.geom) d
    where p.geom && p_box
      and p.belfiore = any (v_comuni)
  );
end
$$;
comment on function api.parcels_of_other_sources(geometry, text[], text) is 'Polygons of the parcels that intersect a box, in the given comuni whose buildings come from a source other than p_source. Null if there are none';

create or replace function api.tile_footprints(p_box float8[], p_most int4, out publication text, out facts text, out drawings bytea)
language plpgsql volatile security definer
set search_path to core, section, ledger, public, pg_temp
as $$
declare
  v_box constant geometry := st_makeenvelope(p_box[1], p_box[2], p_box[3], p_box[4], 4326);
  v_comuni text[];
  v_sources text[];
  v_releases int4[];
  v_members int4[];
  -- For each source, the parcels in the box whose comune has buildings from a different source. Null if there are no such parcels, or if the comuni in the box
  -- have only one source.
  v_not_dbsn geometry;
  v_not_trento geometry;
  v_not_dpc geometry;
begin
  perform api.hold_publication();
  publication := api.publication_tag(null);
  select array_agg(c.belfiore)
  into v_comuni
  from (
    select distinct p.belfiore
    from core.parcel p
    where p.geom && v_box
  ) c;
  select array_agg(distinct c.source)
  into v_sources
  from core.building_coverage c
  where c.belfiore = any (v_comuni)
    and c.source is not null;
  if v_sources is null then
    return;
  end if;
  select
    array_agg(distinct coalesce(m.row_release_id, m.release_id)),
    array_agg(distinct coalesce(m.row_member_id, m.member_id))
  into v_releases, v_members
  from ledger.publication u
  join ledger.publication_file c using (publication_id)
  join ledger.file f using (file_id)
  join ledger.release r using (release_id)
  -- Joins by release_id too, because the index of ledger.member is on release_id.
  join ledger.member m using (release_id, file_id)
  where u.state = 'current'
    and r.source_id = any (v_sources);
  if cardinality(v_sources) > 1 then
    v_not_dbsn := api.parcels_of_other_sources(v_box, v_comuni, 'igm_dbsn');
    v_not_trento := api.parcels_of_other_sources(v_box, v_comuni, 'trento_cadastre');
    v_not_dpc := api.parcels_of_other_sources(v_box, v_comuni, 'dpc_buildings');
  end if;
  select
    json_agg(json_build_array(c.source) order by c.source, c.member_id, c.position)::text,
    string_agg(st_astwkb(c.geom, 7), ''::bytea order by c.source, c.member_id, c.position)
  into facts, drawings
  from (
    -- The same footprint may be in the files of two provinces.
    select distinct on (k.area_m2, k.source, k.whole) k.*
    from (
      select
        b.source,
        b.member_id,
        b.position,
        b.area_m2,
        b.geom as whole,
        case when b.geom @ v_box then b.geom else st_clipbybox2d(b.geom, v_box::box2d) end as geom,
        b.elsewhere
      from (
        select
          'igm_dbsn' as source,
          d.member_id,
          d.position,
          d.area_m2,
          d.geom,
          v_not_dbsn as elsewhere
        from layer.dbsn_building d
        where d.geom && v_box
          and d.release_id = any (v_releases)
          and d.member_id = any (v_members)
          and d.counts
        union all
        select
          'trento_cadastre',
          t.member_id,
          t.position,
          core.area_m2(t.geom),
          t.geom,
          v_not_trento
        from layer.trento_building t
        where t.geom && v_box
          and t.release_id = any (v_releases)
          and t.member_id = any (v_members)
        union all
        select
          'dpc_buildings',
          d.member_id,
          d.position,
          d.area_m2,
          d.geom,
          v_not_dpc
        from layer.dpc_building d
        where d.geom && v_box
          and d.release_id = any (v_releases)
          and d.member_id = any (v_members)
      ) b
    ) k
    where not st_isempty(k.geom)
      and (k.elsewhere is null or not st_intersects(st_pointonsurface(k.geom), k.elsewhere))
    order by k.area_m2 desc, k.source, k.whole, k.member_id, k.position
    limit p_most
  ) c;
end
$$;
comment on function api.tile_footprints(float8[], int4) is 'Outlines of the buildings in a box that the section buildings counts. A building is omitted if a point inside the building is on a parcel whose comune uses a different source. If there are more than p_most buildings, the largest are returned. The result has [source] of each outline as JSON, and the geometries. Both are null if there is no building';
