-- purpose: shoreline segments of exports that may be cut
-- reads: ledger.publication_table, section.coastal_erosion
-- writes: none
-- grain: one row per parcel and segment
-- crs: none

-- A constant: no published row is written again.
alter table section.coastal_erosion add column may_be_cut bool not null default false;
comment on column section.coastal_erosion.may_be_cut is 'True: the segment is from an export that may be cut';

-- Former publications that can be restored have the columns of the current ones.
do $$
declare
  v_partition text;
begin
  for v_partition in
    select distinct t.partition
    from ledger.publication_table t
    where t.relation = 'section.coastal_erosion'
      and to_regclass(format('previous.%I', t.partition)) is not null
  loop
    execute format('alter table previous.%I add column may_be_cut bool not null default false', v_partition);
  end loop;
end
$$;
