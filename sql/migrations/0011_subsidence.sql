-- purpose: the section subsidence
-- reads: none
-- writes: section.subsidence
-- grain: one row per parcel that covers at least one measured cell
-- crs: none

create table section.subsidence (
  fid int4 primary key,
  velocity_mm_year float8 not null,
  acceleration_mm_year2 float8 not null,
  cells int4 not null,
  risk_class int2 not null,
  risk_label text not null,
  trend text not null,
  direction text not null
) partition by range (fid);
comment on table section.subsidence is 'Vertical ground motion (EGMS L3): mean over the measured 100 m cells that the parcel covers, weighted by the area it covers of each. No row: no measured cell, which does not mean that the ground is stable';
comment on column section.subsidence.fid is 'Parcel identifier';
comment on column section.subsidence.velocity_mm_year is 'Mean vertical velocity, mm/year, 2 decimals; negative: the ground sinks, positive: it rises';
comment on column section.subsidence.acceleration_mm_year2 is 'Mean vertical acceleration, mm/year², 2 decimals; positive is upwards';
comment on column section.subsidence.cells is 'Number of measured cells under the parcel';
comment on column section.subsidence.risk_class is 'Class of the sinking speed (−velocity): below 2 mm/year 1, below 5 2, below 10 3, below 20 4, else 5';
comment on column section.subsidence.risk_label is 'Name of the class: trascurabile, basso, medio, alto, elevato';
comment on column section.subsidence.trend is 'stable: |acceleration| at most 0.1 mm/year²; else accelerating when it points the way the ground moves (for ground at rest: any way), decelerating when it points against it';
comment on column section.subsidence.direction is 'stabile: velocity from −2 to +2 mm/year, both included; else subsidenza or sollevamento';
