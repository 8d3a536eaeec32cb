-- purpose: describe what a run keeps of the files that it left out, and points in comuni of which nothing is loaded
-- reads: ledger.run, core.point_of_interest, section.unplaced
-- writes: none
-- grain: none
-- crs: none

comment on column ledger.run.report is
  'Error of a failed run. Of a refresh that ended: the regions that it looked at, and the files that it left out of each; null: none';
comment on column core.point_of_interest.reason is
  'Why it is not placed: swapped, zero or elsewhere say what is wrong with its coordinates; comune_not_loaded: neither boundary, parcels nor addresses of its comune are loaded; ambiguous, not_found or no_number say why the address does not help; not_found also: no such comune; null: it is placed';
comment on column section.unplaced.reason is 'swapped, zero, elsewhere, comune_not_loaded, ambiguous, not_found or no_number, as in core.point_of_interest';
