/** Recognises a web page that a server returned instead of data: a login page, an error page, or a firewall's response. */

/** Matches the first element of a web page. The content type is not reliable, because some servers send zips as `text/html`. */
const FIRST_ELEMENT = /<(?:!doctype\s+html|html|head|body|title|meta|script|center|h1)\b/iy;
const BLANKS = /\s*/y;
/** Start and end of comments and declarations that may precede the first element. */
const PROLOG = [['<!--', '-->'], ['<?xml', '>']] as const;
/** Matches the text that firewalls return with status 200. */
const FIREWALL = /web application firewall/i;

/** Number of bytes to read from the start of a response or file, to search for the title and the login form of a web page. */
export const PAGE_BYTES = 65_536;

export function isPage(head: Buffer): boolean {
  const text = head.toString('latin1', 0, 2048);
  FIRST_ELEMENT.lastIndex = afterProlog(text);
  return FIRST_ELEMENT.test(text) || isFirewall(head);
}

/** Returns the position after a byte order mark, blanks, comments and XML declarations. */
function afterProlog(text: string): number {
  let at = text.startsWith('ï»¿') ? 3 : 0;
  for (;;) {
    BLANKS.lastIndex = at;
    BLANKS.test(text);
    at = BLANKS.lastIndex;
    const found = PROLOG.find(([begin]) => text.substring(at, at + begin.length).toLowerCase() === begin);
    const end = found === undefined ? -1 : text.indexOf(found[1], at + found[0].length);
    if (found === undefined || end === -1) return at;
    at = end + found[1].length;
  }
}

/** Returns whether a text is a firewall's response, in HTML or as plain text. */
export function isFirewall(head: Buffer): boolean {
  return FIREWALL.test(head.toString('latin1', 0, 2048));
}

export function titleOf(head: Buffer): string {
  return /<title[^<>]*>([^<]*)/i.exec(head.toString('utf8'))?.[1]?.replace(/\s+/g, ' ').trim() ?? '';
}
