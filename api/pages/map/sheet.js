// @ts-check
/** Controls the size of the panel on a small screen. There, the panel covers the lower part of the map and has three sizes. */
import { $ } from './elements.js';

const SIZES = ['peek', 'half', 'full'];
/** Minimum distance in pixels that the handle must be dragged to change the size. */
const DRAG = 20;

/** @param {string} size */
export function sizeSheet(size) {
  $('record').dataset['size'] = size;
  $('sheet').setAttribute('aria-expanded', String(size !== 'peek'));
}

const sizeNow = () => $('record').dataset['size'] ?? 'peek';

/** Shows the panel in its smallest size. A click or drag of the handle then changes the size. */
export function openSheet() {
  const handle = $('sheet');
  let grabbed = 0;
  handle.addEventListener('click', () => sizeSheet(sizeNow() === 'full' ? 'peek' : SIZES[SIZES.indexOf(sizeNow()) + 1] ?? 'peek'));
  handle.addEventListener('pointerdown', ({ clientY }) => void (grabbed = clientY));
  handle.addEventListener('touchmove', (event) => event.preventDefault(), { passive: false });
  handle.addEventListener('touchend', (event) => {
    const moved = grabbed - /** @type {Touch} */ (event.changedTouches[0]).clientY;
    if (Math.abs(moved) < DRAG) return;
    event.preventDefault();
    const at = SIZES.indexOf(sizeNow()) + Math.sign(moved);
    sizeSheet(/** @type {string} */ (SIZES[Math.min(Math.max(at, 0), SIZES.length - 1)]));
  });
  sizeSheet('peek');
}
