/** Recognises files by the beginning of their text. */

/** Without its line end. */
export function firstLine(text: string): string {
  return text.slice(0, text.search(/\r?\n|$/));
}

/** Names of the members of JSON objects, in order, as far as the text goes. */
export function jsonKeys(text: string): string[] {
  return [...text.matchAll(/"([^"\\]{1,40})"\s*:/g)].map(([, name = '']) => name);
}
