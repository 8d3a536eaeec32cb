-- purpose: the section economics of one parcel
-- reads: section.economics, core.declared_income
-- writes: api.section_economics
-- grain: one object per parcel
-- crs: none

create or replace function api.section_economics(p_fid int4, out value json, out linked bool)
language plpgsql stable as $$
begin
  value := (
    select json_build_object(
      'average_income', trim_scale(i.average_income),
      'taxpayers', i.taxpayers,
      'earners', i.earners,
      'total_income', i.total_income_eur,
      'net_tax', i.net_tax_eur,
      'tax_year', i.tax_year,
      'gini_index', trim_scale(i.gini_index),
      'affordability_index', trim_scale(round(80 * i.price / nullif(greatest(i.average_income, 0), 0), 4)),
      'affordability_apt_size_m2', 80,
      'avg_residential_price_m2', trim_scale(i.price),
      'income_brackets', json_build_object(
        'lte_zero', i.lte_zero_n,
        'from_0_to_10k', i.from_0_to_10k_n,
        'from_10k_to_15k', i.from_10k_to_15k_n,
        'from_15k_to_26k', i.from_15k_to_26k_n,
        'from_26k_to_55k', i.from_26k_to_55k_n,
        'from_55k_to_75k', i.from_55k_to_75k_n,
        'from_75k_to_120k', i.from_75k_to_120k_n,
        'over_120k', i.over_120k_n
      ),
      'level', case when i.cap is null then 'comune' else 'cap' end,
      'source', api.section_source(p_fid, 'economics')
    )
    from (
      select
        d.*,
        e.avg_residential_price_m2::numeric as price,
        round(d.total_income_eur::numeric / nullif(d.earners, 0), 2) as average_income
      from section.economics e
      join core.declared_income d on d.region_code = core.region_of(p_fid)
        and d.belfiore = e.belfiore
        and d.cap is not distinct from e.cap
      where e.fid = p_fid
    ) i
  );
end
$$;
comment on function api.section_economics(int4) is 'Section economics as JSON: average_income = total_income over earners, those who declare one (not over all taxpayers), euro with 2 decimals; affordability_index = 80 × avg_residential_price_m2 / average_income as shown, 4 decimals; null: withheld; null as a whole: no incomes are published for the comune';
