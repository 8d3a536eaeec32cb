// @ts-check
/** What the page asks of the server: the read interface, and the few things beside it that need no token. */

const BASE = location.pathname.replace(/\/map\/?$/, '');
const TILES = `${location.origin}${BASE}/tiles/`;

/** Kept for this tab alone. */
let token = sessionStorage.getItem('token') ?? '';
/** By the link that `mappale serve` prints: a cookie that scripts do not see. */
let session = false;
/** Whether the server tells such a browser where values come from. */
let explains = false;

/** The server refuses, and says why. */
export class Refusal extends Error {
  /** @param {number} status @param {string} code @param {string} message @param {Record<string, string | number | null>} details what the message is made of */
  constructor(status, code, message, details) {
    super(message);
    this.status = status;
    this.code = code;
    this.details = details;
  }
}

export const signedIn = () => session || token !== '';

/** @param {string} key empty: sign out */
export function useToken(key) {
  token = key;
  if (key === '') sessionStorage.removeItem('token');
  else sessionStorage.setItem('token', key);
}

/** Signs in by the secret of a link, or finds that this browser was. @param {string | null} secret @throws {Refusal} */
export async function openSession(secret) {
  const exchanged = secret === null ? null : await fetch(`${BASE}/map/sign-in`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ secret }) });
  if (exchanged?.ok) localStorage.setItem('session', 'link');
  // A server that never gave a link is not asked: it has no such address.
  if (localStorage.getItem('session') !== null) {
    ({ signed_in: session, explains } = await open('/map/session'));
    if (!session) localStorage.removeItem('session');
  }
  if (exchanged !== null) await answerOf(exchanged);
}

/**
 * @param {string} path below the base address @param {Record<string, string | number | boolean>} parameters @param {AbortSignal} [signal]
 * @throws {Refusal}
 */
export async function ask(path, parameters = {}, signal) {
  return get(path, parameters, token === '' ? {} : { 'x-api-key': token }, signal);
}

/** Whether `explain` is answered: a token that was typed opens it nowhere. */
export const canExplain = () => session && explains && token === '';

/** What `mappale explain` says of a section. @param {number} fid @param {string} section @throws {Refusal} */
export const explain = (fid, section) => open(`/map/explain/${fid}/${section}`);

/** What needs no token. @param {string} path @param {Record<string, string | number | boolean>} parameters @throws {Refusal} */
export async function open(path, parameters = {}) {
  return get(path, parameters, {});
}

/** @param {string} path @param {Record<string, string | number | boolean>} parameters @param {Record<string, string>} headers @param {AbortSignal} [signal] */
async function get(path, parameters, headers, signal) {
  const query = new URLSearchParams(Object.entries(parameters).map(([name, value]) => [name, String(value)]));
  return answerOf(await fetch(`${BASE}${path}${query.size > 0 ? `?${query}` : ''}`, { headers, ...(signal === undefined ? {} : { signal }) }));
}

/** @param {Response} response @throws {Refusal} */
async function answerOf(response) {
  const body = response.status === 204 ? null : await response.json();
  if (!response.ok) throw new Refusal(response.status, body.error, body.message, body.details ?? {});
  return body;
}

/** Address of the tiles of a layer, as the map library fills it in. @param {string} layer */
export const tilesOf = (layer) => `${TILES}{z}/{x}/{y}?layer=${encodeURIComponent(layer)}`;

/** The token goes with tiles, and nowhere else. @param {string} url */
export function withToken(url) {
  return { url, ...(token !== '' && url.startsWith(TILES) ? { headers: { 'x-api-key': token } } : {}) };
}
