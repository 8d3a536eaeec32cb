-- purpose: attributions of API responses about places in several regions
-- reads: core.comune, core.comune_found
-- writes: api.licenses_of
-- grain: one call per response
-- crs: none

create or replace function api.licenses_of(p_regions int4[], p_comuni text[], p_sections text[]) returns text
language plpgsql stable security definer
set search_path to core, section, ledger, public, pg_temp
as $$
begin
  return (
    select coalesce(json_agg(l.license::json order by l.license collate "C"), '[]'::json)::text
    from (
      select distinct e.value::text as license
      from (
        select unnest(p_regions) as code
        union
        select c.region_code
        from core.comune c
        where c.belfiore = any (p_comuni)
        union
        select f.region_code
        from core.comune_found f
        where f.belfiore = any (p_comuni)
      ) r
      cross join lateral json_array_elements(api.licenses(r.code, p_sections)) e
    ) l
  );
end
$$;
comment on function api.licenses_of(int4[], text[], text[]) is 'JSON text of the attributions of sections, without repetitions, in given regions and in the regions of given comuni (cadastral codes)';
