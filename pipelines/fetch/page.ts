/** Creates the error for a web page that a server sent instead of a file, and extracts the links of a page. */
import { inputError, type MappaleError } from '../errors.ts';
import { isFirewall, titleOf } from '../formats/web-page.ts';
import type { Answer } from './client.ts';

const LOGIN_ADDRESS = /(?:^|[/._-])(?:log-?in|sign-?in|accedi|accesso|sso|idp|saml|oauth2?|authorize|spid)(?:$|[/._?-])/i;
type PageAnswer = Pick<Answer, 'url' | 'status' | 'redirected' | 'elsewhere' | 'headers'>;

const LOGIN_FORM = /<input[^<>]*type\s*=\s*["']?password/i;

/**
 * Returns the error for a web page that was sent instead of a file.
 * @param head first bytes of the page
 * @param answer the publisher's response; a body from another host is not quoted
 * @param hide removes secrets from messages
 * @param byHand instructions for a manual download
 */
export function pageError(head: Buffer, answer: PageAnswer, hide: (text: string) => string, byHand: string): MappaleError {
  const { url, status, redirected, elsewhere, headers } = answer;
  const text = head.toString('utf8');
  const title = elsewhere ? '' : hide(titleOf(head));
  const at = hide(url);
  const { host, pathname } = new URL(url);
  const place = hide(`${host}${pathname}`);
  const found = elsewhere ? `status ${status} and a web page of ${headers['content-length'] ?? head.length} bytes at ${place}` : `a web page${title === '' ? '' : ` with the title ${JSON.stringify(title.slice(0, 80))}`}${redirected ? ` at ${place}` : ''}`;
  if (LOGIN_FORM.test(text) || (redirected && LOGIN_ADDRESS.test(place))) {
    return inputError('the publisher asks for a login', { code: 'DOWNLOAD_LOGIN', at, detail: `expected the file, found ${found}`, hint: `Nothing was kept. ${byHand}` });
  }
  if (isFirewall(head)) {
    return inputError('the publisher\'s firewall refuses the request', {
      code: 'DOWNLOAD_FIREWALL', at, detail: `expected the file, found ${found === 'a web page' ? 'the response of a web application firewall' : found}`,
      hint: `Nothing was kept. Run the same command again in an hour. ${byHand}`,
    });
  }
  return inputError('the publisher answers with a web page instead of the file', {
    code: 'DOWNLOAD_PAGE', at, detail: `expected the file, found ${found}`, hint: `Nothing was stored. The page may report an error or a limit, or may replace the file. ${byHand}`,
  });
}

/** Maximum length of a link, in characters. Some browsers refuse longer addresses. */
const LINK_CHARACTERS = 2_048;

/** Returns the link targets of a page, with `&amp;` replaced by `&`. Omits links longer than `LINK_CHARACTERS`. */
export function linksOf(page: string): string[] {
  return [...page.matchAll(/\bhref\s*=\s*(?:"([^"]*)"|'([^']*)')/gi)]
    .map(([, double, single]) => (double ?? single ?? '').replaceAll('&amp;', '&'))
    .filter((link) => link.length <= LINK_CHARACTERS);
}
