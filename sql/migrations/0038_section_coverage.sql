-- purpose: where the files of a section reach
-- reads: none
-- writes: core.section_coverage
-- grain: one row per section and comune that its files speak of
-- crs: none

create table core.section_coverage (
  region_code int2 not null,
  section text not null,
  belfiore text not null,
  primary key (region_code, section, belfiore)
) partition by list (region_code);
comment on table core.section_coverage is 'Comuni that the files of a section speak of, so that an answer without anything means that there is nothing; one partition per region. Hazards have core.coverage';
comment on column core.section_coverage.region_code is 'ISTAT region code';
comment on column core.section_coverage.section is 'Section of the record';
comment on column core.section_coverage.belfiore is 'Cadastral code of a comune that its files speak of; *: something of it is loaded, of whatever comuni';
