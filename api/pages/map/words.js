// @ts-check
/** Texts of the page in both languages. Titles and field texts of a section are in the section's folder. */
import { state } from './state.js';

const ENGLISH = {
  language: 'Italiano',
  switchTo: 'it',
  title: 'mappale: parcels on a map',
  skip: 'Skip to the record',
  map: 'Map',
  mapHelp: 'Map: arrow keys move it, plus and minus change the scale; Enter reads the parcel in the middle',
  record: 'Known facts about the place',
  sheet: 'Make this panel larger or smaller',
  searchLabel: 'Search: address, comune, coordinates, or comune, foglio and particella',
  searchHint: 'Address, comune, foglio and particella, coordinates',
  suggestions: 'Suggestions',
  searching: 'Searching …',
  nothing: 'Nothing found for “{text}”.',
  regionNotLoaded: '{name} is in {region}, which is not loaded.',
  comuneNotLoaded: 'No address of {name} is loaded.',
  ofComune: 'comune · {parcels} parcels',
  parcel: 'Parcel {name}',
  parcelIn: 'no. {label}, {comune}',
  byNumber: 'by its identifier',
  coordinates: 'coordinates',
  number: 'exact number',
  number_without_exponent: 'number without its letter',
  nearest_number: 'nearest number',
  street: 'street',
  layers: 'Layers',
  coverage: 'Coverage',
  parcelsOnly: 'Parcels only',
  opacity: 'Opacity',
  legend: 'Legend',
  credits: 'Sources',
  signIn: 'Sign in',
  signOut: 'Sign out',
  signInWhy: 'Parcels and their records need a token. On the machine of the server, mappale serve prints a link that signs this browser in. Otherwise type a token.',
  token: 'Token',
  tokenKept: 'The token stays in this tab until you close it, and is sent only to this server.',
  cancel: 'Cancel',
  signInFirst: 'Sign in to see parcels, to search addresses and to read records.',
  refused: 'The server refuses this token or session: sign in again.',
  signedIn: 'Signed in.',
  signedOut: 'Signed out.',
  published: 'Published data',
  publishedWhat: 'Choose a comune on the map or search for one. Zoom in to see single parcels and their records.',
  readingPublished: 'Reading the published data …',
  readingRecord: 'Reading …',
  loadingMap: 'Loading the map …',
  nothingPublished: 'Nothing is published yet. Run mappale load-region to load a region.',
  parcels: 'parcels',
  comuni: 'comuni',
  comuniOf: '{n} of {all} comuni',
  addressesOnly: 'addresses only',
  noParcels: 'No parcels loaded',
  noParcelsWhy: 'No parcels of this comune are loaded. If its addresses are loaded, the search finds them.',
  publishedOn: 'published {date}',
  covered: '{n} of {all} sections cover it',
  coveredAll: 'Mapped by every section',
  coveredMost: 'By most',
  coveredSome: 'By few',
  coveredNone: 'By none',
  mapped: 'Mapped',
  partial: 'Partly mapped',
  not_mapped: 'Not mapped',
  not_loaded: 'Not loaded',
  not_applicable: 'Not applicable',
  mappedNone: 'None here',
  mappedNoneWhy: 'The sources cover this place and have nothing here.',
  partialWhy: 'The sources cover only a part, so this value is a lower bound.',
  not_mappedWhy: 'The loaded files do not cover this place. This does not mean that nothing is here.',
  not_loadedWhy: 'No file of this section is loaded.',
  not_applicableWhy: 'This section does not exist for parcels of this kind.',
  closer: 'Zoom in to see parcels.',
  zoomIn: 'Show its parcels',
  reading: 'Reading parcel {fid} …',
  looking: 'Looking for the parcel at {name} …',
  noParcel: 'No parcel at {name}.',
  shown: 'Parcel {label}, {comune}.',
  noAnswer: 'The server does not answer.',
  noDrawing: 'This browser cannot draw the map, because it has no WebGL. Search and records still work.',
  particella: 'Parcel {label}',
  particellaOf: 'Parcel {label}, sheet {sheet}',
  land: 'land',
  road: 'road',
  water: 'water',
  building: 'building',
  close: 'Close',
  print: 'Print',
  copy: 'Copy link',
  copied: 'Link copied.',
  why: 'Why?',
  source: 'Source',
  noSource: 'no source is loaded',
  whyHow: 'File, position in the file and rule of each value, computed again from the published data:',
  whyAlso: 'The same in a terminal:',
  explaining: 'Running the rule again on this parcel …',
  ranSame: '✓ The rule was run again and gives the published value.',
  ranNothing: '✓ The rule was run again and gives nothing for this parcel, and nothing is published.',
  ranOther: '✗ The rule was run again and does NOT give the published value. Refresh the region.',
  saysNothing: 'nothing',
  fromTo: '{from} to {to}',
  nth: '{name}, no. {n}',
  notExplained: 'The rule could not be run here: {why}.',
  more: 'All {n}',
  neighbours: 'Neighbours',
  attributions: 'Attributions',
  files: 'Current files for {comune}',
  filesHelp: 'The newest file of each kind that covers this comune.',
  file: 'File',
  vintage: 'Vintage',
  loadFiles: 'Which files?',
  yes: 'yes',
  no: 'no',
  printedFrom: 'Printed {date} from {url}',
  zoomInControl: 'Zoom in',
  zoomOutControl: 'Zoom out',
};

/** @type {Record<keyof typeof ENGLISH, string>} */
const ITALIAN = {
  language: 'English',
  switchTo: 'en',
  title: 'mappale: particelle sulla mappa',
  skip: 'Vai alla scheda',
  map: 'Mappa',
  mapHelp: 'Mappa: le frecce la spostano, più e meno cambiano scala; Invio legge la particella al centro',
  record: 'Che cosa si sa del luogo',
  sheet: 'Ingrandisci o riduci questo pannello',
  searchLabel: 'Cerca: indirizzo, comune, coordinate, oppure comune, foglio e particella',
  searchHint: 'Indirizzo, comune, foglio e particella, coordinate',
  suggestions: 'Suggerimenti',
  searching: 'Ricerca in corso …',
  nothing: 'Nessun risultato per «{text}».',
  regionNotLoaded: '{name} si trova in {region}, regione non caricata.',
  comuneNotLoaded: 'Nessun indirizzo di {name} è caricato.',
  ofComune: 'comune · {parcels} particelle',
  parcel: 'Particella {name}',
  parcelIn: 'n. {label}, {comune}',
  byNumber: 'per identificativo',
  coordinates: 'coordinate',
  number: 'numero esatto',
  number_without_exponent: 'numero senza esponente',
  nearest_number: 'numero più vicino',
  street: 'via',
  layers: 'Livelli',
  coverage: 'Copertura',
  parcelsOnly: 'Solo particelle',
  opacity: 'Opacità',
  legend: 'Legenda',
  credits: 'Fonti',
  signIn: 'Accedi',
  signOut: 'Esci',
  signInWhy: 'Le particelle e le loro schede richiedono un token. Sulla macchina del server, mappale serve stampa un link che fa accedere questo browser; altrove scrivi un token.',
  token: 'Token',
  tokenKept: 'Resta in questa scheda finché non la chiudi, e va solo a questo server.',
  cancel: 'Annulla',
  signInFirst: 'Accedi per vedere le particelle, cercare indirizzi e leggere le schede.',
  refused: 'Il server rifiuta questo token o questa sessione: accedi di nuovo.',
  signedIn: 'Accesso effettuato.',
  signedOut: 'Sei uscito.',
  published: 'Che cosa è pubblicato',
  publishedWhat: 'Scegli un comune sulla mappa o cercalo. Da vicino, ogni particella dice tutto ciò che se ne sa.',
  readingPublished: 'Lettura dei dati pubblicati …',
  readingRecord: 'Lettura …',
  loadingMap: 'Caricamento della mappa …',
  nothingPublished: 'Non è ancora pubblicato nulla: mappale load-region carica una prima regione.',
  parcels: 'particelle',
  comuni: 'comuni',
  comuniOf: '{n} comuni su {all}',
  addressesOnly: 'solo indirizzi',
  noParcels: 'Nessuna particella caricata',
  noParcelsWhy: 'Nessuna particella di questo comune è caricata. Se lo sono i suoi indirizzi, la ricerca li trova.',
  publishedOn: 'pubblicato il {date}',
  covered: 'lo coprono {n} sezioni su {all}',
  coveredAll: 'Coperto da tutte le sezioni',
  coveredMost: 'Da quasi tutte',
  coveredSome: 'Da poche',
  coveredNone: 'Da nessuna',
  mapped: 'Mappato',
  partial: 'Mappato in parte',
  not_mapped: 'Non mappato',
  not_loaded: 'Non caricato',
  not_applicable: 'Non pertinente',
  mappedNone: 'Qui nulla',
  mappedNoneWhy: 'Le fonti coprono questo luogo, e non vi è nulla.',
  partialWhy: 'Le fonti coprono solo una parte: ciò che si vede è un limite inferiore.',
  not_mappedWhy: 'Nessuno lo ha detto: i file caricati non arrivano fin qui. Non vuol dire che non ci sia.',
  not_loadedWhy: 'Nessun suo file è caricato.',
  not_applicableWhy: 'Questa sezione non riguarda le particelle di questo tipo.',
  closer: 'Da più vicino si vedono le particelle.',
  zoomIn: 'Mostra le sue particelle',
  reading: 'Lettura della particella {fid} …',
  looking: 'Ricerca della particella a {name} …',
  noParcel: 'Non c’è nessuna particella a {name}.',
  shown: 'Particella {label}, {comune}.',
  noAnswer: 'Il server non risponde.',
  noDrawing: 'Questo browser non può disegnare la mappa (manca WebGL). Ricerca e schede funzionano lo stesso.',
  particella: 'Particella {label}',
  particellaOf: 'Particella {label}, foglio {sheet}',
  land: 'terreno',
  road: 'strada',
  water: 'acqua',
  building: 'edificio',
  close: 'Chiudi',
  print: 'Stampa',
  copy: 'Copia link',
  copied: 'Il link è copiato.',
  why: 'Perché?',
  source: 'Fonte',
  noSource: 'nessuna fonte è caricata',
  whyHow: 'File, posizione nel file e regola di ciascuno di questi valori, ricalcolati da ciò che è pubblicato:',
  whyAlso: 'Lo stesso da terminale:',
  explaining: 'La regola viene rieseguita su questa particella …',
  ranSame: '✓ La regola, appena rieseguita, dà ciò che è pubblicato.',
  ranNothing: '✓ La regola, appena rieseguita, non dà nulla per questa particella, e nulla è pubblicato.',
  ranOther: '✗ La regola, appena rieseguita, NON dà ciò che è pubblicato: va aggiornata la regione.',
  saysNothing: 'nulla',
  fromTo: 'da {from} a {to}',
  nth: '{name}, n. {n}',
  notExplained: 'Qui non è stato possibile rieseguirla: {why}.',
  more: 'Tutte le {n} righe',
  neighbours: 'Particelle vicine',
  attributions: 'Attribuzioni',
  files: 'File in vigore per {comune}',
  filesHelp: 'Il più recente di ogni tipo che parla di questo comune.',
  file: 'File',
  vintage: 'Edizione',
  loadFiles: 'Quali file?',
  yes: 'sì',
  no: 'no',
  printedFrom: 'Stampato il {date} da {url}',
  zoomInControl: 'Avvicina',
  zoomOutControl: 'Allontana',
};

const WORDS = { en: ENGLISH, it: ITALIAN };

/** Italian messages by error code, with values of `details`. The server's messages are English. @type {Record<string, string>} */
const REFUSALS = {
  INVALID_PARAMS: 'la richiesta non è valida: {parameter}',
  OUT_OF_BOUNDS: 'il punto è fuori dall’Italia',
  BBOX_TOO_LARGE: 'il riquadro è troppo grande',
  POLYGON_TOO_LARGE: 'il poligono è troppo grande',
  API_KEY_REQUIRED: 'serve un token',
  INVALID_API_KEY: 'il token non è noto, è scaduto o è stato revocato',
  INSUFFICIENT_SCOPE: 'il token non ha l’ambito {required_scope}',
  NOT_FOUND: 'ciò che è stato chiesto non c’è',
  NOT_FOUND_id: 'la particella {id} non c’è',
  METHOD_NOT_ALLOWED: 'il server non accetta questo tipo di richiesta',
  REQUEST_TIMEOUT: 'la connessione è stata chiusa',
  GONE: 'la particella {id} non è più pubblicata',
  GONE_successor_fid: 'la particella {id} non è più pubblicata; le succede la {successor_fid}',
  RATE_LIMITED: 'troppe richieste: riprova fra {retry_after_seconds} secondi',
  TOO_MANY_ATTEMPTS: 'troppi token errati da questo indirizzo: riprova fra {retry_after_seconds} secondi',
  HEADERS_TOO_LARGE: 'le intestazioni della richiesta sono troppo grandi',
  INTERNAL_ERROR: 'qualcosa è andato storto sul server; è stato annotato con request_id {request_id}',
  SERVICE_UNAVAILABLE: 'il server ora non può rispondere: riprova fra {retry_after_seconds} secondi',
  link_unknown: 'il link non è di questo server: prendi quello che mappale serve ha stampato all’ultimo avvio',
  link_used: 'il link è già stato usato, e vale una volta sola: riavvia mappale serve per averne un altro',
  link_expired: 'il link è scaduto: riavvia mappale serve per averne un altro',
};

export const isItalian = () => state.language === 'it';

/** @param {keyof typeof ENGLISH} word @param {Record<string, string | number>} values values for the placeholders in braces */
export function t(word, values = {}) {
  return filled(WORDS[state.language][word], values);
}

/** @param {string} sentence @param {Record<string, string | number | null>} values */
const filled = (sentence, values) => sentence.replace(/\{(\w+)\}/g, (_, name) => String(values[name] ?? ''));

/** @param {import('./interface.js').Refusal} refusal @returns {string} */
export function refusalInWords({ code, message, details }) {
  const stated = ['successor_fid', 'id'].filter((each) => (details[each] ?? null) !== null);
  // The most specific sentence first.
  const known = [`link_${details['link']}`, ...stated.map((each) => `${code}_${each}`), code].find((each) => Object.hasOwn(REFUSALS, each));
  return !isItalian() || known === undefined ? message : filled(REFUSALS[known] ?? '', details);
}

/** Returns whether the page has a text for a value or state of a record. @param {string} word @returns {word is keyof typeof ENGLISH} */
export const hasWord = (word) => Object.hasOwn(ENGLISH, word);

/** Values with the same meaning in every section: kinds of parcel, and states of coverage. */
const SHARED_WORDS = ['land', 'road', 'water', 'building', 'mapped', 'partial', 'not_mapped', 'not_loaded', 'not_applicable'];

/** @param {string} word @returns {word is keyof typeof ENGLISH} */
export const isSharedWord = (word) => SHARED_WORDS.includes(word);

/** @param {number} value @param {Intl.NumberFormatOptions} options */
export const numberOf = (value, options = {}) => value.toLocaleString(isItalian() ? 'it-IT' : 'en-GB', options);

/** @param {string | Date} when */
export const dateOf = (when) => new Date(when).toLocaleDateString(isItalian() ? 'it-IT' : 'en-GB', { day: 'numeric', month: 'long', year: 'numeric' });

/** Fills in the texts of the document. */
export function fillWords() {
  document.documentElement.lang = state.language;
  document.title = t('title');
  for (const [attribute, target] of [['data-word', null], ['data-word-label', 'aria-label'], ['data-word-placeholder', 'placeholder']]) {
    for (const each of document.querySelectorAll(`[${attribute}]`)) {
      const word = t(/** @type {keyof typeof ENGLISH} */ (each.getAttribute(/** @type {string} */ (attribute))));
      if (target === null) each.textContent = word;
      else each.setAttribute(/** @type {string} */ (target), word);
    }
  }
}
