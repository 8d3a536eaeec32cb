-- purpose: one parcel's record
-- reads: core.parcel, core.parcel_register, ledger.attribution, ledger.publication, ledger.publication_lock
-- writes: api.licenses, api.included, api.parcel_record, api.record_end, api.whole_record, api.parcel, api.parcel_by_reference, api.retired_parcel
-- grain: one call per parcel
-- crs: EPSG:4326, longitude latitude

create or replace function api.licenses(p_region int4, p_sections text[]) returns json
language plpgsql stable as $$
begin
  return (
    -- Names of comuni come from the publication of Italy (region 0).
    with cited as (
      select distinct on (a.section, a.source_id)
        a.*
      from ledger.publication u
      join ledger.attribution a using (publication_id)
      where u.unit_code in (0, p_region)
        and u.state = 'current'
        and a.section = any (p_sections)
      order by a.section, a.source_id, u.unit_code
    ),
    -- Holder and licence are both compared, because the cadastre has the same holder as the quotations but lacks their attribution text.
    mandatory as (
      select distinct on (a.holder, a.license)
        a.*
      from ledger.publication u
      join ledger.attribution a using (publication_id)
      where u.unit_code = p_region
        and u.state = 'current'
        and a.section = '*'
        and not exists (select from cited c where c.holder = a.holder and c.license = a.license)
      order by a.holder, a.license, a.reference_period desc, a.source_id
    ),
    shown as (
      select * from cited
      union all
      select * from mandatory
    )
    select coalesce(
      json_agg(
        json_build_object(
          'section', s.section,
          'source', s.source,
          'holder', s.holder,
          'license', s.license,
          'url', s.url,
          'reference_period', nullif(s.reference_period, ''),
          'attribution', s.attribution
        )
        order by array_position(p_sections, s.section) nulls last, s.source_id collate "C"
      ),
      '[]'::json
    )
    from shown s
  );
end
$$;
comment on function api.licenses(int4, text[]) is 'Attributions of the sections over all parcels of a region in the current publication, always including the mandatory ones (section *)';

create or replace function api.included(p_include text[]) returns text[]
language sql immutable parallel safe as $$
  select array['basic'] || array_remove(p_include, 'basic')
$$;
comment on function api.included(text[]) is 'Sections of a record in their order; basic is always included and comes first';

create or replace function api.parcel_record(p_fid int4, p_include text[], out head text, out citations uuid[])
language plpgsql volatile as $$
declare
  v_include constant text[] := api.included(p_include);
  v_region constant int4 := core.region_of(p_fid);
  v_covered constant text[] := api.covered_sections();
  v_basic record;
  v_section text;
  v_found record;
  v_shown text;
  v_coverage text := '';
  v_blocks text[] := '{}';
  v_keys text[] := '{}';
  v_cited record;
begin
  -- All sections are read from one publication: a swap waits until this transaction has read every section, and this call waits for a swap
  -- before it reads the first.
  perform api.hold_publication();
  v_basic := api.section_basic(p_fid);
  if v_basic.value is null then
    return;
  end if;
  foreach v_section in array v_include loop
    if v_section = 'basic' then
      v_found := v_basic;
    else
      v_found := api.section_record(v_section, p_fid);
    end if;
    v_shown := coalesce(v_found.value::text, 'null');
    v_blocks := v_blocks || v_shown;
    v_keys := v_keys || v_found.keys;
    -- In the other sections the block contains its coverage.
    if v_section = any (v_covered) then
      v_coverage := v_coverage || ',"' || v_section || '":"'
        || api.section_coverage(v_region, v_basic.belfiore, v_basic.point, v_basic.kind, v_section, v_found.linked, v_shown not in ('null', '[]')) || '"';
    end if;
  end loop;
  v_cited := api.cite(
    v_region, v_include, v_blocks, string_to_array(replace(array_to_string(v_keys, chr(10)), '@', v_basic.belfiore), chr(10))
  );
  -- json keeps the order of the contract, where jsonb sorts, and costs a third less. The record is built as text. Names of sections need no quoting.
  head := '{"fid":' || p_fid || ',"municipality":' || (v_basic.value -> 'municipality') || ',' || v_cited.blocks
    || ',"meta":{"sections_included":' || array_to_json(v_include)
    || ',"coverage":{' || substr(v_coverage, 2)
    || '},"licenses":';
  citations := v_cited.citations;
end
$$;
comment on function api.parcel_record(int4, text[]) is 'Record of a parcel in parts: JSON text up to its licences, and the keys of its citations (api.citations). The licences and api.record_end follow. Nulls if there is no such parcel. Sections must be known names';

create or replace function api.record_end(p_as_of json) returns text
language sql stable parallel safe as $$
  select concat(',"attribution_required":true', ',"as_of":' || p_as_of::text, '}}')
$$;
comment on function api.record_end(json) is 'JSON text of a record after its licences; p_as_of: state of a past day, null: the current state';

create or replace function api.whole_record(p_head text, p_include text[], p_citations uuid[], p_as_of json default null) returns text
language sql stable as $$
  select p_head || api.cited_licenses(api.included(p_include), p_citations)::text || api.record_end(p_as_of)
$$;
comment on function api.whole_record(text, text[], uuid[], json) is 'The parts of a record as one JSON text, with the licences of its citations; null if there is no such parcel';

create or replace function api.parcel(p_fid int4, p_include text[]) returns json
language sql volatile as $$
  select api.whole_record(r.head, p_include, r.citations)::json
  from api.region_record(p_fid, p_include) r
$$;
comment on function api.parcel(int4, text[]) is 'Record of a parcel with the given sections, in their order, basic first; null if there is no such parcel. Sections must be known names';

create or replace function api.hold_publication() returns void
language plpgsql volatile as $$
begin
  -- A swap takes the same lock exclusively before it touches a table. One lock here replaces one on each of thirty tables.
  lock table ledger.publication_lock in access share mode;
end
$$;
comment on function api.hold_publication() is 'Keeps the current publications until the end of the transaction, so that several reads agree';

create or replace function api.parcel_by_reference(p_reference text) returns int4
language plpgsql stable as $$
begin
  return (
    select p.fid
    from core.parcel p
    where p.reference = p_reference
    order by p.fid
    limit 1
  );
end
$$;
comment on function api.parcel_by_reference(text) is 'fid of a national cadastral reference, CCCCZFFFFAS.label; null if there is none';

create or replace function api.retired_parcel(p_fid int4) returns json
language plpgsql stable security definer
set search_path to public, pg_temp
as $$
begin
  return (
    select json_build_object('successor_fid', r.successor_fid)
    from core.parcel_register r
    where r.region_code = core.region_of(p_fid)
      and r.fid = p_fid
      and r.retired_on is not null
    limit 1
  );
end
$$;
comment on function api.retired_parcel(int4) is 'Object with successor_fid for a parcel that is no longer published: the only current parcel with the same geometry, or null; no object if the parcel is published or was never published';
