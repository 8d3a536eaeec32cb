// @ts-check
/** Shows the values of two parcels side by side, for all sections. */
import { button, element } from './elements.js';
import { absenceOf, flat, panelOf, sectionsOf, textOf, titleOf, valueOf, wordsOf } from './values.js';
import { t } from './words.js';

/** Fields that the comparison omits: geometries, names of sources, and the comune. */
const LEFT_OUT = /^(?:geometry|source$|municipality)/;

/** @param {any} block @returns {Map<string, any>} values by path; the value of a list is its length */
function valuesIn(block) {
  if (block === null) return new Map();
  if (Array.isArray(block)) return new Map([['', block.length]]);
  return new Map(flat(block).filter(([path]) => !LEFT_OUT.test(path) && !/\.\d+\./.test(path)));
}

/**
 * @param {any} first record of the first parcel
 * @param {any} second record of the second parcel
 * @param {{ close: () => void, parcel: (fid: number) => void }} actions
 */
export function comparisonPanel(first, second, actions) {
  const both = [first, second];
  const sections = sectionsOf(first).flatMap((section) => {
    const panel = panelOf(section);
    const values = both.map((record) => valuesIn(record[section]));
    const rows = [...new Set(values.flatMap((each) => [...each.keys()]))].map((path) => {
      const field = path.slice(path.lastIndexOf('.') + 1);
      const [one, other] = values.map((each) => each.get(path) ?? null);
      const isSame = textOf(field, one, panel) === textOf(field, other, panel);
      return element('tr', { class: isSame ? 'same' : 'differs' }, [
        element('th', { scope: 'row' }, [path === '' ? t('entries') : wordsOf(field, panel)]), ...[one, other].map((value, side) => element('td', {}, [absenceOf(both[side][section] ?? {}, path, value, panel) ?? valueOf(field, value, panel)])),
      ]);
    });
    return rows.length === 0 ? [] : [element('section', { 'data-section': section }, [element('h3', {}, [titleOf(section)]), element('table', { class: 'compared', 'aria-label': titleOf(section) }, [element('tbody', {}, rows)])])];
  });
  return [
    element('header', {}, [
      button('×', actions.close, { class: 'plain close', 'aria-label': t('close') }),
      element('h2', {}, [t('comparison')]),
      element('table', { class: 'compared' }, [element('tbody', {}, [element('tr', {}, [
        element('th', { scope: 'row' }, []), ...both.map(({ fid, basic, municipality }) => element('td', {}, [
          button(basic.cadastral_reference, () => actions.parcel(fid), { class: 'link' }), element('p', { class: 'quiet' }, [municipality.name ?? municipality.code]),
        ])),
      ])])]),
    ]),
    ...sections,
  ];
}
