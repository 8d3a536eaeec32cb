/** The catalogue of exports and of the API, which the program writes and the server passes on. */

export interface CatalogDocument {
  readonly type: string;
  readonly text: string;
}

/**
 * Returns the documents by path below /catalog.
 * @param api base address of the API as the client sees it
 */
export type Catalog = (api: string) => Promise<ReadonlyMap<string, CatalogDocument>>;
