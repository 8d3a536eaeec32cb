/** Reads the beginning of a text, by which sources recognise a file. */

/** Returns the first line of a text without the line end. */
export function firstLine(text: string): string {
  return text.slice(0, text.search(/\r?\n|$/));
}

/** Returns the member names of JSON objects in an incomplete text, in order. */
export function jsonKeys(text: string): string[] {
  return [...text.matchAll(/"([^"\\]{1,40})"\s*:/g)].map(([, name = '']) => name);
}
