-- purpose: overview of the published regions and comuni for the first view of the map
-- reads: core.comune, core.comune_catastale, core.comune_found, core.parcel, core.region, core.region_box, core.sheet, ledger.figure, ledger.publication, ledger.publication_table
-- writes: api.map_publication, api.map_regions, api.map_comuni, api.map_samples
-- grain: one call per publication and region
-- crs: EPSG:4326, longitude latitude

create or replace function api.map_publication(out publication text)
language sql stable security definer
set search_path to core, section, ledger, public, pg_temp
as $$
  select api.publication_tag(null)
$$;
comment on function api.map_publication() is 'Identifier of all input of the map, as api.publication_tag for all regions';

create or replace function api.map_regions(out publication text, out answer text)
language plpgsql volatile security definer
set search_path to core, section, ledger, public, pg_temp
as $$
begin
  perform api.hold_publication();
  publication := api.publication_tag(null);
  answer := (
    select coalesce(
      json_agg(
        json_build_object(
          'code', u.unit_code,
          'name', coalesce(r.name, (select min(f.region_name) from core.comune_found f where f.region_code = u.unit_code)),
          'published_at', to_char(u.published_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
          'parcels', coalesce(t.rows, 0),
          -- Land registers have no sheets, so the box of the region is used instead.
          'bbox', json_build_array(
            round(st_xmin(coalesce(s.box, b.geom::box2d))::numeric, 5), round(st_ymin(coalesce(s.box, b.geom::box2d))::numeric, 5),
            round(st_xmax(coalesce(s.box, b.geom::box2d))::numeric, 5), round(st_ymax(coalesce(s.box, b.geom::box2d))::numeric, 5)
          )
        )
        order by u.unit_code
      ),
      '[]'::json
    )
    from ledger.publication u
    left join ledger.publication_table t
      on t.publication_id = u.publication_id
      and t.relation = 'core.parcel'
    left join core.region r on r.code = u.unit_code
    left join core.region_box b on b.region_code = u.unit_code
    left join lateral (
      select st_extent(x.geom) as box
      from core.sheet x
      where x.region_code = u.unit_code
    ) s on true
    where u.state = 'current'
      and u.unit_code > 0
  );
end
$$;
comment on function api.map_regions() is 'JSON array of the published regions with code, name, time of publication, number of parcels, and the box of the sheets in degrees. A region without sheets has the box of the region instead';

create or replace function api.map_comuni(p_region int4, out publication text, out answer text)
language plpgsql volatile security definer
set search_path to core, section, ledger, public, pg_temp
as $$
declare
  v_releases int4[];
begin
  perform api.hold_publication();
  publication := api.publication_tag(null);
  v_releases := api.boundary_releases();
  answer := (
    with place as (
      select
        c.belfiore,
        c.istat_code,
        c.name
      from core.comune c
      where c.region_code = p_region
      union all
      -- Comuni that are not in the ISTAT list have the names given in their files.
      select
        f.belfiore,
        null,
        f.name
      from core.comune_found f
      where f.region_code = p_region
        and not exists (select from core.comune c where c.belfiore = f.belfiore)
    ),
    drawn as (
      select
        c.belfiore,
        -- Neighbouring comuni must have the same vertices along their border, because the server simplifies the border equally for both comuni.
        st_snaptogrid(c.geom, 0.0001) as geom
      from api.comune_pieces(p_region, v_releases) c
    ),
    outline as (
      select
        d.belfiore,
        st_multi(st_collectionextract(st_collect(d.geom), 3)) as geom
      from drawn d
      group by d.belfiore
    ),
    sheets as (
      select
        s.belfiore,
        st_extent(s.geom)::geometry as box
      from core.sheet s
      where s.region_code = p_region
      group by s.belfiore
    ),
    counted as (
      select
        f.comune as belfiore,
        sum(f.rows)::int8 as parcels
      from ledger.publication u
      join ledger.publication_table t using (publication_id)
      join ledger.figure f using (relation, partition)
      where u.unit_code = p_region
        and u.state = 'current'
        and t.relation = 'core.parcel'
        and f.comune <> '*'
      group by f.comune
    ),
    boxed as (
      select
        p.belfiore,
        p.istat_code,
        p.name,
        n.parcels,
        o.geom,
        coalesce(st_setsrid(s.box, 4326), st_envelope(o.geom)) as box
      from place p
      left join counted n on n.belfiore = p.belfiore
      left join outline o on o.belfiore = p.belfiore
      left join sheets s on s.belfiore = p.belfiore
    )
    select coalesce(
      json_agg(
        json_build_object(
          'belfiore', x.belfiore,
          'istat_code', x.istat_code,
          'name', x.name,
          'parcels', x.parcels,
          'bbox', case
            when x.box is not null then json_build_array(
              round(st_xmin(x.box)::numeric, 5), round(st_ymin(x.box)::numeric, 5), round(st_xmax(x.box)::numeric, 5), round(st_ymax(x.box)::numeric, 5)
            )
          end,
          'outline', st_asgeojson(x.geom, 4, 0)::json
        )
        order by x.belfiore
      ),
      '[]'::json
    )
    from boxed x
  );
end
$$;
comment on function api.map_comuni(int4) is 'JSON array of the comuni of a region with codes, name, and number of parcels from the quality gate (null: no parcels). Each comune has the box of its sheets, or else of its boundary, and the boundary with vertices rounded to 0.0001° (null: unknown)';

create or replace function api.map_samples(p_comuni text[], out publication text, out answer text)
language plpgsql volatile security definer
set search_path to core, section, ledger, public, pg_temp
as $$
declare
  v_stretch record;
  v_fid int4;
  v_found jsonb := '[]';
begin
  perform api.hold_publication();
  publication := api.publication_tag(null);
  -- In the index of references, a sheet is one range, and a comune catastale of a land register is one range. Ranges are looked up one by one, because parcels
  -- may be on other nodes.
  for v_stretch in
    select
      s.belfiore,
      s.reference || '.' as start
    from (
      select
        x.belfiore,
        x.reference,
        -- Selects the outermost sheets on four sides, and the middle sheet in the order of the references. A map that covers only a part of the comune is most
        -- likely to lack the outermost sheets.
        row_number() over (partition by x.belfiore order by st_xmin(x.geom), x.reference) as west,
        row_number() over (partition by x.belfiore order by st_xmax(x.geom) desc, x.reference) as east,
        row_number() over (partition by x.belfiore order by st_ymin(x.geom), x.reference) as south,
        row_number() over (partition by x.belfiore order by st_ymax(x.geom) desc, x.reference) as north,
        row_number() over (partition by x.belfiore order by x.reference) as nth,
        count(*) over (partition by x.belfiore) as n
      from core.sheet x
      where x.belfiore = any (p_comuni)
    ) s
    where 1 in (s.west, s.east, s.south, s.north)
      or s.nth = (s.n + 1) / 2
    union all
    select
      t.belfiore,
      t.prefix || '.'
    from core.comune_catastale t
    where t.belfiore = any (p_comuni)
  loop
    select p.fid
    into v_fid
    from core.parcel p
    where p.reference > v_stretch.start
      and p.reference < v_stretch.start || 'zzzz'
      and starts_with(p.reference, v_stretch.start)
      and p.kind = 'land'
    order by p.reference
    limit 1;
    if v_fid is not null then
      v_found := v_found || jsonb_build_array(jsonb_build_array(v_stretch.belfiore, v_fid));
    end if;
  end loop;
  answer := v_found::text;
end
$$;
comment on function api.map_samples(text[]) is 'JSON array of [cadastral code, fid] with sample land parcels of given comuni. The coverage of the samples represents the comune. The samples come from the outermost sheets on four sides and the middle sheet in the order of the references, or from each comune catastale. A comune without land parcels has no element';
