-- purpose: findings about the addresses of comuni, for corrections of the register
-- reads: core.access_point, core.street, layer.accesso, layer.odonimo_indir, ledger.file, ledger.file_place, ledger.member, ledger.publication, ledger.publication_file, ledger.release
-- writes: api.address_files, api.address_points, api.findings_by_place, api.findings_by_street, api.findings_by_release, api.address_findings, api.address_quality
-- grain: one row per finding
-- crs: EPSG:4326; geodesic distances (geography), rounded to centimetres before comparison; grids in EPSG:32632 and 32633

create or replace function api.address_files(p_region int4, p_comuni text[])
returns table (belfiore text, is_current bool, file_id int4, file text, vintage text)
language plpgsql stable as $$
begin
  return query
  with held as (
    select
      c.place,
      f.file_id,
      f.name,
      f.vintage,
      f.sha256,
      exists (
        select
        from ledger.publication u
        join ledger.publication_file x using (publication_id)
        where u.unit_code = p_region
          and u.state = 'current'
          and x.file_id = f.file_id
      ) as is_used,
      row_number() over (
        partition by c.place
        order by f.vintage collate "C" desc, coalesce(p.dated, f.dated, '') collate "C" desc, coalesce(f.arrived_run, 0) desc, f.file_id desc
      ) as turn
    from ledger.file_place p
    cross join lateral unnest(p.places) as c (place)
    join ledger.file f on f.file_id = p.file_id
    join ledger.release r on r.release_id = f.release_id
    where p.layer = 'accesso'
      and c.place = any (p_comuni)
      and f.forgotten_at is null
      and r.state = 'loaded'
  ),
  used as (
    select distinct on (h.place)
      h.*
    from held h
    where h.is_used
    order by h.place, h.turn
  ),
  before as (
    select distinct on (h.place)
      h.*
    from held h
    join used u on u.place = h.place
    where h.turn > u.turn
      -- Ignores earlier files with the same bytes. Two versions of the program may have read one file twice.
      and h.sha256 <> u.sha256
    order by h.place, h.turn
  )
  select
    u.place,
    true,
    u.file_id,
    u.name,
    u.vintage
  from used u
  union all
  select
    b.place,
    false,
    b.file_id,
    b.name,
    b.vintage
  from before b;
end
$$;
comment on function api.address_files(int4, text[]) is 'The current address file of each comune (is_current), and the newest older address file whose rows are still in the database';

create or replace function api.address_points(p_region int4, p_comuni text[])
returns table (belfiore text, address_id int8, street_id int8, street text, civic int4, exponent text, colour text, metric_m int4, geom geometry)
language sql stable as $$
  select
    a.belfiore,
    a.address_id,
    a.street_id,
    s.name,
    a.number,
    a.exponent,
    a.colour,
    a.metric_m,
    a.geom
  from core.street s
  -- Reads the addresses street by street, because a scan of the region would read the addresses of all comuni.
  cross join lateral (
    select *
    from core.access_point x
    where x.region_code = s.region_code
      and x.street_id = s.street_id
    offset 0
  ) a
  where s.region_code = p_region
    and s.belfiore = any (p_comuni)
    and a.belfiore = any (p_comuni)
$$;
comment on function api.address_points(int4, text[]) is 'Published addresses of comuni with the names of their streets';

create or replace function api.findings_by_place(p_region int4, p_comuni text[])
returns table (belfiore text, kind text, address_id int8, street text, number text, value float8, unit text, geom geometry, other_id int8)
language plpgsql stable as $$
declare
  -- Computed once, because a call in the query would run once per boundary.
  v_releases constant int4[] := api.boundary_releases();
begin
  return query
  with point as materialized (
    select
      p.*,
      -- Encodes the point as one integer: the longitude times 1e7, followed by the 9 digits of the latitude times 1e7.
      (st_x(p.geom) * 1e7)::int8 * 1000000000 + (st_y(p.geom) * 1e7)::int8 as spot
    from api.address_points(p_region, p_comuni) p
    where p.geom is not null
  ),
  area as materialized (
    select
      c.belfiore,
      st_union(c.geom) as geom
    from api.comune_pieces(p_region, v_releases) c
    where c.belfiore = any (p_comuni)
    group by c.belfiore
  ),
  outside as (
    select
      p.*,
      round(st_distance(p.geom::geography, a.geom::geography)::numeric, 2)::float8 as distance_m
    from area a
    join point p on p.belfiore = a.belfiore
    where not st_covers(a.geom, p.geom)
  ),
  numbered as (
    select *
    from point p
    where p.civic is not null
      or p.metric_m is not null
  ),
  ranked as (
    select
      n.*,
      dense_rank() over (partition by n.belfiore, n.spot order by n.street_id, n.civic, n.exponent collate "C" nulls first, n.colour collate "C" nulls first, n.metric_m) as place
    from numbered n
    join (
      select
        b.belfiore,
        b.spot
      from numbered b
      group by b.belfiore, b.spot
      having count(*) > 1
    ) s on s.belfiore = n.belfiore and s.spot = n.spot
  ),
  crowded as (
    select
      r.*,
      max(r.place) over w as numbers,
      min(r.address_id) filter (where r.place = 1) over w as of_first,
      min(r.address_id) filter (where r.place = 2) over w as of_second
    from ranked r
    window w as (partition by r.belfiore, r.spot)
  ),
  gridded as (
    select
      p.*,
      count(*) over (partition by p.belfiore, z.zone) as points
    from point p
    -- Between 11 and 13 degrees of longitude, comuni use one of two UTM zones, so both zones are tried.
    join (values (32632, 0, 13), (32633, 11, 90)) as z (zone, west, east) on st_x(p.geom) between z.west and z.east
    cross join lateral (select st_transform(p.geom, z.zone) as geom offset 0) t
    where abs(st_x(t.geom) - 10 * round(st_x(t.geom) / 10)) <= 0.01
      and abs(st_y(t.geom) - 10 * round(st_y(t.geom) / 10)) <= 0.01
  )
  select
    f.belfiore,
    f.kind,
    f.address_id,
    f.street,
    api.street_number(f.civic, f.exponent, f.colour, f.metric_m),
    f.value,
    f.unit,
    f.geom,
    f.other_id
  from (
    select
      o.belfiore, 'outside' as kind, o.address_id, o.street, o.civic, o.exponent, o.colour, o.metric_m,
      o.distance_m as value, 'm' as unit, o.geom, null::int8 as other_id
    from outside o
    union all
    select
      c.belfiore, 'same_point', c.address_id, c.street, c.civic, c.exponent, c.colour, c.metric_m,
      c.numbers, 'numbers', c.geom, case c.place when 1 then c.of_second else c.of_first end
    from crowded c
    where c.numbers > 1
    union all
    select
      g.belfiore, 'grid_10m', g.address_id, g.street, g.civic, g.exponent, g.colour, g.metric_m,
      g.points, 'points', g.geom, null
    from gridded g
    where g.points >= 20
  ) f;
end
$$;
comment on function api.findings_by_place(int4, text[]) is 'Addresses that are outside the boundary of their comune, share a point with a different number, or are on a grid of 10 m with at least 20 addresses of the comune';

create or replace function api.findings_by_street(p_region int4, p_comuni text[])
returns table (belfiore text, kind text, address_id int8, street text, number text, value float8, unit text, geom geometry, other_id int8)
language plpgsql stable as $$
begin
  return query
  with placed as (
    select
      p.*,
      st_x(p.geom) as x,
      st_y(p.geom) as y
    from api.address_points(p_region, p_comuni) p
    where p.geom is not null
      and p.civic is not null
  ),
  between_two as (
    select
      p.*,
      lag(p.x) over w as x_before,
      lag(p.y) over w as y_before,
      lead(p.x) over w as x_after,
      lead(p.y) over w as y_after,
      lag(p.address_id) over w as id_before
    from placed p
    window w as (partition by p.street_id, p.civic % 2, p.colour order by p.civic, p.exponent collate "C" nulls first, p.address_id)
  ),
  measured as (
    select
      b.*,
      round(st_distance(st_makepoint(b.x_before, b.y_before)::geography, st_makepoint(b.x_after, b.y_after)::geography)::numeric, 2) as gap_m,
      round(
        least(
          st_distance(b.geom::geography, st_makepoint(b.x_before, b.y_before)::geography),
          st_distance(b.geom::geography, st_makepoint(b.x_after, b.y_after)::geography)
        )::numeric,
        2
      )::float8 as distance_m
    from between_two b
    -- In Italy, 500 m are always more than 0.0044 degrees. This fast test excludes most addresses before the geodesic distance is computed.
    where (b.x - b.x_before) ^ 2 + (b.y - b.y_before) ^ 2 > 0.0044 ^ 2
      and (b.x - b.x_after) ^ 2 + (b.y - b.y_after) ^ 2 > 0.0044 ^ 2
  )
  select
    m.belfiore,
    'out_of_order',
    m.address_id,
    m.street,
    api.street_number(m.civic, m.exponent, m.colour, m.metric_m),
    m.distance_m,
    'm',
    m.geom,
    m.id_before
  from measured m
  where m.gap_m <= 200
    and m.distance_m >= 500
  union all
  select
    s.belfiore,
    'no_numbers',
    null,
    s.name,
    null,
    s.accesses,
    'addresses',
    null,
    s.street_id
  from core.street s
  join api.address_files(p_region, p_comuni) f on f.is_current
    and f.belfiore = s.belfiore
  where s.region_code = p_region
    and s.belfiore = any (p_comuni)
    and s.accesses = (
      select count(*)
      from core.access_point a
      where a.region_code = s.region_code
        and a.street_id = s.street_id
        and a.number is null
        and a.metric_m is null
    );
end
$$;
comment on function api.findings_by_street(int4, text[]) is 'Addresses at least 500 m from the previous and the next number of the same parity and colour, if these two are at most 200 m apart. Also streets whose addresses have neither a number nor a kilometre (other_id: the street)';

create or replace function api.findings_by_release(p_region int4, p_comuni text[])
returns table (belfiore text, kind text, address_id int8, street text, number text, value float8, unit text, geom geometry, other_id int8)
language plpgsql stable as $$
declare
  -- Selects the releases before the query is planned, so PostgreSQL reads only the partitions of these releases.
  v_releases constant int4[] := array(
    select distinct coalesce(m.row_release_id, m.release_id)
    from api.address_files(p_region, p_comuni) f
    join ledger.member m on m.file_id = f.file_id
    where not f.is_current
  );
  v_comuni constant text[] := array(select f.belfiore from api.address_files(p_region, p_comuni) f where not f.is_current);
begin
  if cardinality(v_releases) = 0 then
    return;
  end if;
  return query
  with before as materialized (
    select
      a.belfiore,
      a.release_id,
      a.progressivo_accesso as address_id,
      a.progressivo_nazionale as street_id,
      a.progressivo_snc,
      a.civico,
      a.esponente,
      a.specificita,
      a.metrico,
      a.geom
    from api.address_files(p_region, p_comuni) f
    join ledger.member m on m.file_id = f.file_id
    join layer.accesso a on a.release_id = coalesce(m.row_release_id, m.release_id)
      and a.member_id = coalesce(m.row_member_id, m.member_id)
      and a.belfiore = f.belfiore
    where not f.is_current
      and a.release_id = any (v_releases)
      and a.belfiore = any (p_comuni)
  ),
  now as materialized (
    select p.*
    from api.address_points(p_region, v_comuni) p
  )
  select
    n.belfiore,
    case when b.address_id is null then 'new' else 'moved' end,
    n.address_id,
    n.street,
    api.street_number(n.civic, n.exponent, n.colour, n.metric_m),
    d.distance_m,
    case when b.address_id is not null then 'm' end,
    n.geom,
    null::int8
  from now n
  left join before b on b.address_id = n.address_id
    and b.belfiore = n.belfiore
  cross join lateral (
    select case
      -- In Italy, 20 m are always more than 0.00017 degrees. This fast test excludes most addresses before the geodesic distance is computed.
      when st_distance(n.geom, b.geom) > 0.00017 then round(st_distance(n.geom::geography, b.geom::geography)::numeric, 2)::float8
    end as distance_m
    offset 0
  ) d
  where b.address_id is null
    or d.distance_m > 20
  union all
  select
    b.belfiore,
    'missing',
    b.address_id,
    coalesce(s.name, i.display_name),
    -- Computes the same values as core.access_point.
    case
      when b.progressivo_snc is not null then api.street_number(null, null, null, null)
      else api.street_number(
        b.civico, nullif(core.upper_case(trim(b.esponente)), ''), nullif(core.upper_case(trim(b.specificita)), ''), case when b.civico is null then b.metrico end
      )
    end,
    null,
    null,
    b.geom,
    null
  from before b
  left join core.street s on s.region_code = p_region
    and s.street_id = b.street_id
  left join layer.odonimo_indir i on i.release_id = b.release_id
    and i.release_id = any (v_releases)
    and i.progressivo_nazionale = b.street_id
    and s.street_id is null
  where not exists (
    select
    from now n
    where n.address_id = b.address_id
      and n.belfiore = b.belfiore
  );
end
$$;
comment on function api.findings_by_release(int4, text[]) is 'Addresses that moved by more than 20 m, are new, or are missing, compared with the comune''s earlier address file. The result is empty if there is no earlier file';

create or replace function api.address_findings(p_region int4, p_comuni text[])
returns table (belfiore text, kind text, address_id int8, street text, number text, value float8, unit text, geom geometry, other_id int8)
language sql stable as $$
  select * from api.findings_by_place(p_region, p_comuni)
  union all
  select * from api.findings_by_street(p_region, p_comuni)
  union all
  select * from api.findings_by_release(p_region, p_comuni)
$$;
comment on function api.address_findings(int4, text[]) is 'Findings about the published addresses of comuni';

create or replace function api.address_quality(p_region int4, p_comuni text[], p_most int8 default null)
returns table (belfiore text, answer json)
language plpgsql stable as $$
declare
  -- Computed once, because a call in the query would run once per boundary.
  v_releases constant int4[] := api.boundary_releases();
  v_large constant text[] := array(
    select s.belfiore
    from core.street s
    where s.region_code = p_region
      and s.belfiore = any (p_comuni)
    group by s.belfiore
    having sum(s.accesses) > p_most
  );
begin
  return query
  with kind as (
    select *
    from (
      values
        (1, 'outside', 0, 50), (2, 'outside', 50, 200), (3, 'outside', 200, 1000), (4, 'outside', 1000, null),
        (5, 'same_point', null, null), (6, 'grid_10m', null, null), (7, 'no_numbers', null, null), (8, 'out_of_order', null, null),
        (9, 'moved', null, null), (10, 'new', null, null), (11, 'missing', null, null)
    ) as k (turn, kind, from_m, below_m)
  ),
  found as (
    select
      f.belfiore,
      k.turn,
      count(*) as findings
    from api.address_findings(p_region, array(select c.belfiore from unnest(p_comuni) as c (belfiore) where c.belfiore <> all (v_large))) f
    join kind k on k.kind = f.kind
      and (k.from_m is null or f.value >= k.from_m)
      and (k.below_m is null or f.value < k.below_m)
    group by f.belfiore, k.turn
  ),
  counted as (
    select
      s.belfiore,
      sum(s.accesses)::int8 as addresses
    from core.street s
    where s.region_code = p_region
      and s.belfiore = any (p_comuni)
    group by s.belfiore
  ),
  file as (
    select *
    from api.address_files(p_region, p_comuni)
  ),
  bounded as (
    select distinct c.belfiore
    from api.comune_pieces(p_region, v_releases) c
    where c.belfiore = any (p_comuni)
  )
  select
    c.belfiore,
    json_build_object(
      'addresses', case when now.belfiore is not null then coalesce(n.addresses, 0) end,
      'compared_with', case when before.belfiore is not null then json_build_object('file', before.file, 'vintage', before.vintage) end,
      'findings', (
        select json_agg(
          json_build_object(
            'kind', k.kind,
            'from_m', k.from_m,
            'below_m', k.below_m,
            'count', case
              when now.belfiore is null or c.belfiore = any (v_large) then null
              when k.kind = 'outside' and d.belfiore is null then null
              when k.kind in ('moved', 'new', 'missing') and before.belfiore is null then null
              else coalesce(f.findings, 0)
            end
          )
          order by k.turn
        )
        from kind k
        left join found f on f.belfiore = c.belfiore
          and f.turn = k.turn
      )
    )
  from unnest(p_comuni) as c (belfiore)
  left join counted n on n.belfiore = c.belfiore
  left join file now on now.belfiore = c.belfiore
    and now.is_current
  left join file before on before.belfiore = c.belfiore
    and not before.is_current
  left join bounded d on d.belfiore = c.belfiore;
end
$$;
comment on function api.address_quality(int4, text[], int8) is 'Findings about the addresses of comuni, counted by kind. Column answer is a JSON object. Member addresses is null if the comune has no loaded file of addresses. Member compared_with is null if the database has no earlier file. Member count is null if a file or boundary that the check needs is not loaded, or if the comune has more than p_most addresses';
