-- purpose: whose buildings count in each comune
-- reads: none
-- writes: core.building_coverage
-- grain: one row per comune, where any file of buildings is in force
-- crs: none

create table core.building_coverage (
  region_code int2 not null,
  belfiore text not null,
  source text,
  has_uses bool not null,
  release_id int4,
  member_id int4,
  position int8,
  primary key (region_code, belfiore)
) partition by list (region_code);
comment on table core.building_coverage is 'The one source whose buildings count in each comune: the national topographic database where it reaches, else Trento''s land register, else the structural aggregates; one partition per region. No rows: none is loaded';
comment on column core.building_coverage.region_code is 'ISTAT region code';
comment on column core.building_coverage.belfiore is 'Cadastral code of the comune';
comment on column core.building_coverage.source is 'igm_dbsn, which says what buildings are used for, trento_cadastre or dpc_buildings, which do not; null: none that is loaded reaches the comune';
comment on column core.building_coverage.has_uses is 'True: the source says what its buildings are used for';
comment on column core.building_coverage.release_id is 'Release of the file that reaches it (ledger.release); null: as source';
comment on column core.building_coverage.member_id is 'Member (ledger.member); null: as source';
comment on column core.building_coverage.position is 'Its first feature, or its first of the comune; null: as source';
