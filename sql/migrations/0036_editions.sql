-- purpose: postal codes say of which edition they are; census figures are of the newest year of each comune
-- reads: core.census_figures, section.postal_code, ledger.publication_table
-- writes: none
-- grain: one row more per column
-- crs: none

alter table section.postal_code add column edition text;
comment on column section.postal_code.edition is 'Edition of the table or of the areas that give the code, from the file''s name; null: none said';

comment on table core.census_figures is 'Figures of the census sections, of each comune the newest reference year, one partition per region. Whole sections, never divided among parcels. No row: nothing is known of the section';
comment on column core.census_figures.reference_year is 'Year of the data (31 December), the newest that was loaded of the comune';

-- Tables that were published before and can be brought back have the columns of those in force.
do $$
declare
  v_partition text;
begin
  for v_partition in
    select distinct t.partition
    from ledger.publication_table t
    where t.relation = 'section.postal_code'
      and to_regclass(format('previous.%I', t.partition)) is not null
  loop
    execute format('alter table previous.%I add column edition text', v_partition);
  end loop;
end
$$;
