/** A web page where data was expected: a login, an error, or what a firewall answers instead of the publisher. */

/** As it begins, whatever the server calls it: some call zips `text/html`. */
const PAGE = /^(?:\ufeff|ï»¿)?(?:\s|<!--[\s\S]*?-->|<\?xml[^>]*>)*<(?:!doctype\s+html|html|head|body|title|meta|script|center|h1)\b/i;
/** Firewalls answer so with status 200. */
const FIREWALL = /web application firewall/i;

/** Bytes of a page that are looked at. */
export const PAGE_BYTES = 65_536;

export function isPage(head: Buffer): boolean {
  return PAGE.test(head.toString('latin1', 0, 2048)) || isFirewall(head);
}

/** True for the answer of a firewall, as a page or as plain text. */
export function isFirewall(head: Buffer): boolean {
  return FIREWALL.test(head.toString('latin1', 0, 2048));
}

export function titleOf(head: Buffer): string {
  return /<title[^>]*>([^<]*)/i.exec(head.toString('utf8'))?.[1]?.replace(/\s+/g, ' ').trim() ?? '';
}
