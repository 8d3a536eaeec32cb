-- purpose: the section address of one parcel
-- reads: section.address
-- writes: api.section_address
-- grain: one array per parcel, one element per access point, at most 20
-- crs: EPSG:4326

create or replace function api.section_address(p_fid int4, p_from anyelement, out value json, out linked bool, out keys text[])
language plpgsql stable as $$
declare
  -- The parcel is read first, because parcels and addresses may be on different nodes.
  v_found constant int8[] := array(
    select x.address_id
    from address x
    where x.fid = p_fid
    order by x.ordinal
  );
begin
  value := (
    select coalesce(
      json_agg(api.address_json(core.region_of(p_fid), x.address_id, p_from) order by x.ordinal),
      '[]'::json
    )
    from unnest(v_found) with ordinality as x (address_id, ordinal)
  );
  if v_found <> '{}' then
    keys := array['address/' || p_fid];
  end if;
end
$$;
comment on function api.section_address(int4, anyelement) is 'Section address as JSON: the parcel''s access points, first those inside, then those within 15 m. [] if there are none';
