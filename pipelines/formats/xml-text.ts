/** Escapes text for XML documents that the program writes. */

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', '\'': '&apos;' };

/** Matches characters that XML 1.0 does not allow. */
const UNFIT = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Cs}/gu;

/** Returns text that is valid inside an XML element or attribute. */
export function escapedXml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? '').replace(UNFIT, '\ufffd');
}
