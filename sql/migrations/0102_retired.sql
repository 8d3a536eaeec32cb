-- purpose: what the register said of parcels that were gone, before it said something else
-- reads: none
-- writes: history.retired
-- grain: one row per parcel and swap by which it came back, went, or got another successor
-- crs: none

create table history.retired (
  fid int4 not null,
  until_swap int4 not null,
  retired bool not null,
  successor_fid int4,
  primary key (fid, until_swap)
);
comment on table history.retired is 'What core.parcel_register said of a parcel until a swap, of any region, by which it says something else; what nothing followed stands there';
comment on column history.retired.fid is 'Parcel (core.parcel_register)';
comment on column history.retired.until_swap is 'Swap by which it was said no longer (ledger.swap)';
comment on column history.retired.retired is 'True: the parcel was no longer published; false: it was, or was to come back';
comment on column history.retired.successor_fid is 'The only parcel then in force with its drawing; null: not retired, or there was none or several';

-- Of a database that kept rows before: who had gone follows from them, not to whom.
do $$
begin
  if to_regclass('history.parcel') is not null then
    insert into history.retired (fid, until_swap, retired)
    select
      h.fid,
      h.until_swap,
      h.absent
    from history.parcel h
    where not h.absent
      or exists (
        select
        from history.parcel e
        where e.fid = h.fid
          and e.until_swap <= h.from_swap
          and not e.absent
      );
  end if;
end
$$;
