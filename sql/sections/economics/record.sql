-- purpose: the section economics of one parcel
-- reads: section.economics, section.postal_code, section.valuation, core.declared_income
-- writes: api.section_economics
-- grain: one object per parcel
-- crs: none

create or replace function api.section_economics(p_fid int4, out value json, out linked bool, out keys text[])
language plpgsql stable as $$
declare
  v_found record;
begin
  select
    d.*,
    e.avg_residential_price_m2::numeric as price,
    round(d.total_income_eur::numeric / nullif(d.earners, 0), 2) as average_income
  into v_found
  from section.economics e
  join core.declared_income d on d.region_code = core.region_of(p_fid)
    and d.belfiore = e.belfiore
    and d.cap is not distinct from e.cap
  where e.fid = p_fid;
  if v_found.tax_year is not null then
    keys := array[concat_ws(
      ' ',
      'economics/' || v_found.tax_year,
      case when v_found.price is not null then (select concat_ws(' ', v.half_year, v.perimeter_half_year) from section.valuation v where v.fid = p_fid) end,
      case when v_found.cap is not null then 'cap ' || coalesce((select z.edition from section.postal_code z where z.fid = p_fid), '') end
    )];
    value := json_build_object(
      'average_income', trim_scale(v_found.average_income),
      'taxpayers', v_found.taxpayers,
      'earners', v_found.earners,
      'total_income', v_found.total_income_eur,
      'net_tax', v_found.net_tax_eur,
      'tax_year', v_found.tax_year,
      'gini_index', trim_scale(v_found.gini_index),
      'affordability_index', trim_scale(round(80 * v_found.price / nullif(greatest(v_found.average_income, 0), 0), 4)),
      'affordability_apt_size_m2', 80,
      'avg_residential_price_m2', trim_scale(v_found.price),
      'income_brackets', json_build_object(
        'lte_zero', v_found.lte_zero_n,
        'from_0_to_10k', v_found.from_0_to_10k_n,
        'from_10k_to_15k', v_found.from_10k_to_15k_n,
        'from_15k_to_26k', v_found.from_15k_to_26k_n,
        'from_26k_to_55k', v_found.from_26k_to_55k_n,
        'from_55k_to_75k', v_found.from_55k_to_75k_n,
        'from_75k_to_120k', v_found.from_75k_to_120k_n,
        'over_120k', v_found.over_120k_n
      ),
      'level', case when v_found.cap is null then 'comune' else 'cap' end,
      'source', null
    );
  end if;
end
$$;
comment on function api.section_economics(int4) is 'Section economics as JSON: average_income = total_income over earners, those who declare one (not over all taxpayers), euro with 2 decimals; affordability_index = 80 × avg_residential_price_m2 / average_income as shown, 4 decimals; null: withheld; null as a whole: no incomes are published for the comune';
