// @ts-check
/** Sends the requests of the page to the API, and to a few paths that need no token. */
import { sessionFound, state } from './state.js';

const BASE = location.pathname.replace(/\/map\/?$/, '');
const TILES = `${location.origin}${BASE}/tiles/`;

/** Error for a request that the server refused, with the reason. */
export class Refusal extends Error {
  /**
   * @param {number} status
   * @param {string} code
   * @param {string} message
   * @param {Record<string, string | number | null>} details values that the message contains
   */
  constructor(status, code, message, details) {
    super(message);
    this.status = status;
    this.code = code;
    this.details = details;
  }
}

export const signedIn = () => state.session || state.token !== '';

/**
 * Signs in with the secret of a sign-in link, if there is one. Then reads the state of the session, if the local storage of this browser records a sign-in.
 * @param {string | null} secret
 * @throws {Refusal}
 */
export async function openSession(secret) {
  const exchanged = secret === null ? null : await fetch(`${BASE}/map/sign-in`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ secret }) });
  if (exchanged?.ok) localStorage.setItem('session', 'link');
  // Only a server that printed a sign-in link has the path /map/session. The page requests this path only if this browser has signed in with a link.
  if (localStorage.getItem('session') !== null) {
    sessionFound(await open('/map/session'));
    if (!state.session) localStorage.removeItem('session');
  }
  if (exchanged !== null) await answerOf(exchanged);
}

/**
 * @param {string} path below the base address
 * @param {Record<string, string | number | boolean>} parameters
 * @param {AbortSignal} [signal]
 * @throws {Refusal}
 */
export async function ask(path, parameters = {}, signal) {
  return get(path, parameters, state.token === '' ? {} : { 'x-api-key': state.token }, signal);
}

/** Returns true if the page may request explanations: the browser has a session, the server gives explanations, and the user has entered no token. */
export const canExplain = () => state.session && state.explains && state.token === '';

/** Returns the result of `mappale explain` for a section. @param {number} fid @param {string} section @throws {Refusal} */
export const explain = (fid, section) => open(`/map/explain/${fid}/${section}`);

/** Requests a path that needs no token. @param {string} path @param {Record<string, string | number | boolean>} parameters @throws {Refusal} */
export async function open(path, parameters = {}) {
  return get(path, parameters, {});
}

/**
 * @param {string} path
 * @param {Record<string, string | number | boolean>} parameters
 * @param {Record<string, string>} headers
 * @param {AbortSignal} [signal]
 */
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

/** Returns the URL template of a layer's tiles for the map library. @param {string} layer */
export const tilesOf = (layer) => `${TILES}{z}/{x}/{y}?layer=${encodeURIComponent(layer)}`;

/** Adds the token to a request of the map library if the request is for a tile. @param {string} url */
export function withToken(url) {
  return { url, ...(state.token !== '' && url.startsWith(TILES) ? { headers: { 'x-api-key': state.token } } : {}) };
}
