/** Text in UTF-8, strictly: a byte that it does not have is never a replacement character. */

/** @param cut the last character may be incomplete */
export function isUtf8(bytes: Uint8Array, cut: boolean): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: cut });
    return true;
  } catch {
    return false;
  }
}
