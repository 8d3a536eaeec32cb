/** Defines the catalogue of exports and of the API, which the server returns below /catalog. `mappale catalog` writes the same catalogue to files. */

export interface CatalogDocument {
  readonly type: string;
  readonly text: string;
}

/**
 * Returns the documents of the catalogue by their path below /catalog.
 * @param api base URL of the API, as the client sees it
 */
export type Catalog = (api: string) => Promise<ReadonlyMap<string, CatalogDocument>>;
