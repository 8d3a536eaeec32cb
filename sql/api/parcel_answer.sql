-- purpose: one parcel's record as the server answers it
-- reads: none
-- writes: api.parcel_answer
-- grain: one call per parcel
-- crs: EPSG:4326, longitude latitude

create or replace function api.parcel_answer(p_fid int4, p_include text[], p_known text, out publication text, out answer text, out licenses text)
language plpgsql volatile security definer
set search_path to public, pg_temp
as $$
begin
  perform api.hold_publication();
  publication := api.publication_tag(core.region_of(p_fid));
  answer := api.region_record(p_fid, p_include, false);
  -- A region and a choice of sections have the same from one publication to the next, and they are a third of a record.
  if answer is not null and publication is distinct from p_known then
    licenses := api.licenses(core.region_of(p_fid), api.included(p_include));
  end if;
end
$$;
comment on function api.parcel_answer(int4, text[], text) is 'The record of api.parcel as JSON text with an empty list of licences, the publications it came from, and the licences as JSON text; licenses null: the same as of the publications p_known; answer null: there is no such parcel';
