/** Kinds of findings about addresses, in the order in which they are listed. */
export const FINDING_KINDS = ['outside', 'same_point', 'grid_10m', 'no_numbers', 'out_of_order', 'moved', 'new', 'missing'] as const;

export type FindingKind = (typeof FINDING_KINDS)[number];
