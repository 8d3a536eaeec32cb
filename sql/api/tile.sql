-- purpose: the parcels and comuni for a map tile
-- reads: core.comune, core.comune_register, core.parcel, layer.boundary, ledger.file, ledger.publication, ledger.publication_file
-- writes: api.boundary_releases, api.comune_pieces, api.tile_parcels, api.tile_comuni
-- grain: one call per tile
-- crs: EPSG:4326, longitude latitude; geometries are clipped to the box and returned as concatenated TWKB with 7 decimals

-- In this file, argument p_box is west, south, east, north in degrees. In a database on several nodes, each node clips its own parcels and the coordinator
-- combines the results.

create or replace function api.tile_parcels(
  p_box float8[], p_kinds text[], p_sections text[], p_range int4[], p_most int4,
  out publication text, out facts text, out drawings bytea, out told text
)
language plpgsql volatile security definer
set search_path to core, section, ledger, public, pg_temp
as $$
declare
  v_box constant geometry := st_makeenvelope(p_box[1], p_box[2], p_box[3], p_box[4], 4326);
  -- The range is a constant, so it is computed once per tile instead of once per parcel.
  v_range constant int4range := int4range(p_range[1], p_range[2]);
  v_fids int4[];
  v_labels text[];
  v_kinds text[];
  v_areas float8[];
begin
  perform api.hold_publication();
  publication := api.publication_tag(null);
  -- Sorts the parcels once, in the subquery. An `order by` in each aggregate would sort the parcels once per aggregate.
  select
    array_agg(c.fid),
    array_agg(c.label),
    array_agg(c.kind),
    array_agg(round(c.area_m2)),
    string_agg(st_astwkb(c.geom, 7), ''::bytea)
  into v_fids, v_labels, v_kinds, v_areas, drawings
  from (
    select
      h.fid,
      h.label,
      h.kind,
      h.area_m2,
      case when h.geom @ v_box then h.geom else st_clipbybox2d(h.geom, v_box::box2d) end as geom
    from (
      select
        p.fid,
        p.label,
        p.kind,
        p.area_m2,
        p.geom
      from core.parcel p
      where p.geom && v_box
        and p.kind = any (p_kinds)
        -- Tests the range with `<@`. With `fid >=`, PostgreSQL would use the index on fid instead of the more selective spatial index.
        and p.fid <@ v_range
      order by p.area_m2 desc, p.fid
      limit p_most
    ) h
    order by h.fid
  ) c
  where not st_isempty(c.geom);
  if v_fids is not null then
    -- One array per property takes half the time of one array per parcel.
    facts := concat('[', to_json(v_fids), ',', to_json(v_labels), ',', to_json(v_kinds), ',', to_json(v_areas), ']');
  end if;
  if cardinality(p_sections) > 0 and v_fids is not null then
    told := (api.parcel_columns(v_fids, p_sections)).answer;
  end if;
end
$$;
comment on function api.tile_parcels(float8[], text[], text[], int4[], int4) is 'Parcels of given kinds in a box with fids in a range (end excluded), ordered by fid. If there are more than the limit, the largest parcels are returned. Result facts is a JSON array of four arrays: fids, labels, kinds and areas in m². Result drawings has the geometries. Result told has the columns of sections as in api.parcel_columns (null: no section requested). Except publication, all results are null if there is no parcel';

create or replace function api.boundary_releases() returns int4[]
language sql stable as $$
  select coalesce(array_agg(distinct f.release_id), '{}')
  from ledger.publication u
  join ledger.publication_file c using (publication_id)
  join ledger.file f using (file_id)
  where u.state = 'current'
$$;
comment on function api.boundary_releases() is 'Releases of all current files, including the releases of boundaries';

create or replace function api.comune_pieces(p_region int4, p_releases int4[]) returns table (belfiore text, geom geometry)
language sql stable as $$
  with meaning as (
    select
      c.istat_code as code,
      c.belfiore
    from core.comune c
    where c.region_code = p_region
    union
    select
      r.old_istat_code,
      r.belfiore
    from core.comune_register r
    where r.region_code = p_region
      and not r.divided
  ),
  drawn as (
    select
      coalesce(b.belfiore, m.belfiore) as belfiore,
      b.geom,
      dense_rank() over (partition by coalesce(b.belfiore, m.belfiore) order by b.vintage desc, b.release_id desc) as edition
    from meaning m
    join layer.boundary b
      on b.kind = 'comune'
      and b.code = m.code
      and b.release_id = any (p_releases)
  )
  select
    d.belfiore,
    d.geom
  from drawn d
  where d.edition = 1
$$;
comment on function api.comune_pieces(int4, int4[]) is 'Boundaries of the comuni of a region, each from the newest of the given releases that has the comune. If this release is older than a merger, the merged comune has one row for each former comune';

create or replace function api.tile_comuni(p_box float8[], p_step_deg float8, p_region int4, out publication text, out facts text, out drawings bytea)
language plpgsql volatile security definer
set search_path to core, section, ledger, public, pg_temp
as $$
declare
  v_box constant geometry := st_makeenvelope(p_box[1], p_box[2], p_box[3], p_box[4], 4326);
  v_releases int4[];
begin
  perform api.hold_publication();
  publication := api.publication_tag(null);
  v_releases := api.boundary_releases();
  select
    json_agg(json_build_array(c.belfiore, c.name, c.code, c.region_code) order by c.code, c.position)::text,
    string_agg(st_astwkb(c.geom, 7), ''::bytea order by c.code, c.position)
  into facts, drawings
  from (
    select
      b.code,
      b.position,
      coalesce(b.belfiore, n.belfiore) as belfiore,
      coalesce(n.name, b.name) as name,
      n.region_code,
      st_simplify(case when b.geom @ v_box then b.geom else st_clipbybox2d(b.geom, v_box::box2d) end, p_step_deg, true) as geom
    from layer.boundary b
    -- A boundary of an earlier year has the ISTAT code of that year, so former codes are matched too.
    left join lateral (
      select
        m.belfiore,
        k.name,
        k.region_code
      from (
        select
          k.belfiore,
          0 as nth
        from core.comune k
        where k.istat_code = b.code
        union all
        select
          r.belfiore,
          1
        from core.comune_register r
        where r.old_istat_code = b.code
          and not r.divided
      ) m
      left join core.comune k on k.belfiore = m.belfiore
      order by m.nth, m.belfiore
      limit 1
    ) n on true
    where b.geom && v_box
      and b.kind = 'comune'
      and b.release_id = any (v_releases)
      and (p_region is null or n.region_code = p_region)
      -- If several releases have the comune, the newest release is used.
      and not exists (
        select
        from layer.boundary x
        where x.kind = 'comune'
          and x.code = b.code
          and x.release_id = any (v_releases)
          and (x.vintage, x.release_id) > (b.vintage, b.release_id)
      )
  ) c
  where not st_isempty(c.geom);
end
$$;
comment on function api.tile_comuni(float8[], float8, int4) is 'Comuni of a region (null: all regions) in a box, with their published boundaries. Boundaries are simplified with a tolerance of p_step_deg degrees. The result has [cadastral code, name, ISTAT code, region code] of each comune as JSON, and the geometries. Both are null if there is no comune';
