/** What a site is made of. */

/** Parts of the menu, in its order. */
export const PARTS = ['Begin', 'Use', 'Reference', 'Make'] as const;

export type Part = (typeof PARTS)[number];

export interface Page {
  /** From the site's root: `docs/sizing.html`. */
  readonly path: string;
  readonly title: string;
  readonly part: Part;
  /** Below another one in the menu: its path; null: it stands in the menu itself. */
  readonly below: string | null;
  /** What stands in its middle. Links that begin with `/` are from the site's root. */
  readonly body: string;
}
