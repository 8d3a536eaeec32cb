-- purpose: the lists of regions, provinces and comuni
-- reads: core.region, core.province, core.comune, core.comune_found, ledger.publication
-- writes: api.admin_key, api.find_regions, api.find_provinces, api.known_regions, api.admin_regions, api.admin_provinces, api.admin_municipalities
-- grain: one call per list
-- crs: none

create or replace function api.admin_key(p_name text) returns text
language sql stable as $$
  select regexp_replace(core.lower_case(unaccent(p_name)), '[^a-z0-9]+', ' ', 'g')
$$;
comment on function api.admin_key(text) is 'Key of a name for comparisons. Spellings that differ only in case, accents and punctuation have the same key';

create or replace function api.known_regions()
returns table (code int2, name text, area_km2 float8)
language plpgsql stable rows 20 as $$
begin
  return query
  select r.code, r.name, r.area_km2
  from core.region r
  union all
  -- If the list of comuni is not loaded, a published region has the name given in its files.
  select
    u.unit_code::int2,
    (select min(f.region_name) from core.comune_found f where f.region_code = u.unit_code),
    null::float8
  from ledger.publication u
  where u.state = 'current'
    and u.unit_code > 0
    and not exists (select from core.region r where r.code = u.unit_code);
end
$$;
comment on function api.known_regions() is 'The regions of the ISTAT list, and published regions that are not in the list. The area is in square kilometres, null if no boundaries are loaded';

create or replace function api.find_regions(p_region text) returns int2[]
language sql stable as $$
  select coalesce(array_agg(r.code), '{}')
  from api.known_regions() r
  where trim(api.admin_key(p_region)) in (api.admin_key(r.name), r.code::text, lpad(r.code::text, 2, '0'))
    -- Matches each part of a name in two languages, such as Valle d'Aosta/Vallée d'Aoste.
    or trim(api.admin_key(p_region)) in (select trim(api.admin_key(x.part)) from string_to_table(r.name, '/') as x (part))
$$;
comment on function api.find_regions(text) is 'Codes of the regions with a given name or code. Empty if no region matches';

create or replace function api.find_provinces(p_province text) returns text[]
language sql stable as $$
  select coalesce(array_agg(p.code), '{}')
  from core.province p
  where trim(api.admin_key(p_province)) in (trim(api.admin_key(p.name)), p.code, core.lower_case(p.abbreviation))
    or trim(api.admin_key(p_province)) in (select trim(api.admin_key(x.part)) from string_to_table(p.name, '/') as x (part))
$$;
comment on function api.find_provinces(text) is 'Codes of the provinces with a given name, code or car plate code. Empty if no province matches';

create or replace function api.admin_regions(out publication text, out answer text)
language plpgsql volatile security definer
set search_path to core, section, ledger, public, pg_temp
as $$
begin
  perform api.hold_publication();
  -- The list contains published regions and comuni that only the files of a region name, so all publications count, not only the publication of Italy.
  publication := api.publication_tag(null);
  select api.envelope(
    json_agg(
      json_build_object('code', r.code, 'name', r.name, 'area_km2', trim_scale(round(r.area_km2::numeric, 2)))
      order by r.code
    ),
    json_build_object('count', count(*))
  )
  into answer
  from api.known_regions() r;
end
$$;
comment on function api.admin_regions() is 'The regions, ordered by code';

create or replace function api.admin_provinces(p_region text, out publication text, out answer text)
language plpgsql volatile security definer
set search_path to core, section, ledger, public, pg_temp
as $$
declare
  v_regions int2[];
begin
  perform api.hold_publication();
  publication := api.publication_tag(null);
  v_regions := case when p_region is not null then api.find_regions(p_region) end;
  select api.envelope(
    json_agg(
      json_build_object('code', p.code, 'name', p.name, 'abbreviation', p.abbreviation, 'region_code', p.region_code)
      order by p.code
    ),
    json_build_object('count', count(*))
  )
  into answer
  from core.province p
  where v_regions is null or p.region_code = any (v_regions);
end
$$;
comment on function api.admin_provinces(text) is 'The provinces of Italy or of a given region, ordered by code';

create or replace function api.admin_municipalities(p_province text, p_region text, out publication text, out answer text)
language plpgsql volatile security definer
set search_path to core, section, ledger, public, pg_temp
as $$
declare
  v_regions int2[];
  v_provinces text[];
begin
  perform api.hold_publication();
  publication := api.publication_tag(null);
  v_regions := case when p_region is not null then api.find_regions(p_region) end;
  v_provinces := case when p_province is not null then api.find_provinces(p_province) end;
  select api.envelope(
    json_agg(
      json_build_object('code', c.belfiore, 'istat_code', c.istat_code, 'name', c.name, 'province', c.province_name, 'region', c.region_name)
      order by c.istat_code nulls last, c.belfiore
    ),
    json_build_object('count', count(*))
  )
  into answer
  from (
    select
      k.belfiore,
      k.istat_code,
      k.name,
      k.province_code,
      k.province_name,
      k.region_code,
      r.name as region_name
    from core.comune k
    left join core.region r on r.code = k.region_code
    union all
    -- Comuni that are not in the ISTAT list have the names given in their files.
    select
      f.belfiore,
      null,
      f.name,
      null,
      null,
      f.region_code,
      f.region_name
    from core.comune_found f
    where f.listed_region_code is null
      and not exists (select from core.comune k where k.belfiore = f.belfiore)
  ) c
  where (v_regions is null or c.region_code = any (v_regions))
    and (v_provinces is null or c.province_code = any (v_provinces));
end
$$;
comment on function api.admin_municipalities(text, text) is 'The comuni of Italy or of a given province or region, ordered by ISTAT code. Comuni that are not in the ISTAT list are last';
