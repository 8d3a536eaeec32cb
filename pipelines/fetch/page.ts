/** A web page where a file was expected: a login, an error, or the page that links the file. */
import { inputError, type MappaleError } from '../errors.ts';

/** As it begins, whatever the server calls it: some call zips `text/html`. */
const PAGE = /^(?:\ufeff|ï»¿)?(?:\s|<!--[\s\S]*?-->|<\?xml[^>]*>)*<(?:!doctype\s+html|html|head|body)\b/i;
const LOGIN_ADDRESS = /(?:^|[/._-])(?:log-?in|sign-?in|accedi|accesso|sso|idp|saml|oauth2?|authorize|spid)(?:$|[/._?-])/i;
const LOGIN_FORM = /<input[^>]*type\s*=\s*["']?password/i;

/** Bytes of a page that are looked at. */
export const PAGE_BYTES = 65_536;

export function isPage(head: Buffer): boolean {
  return PAGE.test(head.toString('latin1', 0, 2048));
}

export function titleOf(head: Buffer): string {
  return /<title[^>]*>([^<]*)/i.exec(head.toString('utf8'))?.[1]?.replace(/\s+/g, ' ').trim() ?? '';
}

/**
 * @param url where it came from in the end
 * @param hide takes secrets out of what is shown
 * @param byHand how a person gets the file
 */
export function pageError(head: Buffer, url: string, redirected: boolean, hide: (text: string) => string, byHand: string): MappaleError {
  const text = head.toString('utf8');
  const title = hide(titleOf(head));
  const at = hide(url);
  const { host, pathname } = new URL(url);
  const place = hide(`${host}${pathname}`);
  const found = `a web page${title === '' ? '' : ` with the title ${JSON.stringify(title.slice(0, 80))}`}${redirected ? ` at ${place}` : ''}`;
  if (LOGIN_FORM.test(text) || (redirected && LOGIN_ADDRESS.test(place))) {
    return inputError('the publisher asks for a login', { code: 'DOWNLOAD_LOGIN', at, detail: `expected the file, found ${found}`, hint: `Nothing was kept. ${byHand}` });
  }
  return inputError('the publisher answers with a web page instead of the file', {
    code: 'DOWNLOAD_PAGE', at, detail: `expected the file, found ${found}`, hint: `Nothing was kept: it is an error, a limit, or a page that was put in the file's place. ${byHand}`,
  });
}

/** Addresses that a page links, as it writes them. */
export function linksOf(page: string): string[] {
  return [...page.matchAll(/\bhref\s*=\s*(?:"([^"]*)"|'([^']*)')/gi)].map(([, double, single]) => (double ?? single ?? '').replaceAll('&amp;', '&'));
}
