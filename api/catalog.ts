/** Returns the catalogue of exports and of the API, which the program writes and the server answers. */

export interface CatalogDocument {
  readonly type: string;
  readonly text: string;
}

/**
 * Returns the documents by path below /catalog.
 * @param api base address of the API for the client
 */
export type Catalog = (api: string) => Promise<ReadonlyMap<string, CatalogDocument>>;
