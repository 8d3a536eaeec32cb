// @ts-check
/** Shows a summary of the published data, or the coverage of one comune. */
import { button, element } from './elements.js';
import { state } from './state.js';
import { stateBadge, titleOf } from './values.js';
import { hasParcels, shareCovered } from './view.js';
import { dateOf, numberOf, t } from './words.js';

/** Maximum number of comuni in a list that is open at first. */
const LONG = 16;

/** @param {import('./view.js').Comune} comune @param {{ close: () => void, zoom: () => void }} actions */
export function comunePanel(comune, actions) {
  const { name, belfiore, istat_code: istat, parcels, coverage } = comune;
  const sections = Object.entries(coverage).filter(([, state]) => state !== 'not_applicable');
  return [
    element('header', {}, [
      button('×', actions.close, { class: 'plain close', 'aria-label': t('close') }),
      element('h2', {}, [name ?? belfiore]),
      element('p', { class: 'place' }, [[belfiore, istat === null ? null : `ISTAT ${istat}`].filter(Boolean).join(' · ')]),
      ...(!hasParcels(comune) ? [element('p', { class: 'quiet' }, [t('noParcelsWhy')])] : [element('p', { class: 'facts' }, [element('strong', {}, [numberOf(parcels ?? 0)]), ` ${t('parcels')} · `, t('covered', { n: sections.filter(([, state]) => state === 'mapped' || state === 'partial').length, all: sections.length })]), button(t('zoomIn'), actions.zoom)]),
    ]),
    ...(sections.length === 0 ? [] : [element('section', { 'data-section': 'coverage' }, [
      element('h3', {}, [t('coverage')]),
      element('table', { 'aria-label': t('coverage') }, [element('tbody', {}, sections.map(([section, state]) => element('tr', {}, [element('th', { scope: 'row' }, [titleOf(section)]), element('td', {}, [stateBadge(state)])])))]),
    ])]),
  ];
}

/** @param {{ region: (code: number) => void, comune: (belfiore: string) => void }} actions */
export function publishedPanel(actions) {
  const { regions, reading } = state;
  const comuni = [...state.comuni.values()];
  const parts = [element('header', {}, [
    element('h2', {}, [t('published')]),
    element('p', { class: 'quiet', 'data-reading': reading }, [t(reading === 'reading' ? 'readingPublished' : reading === 'failed' ? 'noAnswer' : regions.length === 0 ? 'nothingPublished' : 'publishedWhat')]),
  ])];
  for (const { code, name, published_at: at, parcels } of regions) {
    const all = comuni.filter(({ region }) => region === code);
    const within = all.filter(hasParcels).sort((a, b) => (a.name ?? '').localeCompare(b.name ?? '', 'it'));
    const rows = within.map((comune) => {
      const share = shareCovered(comune);
      const bar = element('i', { 'aria-hidden': 'true' });
      bar.style.width = `${share * 100}%`;
      return element('tr', {}, [
        element('th', { scope: 'row' }, [button(comune.name ?? comune.belfiore, () => actions.comune(comune.belfiore), { class: 'link' })]),
        element('td', { class: 'bar' }, [bar]), element('td', { class: 'number' }, [numberOf(share, { style: 'percent' })]),
      ]);
    });
    const table = element('table', { 'aria-label': name }, [element('tbody', {}, rows)]);
    parts.push(element('section', { 'data-region': String(code) }, [
      element('h3', {}, [button(name, () => actions.region(code), { class: 'link' })]),
      element('p', { class: 'quiet' }, [[
        parcels === 0 ? t('addressesOnly') : `${numberOf(parcels)} ${t('parcels')}`,
        ...(within.length === 0 ? [] : [within.length < all.length ? t('comuniOf', { n: numberOf(within.length), all: numberOf(all.length) }) : `${numberOf(all.length)} ${t('comuni')}`]),
        t('publishedOn', { date: dateOf(at) }),
      ].join(' · ')]),
      ...(within.length === 0 ? [] : within.length <= LONG ? [table] : [element('details', { class: 'long' }, [element('summary', {}, [`${numberOf(within.length)} ${t('comuni')}`]), table])]),
    ]));
  }
  return parts;
}
