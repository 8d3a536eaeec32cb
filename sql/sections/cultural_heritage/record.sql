-- purpose: the section cultural_heritage of one parcel
-- reads: section.cultural_heritage, core.point_of_interest
-- writes: api.section_cultural_heritage
-- grain: one array per parcel, one element per place of culture, at most 20
-- crs: none

create or replace function api.section_cultural_heritage(p_fid int4, p_from anyelement, out value json, out linked bool, out keys text[])
language plpgsql stable as $$
declare
  v_kinds text;
begin
  select
    coalesce(
      json_agg(
        json_build_object(
          'id', p.code,
          'name', p.name,
          'type', p.categories,
          'class', p.class,
          'address', p.address,
          'municipality', p.locality,
          'province', p.province,
          'catalog_code', p.catalog_code,
          'distance_m', trim_scale(round(s.distance_m::numeric, 2)),
          'placed_by', p.placed_by
        )
        order by s.ordinal
      ),
      '[]'::json
    ),
    string_agg(distinct k.kind, ' ' order by k.kind)
  into value, v_kinds
  from cultural_heritage s
  join point_of_interest p
    on p.region_code = core.region_of(p_fid)
    and p.id = s.id
  cross join lateral (select (p.category || case when p.placed_by = 'address' then '+' else '' end) collate "C" as kind) k
  where s.fid = p_fid;
  if v_kinds is not null then
    keys := array['cultural_heritage/' || v_kinds, 'cultural_heritage/' || v_kinds || ' ' || p_fid];
  end if;
end
$$;
comment on function api.section_cultural_heritage(int4, anyelement) is 'Section cultural_heritage as JSON, ordered by name: places of culture inside the parcel, and those within 15 m that have no nearer land parcel. The array is empty if there are none';
