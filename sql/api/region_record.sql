-- purpose: one parcel's record, from the tables of its region
-- reads: core.parcel
-- writes: api.region_record
-- grain: one call per parcel
-- crs: none

create or replace function api.region_record(p_fid int4, p_include text[], out head text, out citations uuid[])
language plpgsql volatile
-- The search path below is reset when this function ends.
set search_path to core, section, ledger, public, pg_temp
as $$
declare
  v_region constant int4 := core.region_of(p_fid);
  v_path constant text := 'region_' || v_region || ', core, section, ledger, public, pg_temp';
begin
  -- Looks up the schema while holding the lock, so no swap can happen before the record is read.
  perform api.hold_publication();
  if to_regnamespace('region_' || v_region) is null then
    select r.* into head, citations from api.parcel_record(p_fid, p_include, null::core.parcel) r;
    return;
  end if;
  -- After the search path is set, the function must not evaluate other expressions. PostgreSQL would plan these expressions again whenever the region changes.
  case v_region
    when 1 then
      perform set_config('search_path', v_path, true);
      select r.* into head, citations from api.parcel_record(p_fid, p_include, null::region_1.parcel) r;
    when 2 then
      perform set_config('search_path', v_path, true);
      select r.* into head, citations from api.parcel_record(p_fid, p_include, null::region_2.parcel) r;
    when 3 then
      perform set_config('search_path', v_path, true);
      select r.* into head, citations from api.parcel_record(p_fid, p_include, null::region_3.parcel) r;
    when 4 then
      perform set_config('search_path', v_path, true);
      select r.* into head, citations from api.parcel_record(p_fid, p_include, null::region_4.parcel) r;
    when 5 then
      perform set_config('search_path', v_path, true);
      select r.* into head, citations from api.parcel_record(p_fid, p_include, null::region_5.parcel) r;
    when 6 then
      perform set_config('search_path', v_path, true);
      select r.* into head, citations from api.parcel_record(p_fid, p_include, null::region_6.parcel) r;
    when 7 then
      perform set_config('search_path', v_path, true);
      select r.* into head, citations from api.parcel_record(p_fid, p_include, null::region_7.parcel) r;
    when 8 then
      perform set_config('search_path', v_path, true);
      select r.* into head, citations from api.parcel_record(p_fid, p_include, null::region_8.parcel) r;
    when 9 then
      perform set_config('search_path', v_path, true);
      select r.* into head, citations from api.parcel_record(p_fid, p_include, null::region_9.parcel) r;
    when 10 then
      perform set_config('search_path', v_path, true);
      select r.* into head, citations from api.parcel_record(p_fid, p_include, null::region_10.parcel) r;
    when 11 then
      perform set_config('search_path', v_path, true);
      select r.* into head, citations from api.parcel_record(p_fid, p_include, null::region_11.parcel) r;
    when 12 then
      perform set_config('search_path', v_path, true);
      select r.* into head, citations from api.parcel_record(p_fid, p_include, null::region_12.parcel) r;
    when 13 then
      perform set_config('search_path', v_path, true);
      select r.* into head, citations from api.parcel_record(p_fid, p_include, null::region_13.parcel) r;
    when 14 then
      perform set_config('search_path', v_path, true);
      select r.* into head, citations from api.parcel_record(p_fid, p_include, null::region_14.parcel) r;
    when 15 then
      perform set_config('search_path', v_path, true);
      select r.* into head, citations from api.parcel_record(p_fid, p_include, null::region_15.parcel) r;
    when 16 then
      perform set_config('search_path', v_path, true);
      select r.* into head, citations from api.parcel_record(p_fid, p_include, null::region_16.parcel) r;
    when 17 then
      perform set_config('search_path', v_path, true);
      select r.* into head, citations from api.parcel_record(p_fid, p_include, null::region_17.parcel) r;
    when 18 then
      perform set_config('search_path', v_path, true);
      select r.* into head, citations from api.parcel_record(p_fid, p_include, null::region_18.parcel) r;
    when 19 then
      perform set_config('search_path', v_path, true);
      select r.* into head, citations from api.parcel_record(p_fid, p_include, null::region_19.parcel) r;
    when 20 then
      perform set_config('search_path', v_path, true);
      select r.* into head, citations from api.parcel_record(p_fid, p_include, null::region_20.parcel) r;
  end case;
end
$$;
comment on function api.region_record(int4, text[]) is 'The result of api.parcel_record, read from the views of the parcel''s region (schema region_N). If the region has no views, the tables of all regions are read';
