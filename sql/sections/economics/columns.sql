-- purpose: the section economics of many parcels as columns
-- reads: section.economics, core.declared_income
-- writes: api.columns_economics
-- grain: one row per parcel
-- crs: none

create or replace function api.columns_economics(p_fids int4[], p_from anyelement)
returns table (fid int4, linked bool, found bool, cells json)
language plpgsql stable as $$
#variable_conflict use_column
begin
  return query
  with place as materialized (
    select
      s.fid,
      core.region_of(s.fid) as region_code,
      s.belfiore,
      s.cap,
      s.avg_residential_price_m2 as price
    from economics s
    where s.fid = any (p_fids)
  )
  select
    e.fid,
    null::bool,
    true,
    json_build_array(
      v.average_income,
      i.taxpayers,
      i.earners,
      i.total_income_eur,
      i.net_tax_eur,
      i.tax_year,
      v.gini_index,
      v.affordability_index,
      v.avg_residential_price_m2,
      i.lte_zero_n,
      i.from_0_to_10k_n,
      i.from_10k_to_15k_n,
      i.from_15k_to_26k_n,
      i.from_26k_to_55k_n,
      i.from_55k_to_75k_n,
      i.from_75k_to_120k_n,
      i.over_120k_n,
      v.level
    )
  from place e
  join declared_income i
    on i.region_code = e.region_code
    and i.belfiore = e.belfiore
    and i.cap is not distinct from e.cap
  cross join lateral api.values_economics(e.price, row(i.*)::core.declared_income) v;
end
$$;
comment on function api.columns_economics(int4[], anyelement) is 'Section economics as columns, for the parcels that have the section, with the values of api.section_economics in euro';
