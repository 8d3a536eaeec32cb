-- purpose: a comune's quotations are of its own newest half-year, and lead to perimeters of another one by LinkZona alone
-- reads: core.quotation_zone, section.valuation, section.valuation_history, ledger.publication_table
-- writes: core.quoted_comune
-- grain: one row per comune; two columns more per parcel
-- crs: none

create table core.quoted_comune (
  region_code int2 not null,
  belfiore text not null,
  half_year int2,
  perimeter_half_year int2,
  listed bool not null,
  primary key (region_code, belfiore)
) partition by list (region_code);
comment on table core.quoted_comune is 'Comuni of which OMI names a zone in any half-year: of which half-year their quotations are, and of which the perimeters that place their parcels; one partition per region';
comment on column core.quoted_comune.region_code is 'ISTAT region code';
comment on column core.quoted_comune.belfiore is 'Cadastral code of the comune, in force or not';
comment on column core.quoted_comune.half_year is 'Newest half-year that was quoted of the comune: year × 2 + (half − 1); null: none was loaded';
comment on column core.quoted_comune.perimeter_half_year is 'Half-year of the perimeters that place its parcels: the quoted one if it was drawn, else the newest whose zones are known by LinkZona; null: no such perimeters';
comment on column core.quoted_comune.listed is 'True when the list of comuni has it, or no list is loaded';

comment on column core.quotation_zone.link_zona is 'Zone id of the half-year; the same zone of another half-year has the same';

alter table section.valuation alter column half_year drop not null;
alter table section.valuation add column perimeter_half_year int2;
comment on table section.valuation is 'OMI zone of a parcel now and in the half-year before; the quotations are in core.quotation. No row: the representative point lies in no zone, no perimeters tell, or the parcel is a road or water';
comment on column section.valuation.zona is 'Zone in the half-year that is quoted; where that could not be told, as its perimeter names it';
comment on column section.valuation.half_year is 'Newest half-year with quotations of the comune: year × 2 + (half − 1); null: the zone of the perimeter could not be found in it';
comment on column section.valuation.perimeter_half_year is 'Half-year of the perimeter that contains the representative point; null: published by a version that did not say';

alter table section.valuation_history add column half_year int2;
alter table section.valuation_history add column perimeter_half_year int2;
comment on column section.valuation_history.zona is 'Current zone, under the name that it has in the half-year that is quoted; where that could not be told, as its perimeter names it';
comment on column section.valuation_history.half_year is 'Newest half-year with quotations of the comune: year × 2 + (half − 1); null: the zone of the perimeter could not be found in it';
comment on column section.valuation_history.perimeter_half_year is 'Half-year of the perimeter that contains the representative point now; null: published by a version that did not say';
comment on column section.valuation_history.then_zona is 'Zone in this run: by its perimeters of then; where the comune has none of then, the zone with the same LinkZona; null: none';

-- Tables that were published before and can be brought back have the columns of those in force.
do $$
declare
  v_table record;
begin
  for v_table in
    select distinct
      t.relation,
      t.partition
    from ledger.publication_table t
    where t.relation in ('section.valuation', 'section.valuation_history')
      and to_regclass(format('previous.%I', t.partition)) is not null
  loop
    if v_table.relation = 'section.valuation' then
      execute format('alter table previous.%I alter column half_year drop not null, add column perimeter_half_year int2', v_table.partition);
    else
      execute format('alter table previous.%I add column half_year int2, add column perimeter_half_year int2', v_table.partition);
    end if;
  end loop;
end
$$;
