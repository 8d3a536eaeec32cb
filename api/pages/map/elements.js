// @ts-check
/** Creates HTML elements. Strings are inserted as text, never as HTML. */

/** @param {string} id @returns {HTMLElement} */
export const $ = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

/**
 * @param {string} name
 * @param {Record<string, string | boolean>} attributes true: the attribute has no value; false: the attribute is not set
 * @param {(Node | string)[]} children
 * @returns {HTMLElement}
 */
export function element(name, attributes = {}, children = []) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) if (value !== false) made.setAttribute(key, value === true ? '' : value);
  made.append(...children);
  return made;
}

/** @param {string | Node} text @param {() => void} work @param {Record<string, string | boolean>} attributes */
export function button(text, work, attributes = {}) {
  const made = element('button', { type: 'button', ...attributes }, [text]);
  made.addEventListener('click', work);
  return made;
}

/** Returns a link if the address is an http or https URL, otherwise the text. @param {string | null} url @param {string} text */
export function link(url, text) {
  return url !== null && /^https?:\/\//.test(url) ? element('a', { href: url, rel: 'noopener noreferrer', target: '_blank' }, [text]) : text;
}
