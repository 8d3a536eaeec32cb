-- purpose: which comune in force an ISTAT code of any edition leads to
-- reads: none
-- writes: core.comune_register
-- grain: one row per ISTAT code, in force or not, and comune in force that it leads to
-- crs: none

create table core.comune_register (
  region_code int2 not null,
  old_istat_code text not null,
  istat_code text not null,
  belfiore text not null,
  reason text not null,
  event_date date,
  divided bool not null,
  primary key (region_code, old_istat_code, istat_code)
) partition by list (region_code);
comment on table core.comune_register is 'From ISTAT codes of any edition to the comuni in force, followed through numberings, mergers and divisions; one partition per region. A code that is not divided leads to one comune; a code in force leads to itself, whatever else it meant before. Codes that end abroad or in a numbering before 1995 are not here';
comment on column core.comune_register.region_code is 'ISTAT region code of the comune in force; the partition key';
comment on column core.comune_register.old_istat_code is 'ISTAT code as an edition has it, in force or not, 6 digits, text';
comment on column core.comune_register.istat_code is 'ISTAT code in force, 6 digits, text';
comment on column core.comune_register.belfiore is 'Cadastral code of the comune in force';
comment on column core.comune_register.reason is 'What first became of the old code: in force, province renumbered, moved to another province, renumbered, merged, divided';
comment on column core.comune_register.event_date is 'Day on which it became so: of a merger or division as ISTAT dates it, of a renumbered province the first day of the new numbering; null: in force, or the lists do not date it';
comment on column core.comune_register.divided is 'True when the territory of the old code does not lie in this comune alone, as far as the lists tell: then the code cannot be exchanged for this one';
