/** Returns the first line or the JSON member names at the beginning of a file. Sources recognise a file by this line or these names. */

/** Returns the first line of a text without the line end. */
export function firstLine(text: string): string {
  return text.slice(0, text.search(/\r?\n|$/));
}

/**
 * Returns the member names in an incomplete JSON text, in order and with repetitions. Leaves out empty names, names with a backslash and names of more than 40
 * characters.
 */
export function jsonKeys(text: string): string[] {
  return [...text.matchAll(/"([^"\\]{1,40})"\s*:/g)].map(([, name = '']) => name);
}
