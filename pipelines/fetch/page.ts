/** A web page where a file was expected: a login, an error, or the page that links the file. */
import { inputError, type MappaleError } from '../errors.ts';

/** First element of a web page. Servers call zips `text/html`, so the content type decides nothing. */
const FIRST_ELEMENT = /<(?:!doctype\s+html|html|head|body)\b/iy;
const BLANKS = /\s*/y;
/** Comments and declarations that may precede the first element: how each begins and ends. */
const PROLOG = [['<!--', '-->'], ['<?xml', '>']] as const;
const LOGIN_ADDRESS = /(?:^|[/._-])(?:log-?in|sign-?in|accedi|accesso|sso|idp|saml|oauth2?|authorize|spid)(?:$|[/._?-])/i;
const LOGIN_FORM = /<input[^<>]*type\s*=\s*["']?password/i;

/** Bytes of a page that are looked at. */
export const PAGE_BYTES = 65_536;

export function isPage(head: Buffer): boolean {
  const text = head.toString('latin1', 0, 2048);
  FIRST_ELEMENT.lastIndex = afterProlog(text);
  return FIRST_ELEMENT.test(text);
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

export function titleOf(head: Buffer): string {
  return /<title[^<>]*>([^<]*)/i.exec(head.toString('utf8'))?.[1]?.replace(/\s+/g, ' ').trim() ?? '';
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

/** No address that a browser follows is longer. */
const LINK_CHARACTERS = 2_048;

/** Returns the addresses that a page links, as the page writes them, at most `LINK_CHARACTERS` long. */
export function linksOf(page: string): string[] {
  return [...page.matchAll(/\bhref\s*=\s*(?:"([^"]*)"|'([^']*)')/gi)]
    .map(([, double, single]) => (double ?? single ?? '').replaceAll('&amp;', '&'))
    .filter((link) => link.length <= LINK_CHARACTERS);
}
