-- purpose: one parcel's record for the server
-- reads: none
-- writes: api.parcel_answer
-- grain: one call per parcel
-- crs: EPSG:4326, longitude latitude

create or replace function api.parcel_answer(p_fid int4, p_include text[], out publication text, out answer text)
language plpgsql volatile security definer
set search_path to public, pg_temp
as $$
begin
  perform api.hold_publication();
  publication := api.publication_tag(core.region_of(p_fid));
  -- Licences are a third of a record and the same for many parcels, so the server caches them.
  answer := api.region_record(p_fid, p_include, false);
end
$$;
comment on function api.parcel_answer(int4, text[]) is 'The record of api.parcel as JSON text, with the keys of its citations (api.citations) instead of licences, and the publications it came from; answer null: there is no such parcel';
