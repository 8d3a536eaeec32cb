-- purpose: values and JSON block of the section economics for one parcel, and its columns for many parcels
-- reads: section.economics, section.postal_code, section.valuation, core.declared_income
-- writes: api.values_economics, api.section_economics, api.columns_economics
-- grain: one object per parcel, null if no incomes are published for the comune; for columns one row per parcel
-- crs: none

create or replace function api.values_economics(p_price_eur_m2 float8, p_income core.declared_income)
returns table (
  average_income numeric,
  gini_index numeric,
  affordability_index numeric,
  avg_residential_price_m2 numeric,
  level text
)
language sql immutable parallel safe as $$
  select
    trim_scale(a.average_income),
    trim_scale((p_income).gini_index),
    trim_scale(round(80 * p_price_eur_m2::numeric / nullif(greatest(a.average_income, 0), 0), 4)),
    trim_scale(p_price_eur_m2::numeric),
    case when (p_income).cap is null then 'comune' else 'cap' end
  from (select round((p_income).total_income_eur::numeric / nullif((p_income).earners, 0), 2) as average_income) a
$$;
comment on function api.values_economics(float8, core.declared_income) is 'Values derived from the mean price and the incomes. Value average_income is total_income / earners (taxpayers who declare an income), in euro with 2 decimals. Value affordability_index is 80 m² × price / average_income, with 4 decimals. Value level states whether the incomes are those of the postal code or those of the comune';

create or replace function api.section_economics(p_fid int4, p_from anyelement, out value json, out linked bool, out keys text[])
language plpgsql stable as $$
declare
  v_income record;
begin
  select
    json_build_object(
      'average_income', v.average_income,
      'taxpayers', d.taxpayers,
      'earners', d.earners,
      'total_income', d.total_income_eur,
      'net_tax', d.net_tax_eur,
      'tax_year', d.tax_year,
      'gini_index', v.gini_index,
      'affordability_index', v.affordability_index,
      'affordability_apt_size_m2', 80,
      'avg_residential_price_m2', v.avg_residential_price_m2,
      'income_brackets', json_build_object(
        'lte_zero', d.lte_zero_n,
        'from_0_to_10k', d.from_0_to_10k_n,
        'from_10k_to_15k', d.from_10k_to_15k_n,
        'from_15k_to_26k', d.from_15k_to_26k_n,
        'from_26k_to_55k', d.from_26k_to_55k_n,
        'from_55k_to_75k', d.from_55k_to_75k_n,
        'from_75k_to_120k', d.from_75k_to_120k_n,
        'over_120k', d.over_120k_n
      ),
      'level', v.level,
      'source', null
    ) as block,
    d.tax_year,
    d.cap,
    v.avg_residential_price_m2 as price
  into v_income
  from economics e
  join declared_income d on d.region_code = core.region_of(p_fid)
    and d.belfiore = e.belfiore
    and d.cap is not distinct from e.cap
  cross join lateral api.values_economics(e.avg_residential_price_m2, row(d.*)::core.declared_income) v
  where e.fid = p_fid;
  if v_income.tax_year is not null then
    value := v_income.block;
    keys := array[concat_ws(
      ' ',
      'economics/' || v_income.tax_year,
      case when v_income.price is not null then (select concat_ws(' ', v.half_year, v.perimeter_half_year) from valuation v where v.fid = p_fid) end,
      case when v_income.cap is not null then 'cap ' || coalesce((select z.edition from postal_code z where z.fid = p_fid), '') end
    )];
  end if;
end
$$;
comment on function api.section_economics(int4, anyelement) is 'Section economics as JSON, amounts in euro. A value that the publisher withholds is null. The result is null if no incomes are published for the comune';

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
