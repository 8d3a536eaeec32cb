-- purpose: parcels name their document instead of the place where they were read last
-- reads: core.parcel, ledger.member, ledger.publication_table
-- writes: ledger.member
-- grain: one row per parcel
-- crs: none

alter table ledger.member add column document_id int4;
comment on column ledger.member.document_id is 'First member with this path in files of this name; null: this member. No foreign key, like taken_from';

-- Parcels name the member that holds their rows.
update ledger.member
set document_id = row_member_id
where row_member_id is not null;

alter table core.parcel drop column release_id;
alter table core.parcel drop column position;
alter table core.parcel rename column member_id to document_id;
comment on column core.parcel.document_id is 'Document of the cadastre that has the parcel (ledger.member.document_id); the same if the document is published again';

-- Former publications that can be restored have the columns of the current ones.
do $$
declare
  v_table text;
begin
  for v_table in
    select distinct x.name
    from ledger.publication_table t
    cross join lateral (values (t.partition), (t.partition || '_rows')) as x (name)
    where t.relation = 'core.parcel'
      and to_regclass(format('previous.%I', x.name)) is not null
  loop
    execute format('alter table previous.%I drop column release_id', v_table);
    execute format('alter table previous.%I drop column position', v_table);
    execute format('alter table previous.%I rename column member_id to document_id', v_table);
  end loop;
end
$$;
