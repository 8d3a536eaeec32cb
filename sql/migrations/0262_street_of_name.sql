-- purpose: number the distinct street names of a region, and the streets of each name
-- reads: core.street_name, ledger.publication_table
-- writes: none
-- grain: one row per street and name
-- crs: none

alter table core.street_name add column name_id int4;
alter table core.street_name add column nth int4;
comment on column core.street_name.name_id is 'Number of the name in the region: the same for all streets with the same street type, words and locality. Valid inside one publication';
comment on column core.street_name.nth is 'Position of the street among the streets with the name, from the largest comune. Null if the street has no access with a point, or is already counted';

-- The next refresh builds the tables again. Until then, searches use these values. Former publications that can be restored get the same columns.
do $$
declare
  v_table text;
begin
  for v_table in
    select distinct
      format('previous.%I', t.partition)
    from ledger.publication_table t
    where t.relation = 'core.street_name'
      and to_regclass(format('previous.%I', t.partition)) is not null
    union all
    select 'core.street_name'
  loop
    if v_table <> 'core.street_name' then
      execute format('alter table %s add column name_id int4, add column nth int4', v_table);
    end if;
    execute format(
      $sql$
      update %s n
      set name_id = r.number,
        nth = r.turn
      from (
        select
          region_code,
          street_id,
          ordinal,
          number,
          case
            when counts
              then (row_number() over (partition by region_code, number, counts order by comune_located desc, belfiore collate "C", street_id))::int4
          end as turn
        from (
          select
            *,
            (dense_rank() over (partition by region_code order by token_ids, street_type, locality_key))::int4 as number,
            located > 0 and row_number() over (partition by region_code, street_id, token_ids, street_type order by ordinal) = 1 as counts
          from %s
        ) c
      ) r
      where r.region_code = n.region_code
        and r.street_id = n.street_id
        and r.ordinal = n.ordinal
      $sql$,
      v_table,
      v_table
    );
    execute format('alter table %s alter column name_id set not null', v_table);
  end loop;
end
$$;

-- serves: the distinct names with a word, in all Italy
create index on core.street_name using gin (token_ids) where nth = 1;
-- serves: the first streets with a name
create index on core.street_name (name_id, nth) where nth is not null;
