/**
 * The vocabulary of Italian addresses: street types, saints, titles, numerals. All words are in lower case, without accents. Street names and queries are
 * normalised with the same tables.
 */

/** Street types (DUG) whose written form is the canonical name. */
const PLAIN_TYPES: readonly string[] = [
  'via', 'viale', 'vialetto', 'viottolo', 'piazza', 'piazzale', 'piazzetta', 'corso', 'vicolo', 'vicoletto', 'vico', 'largo', 'larghetto',
  'strada', 'stradella', 'stradello', 'stradone', 'contrada', 'localita', 'frazione', 'borgo', 'borgata', 'cascina', 'traversa', 'salita',
  'discesa', 'lungomare', 'lungolago', 'lungofiume', 'lungotevere', 'lungarno', 'lungadige', 'lungopo', 'circonvallazione', 'tangenziale',
  'calle', 'campo', 'campiello', 'fondamenta', 'salizada', 'ramo', 'rio tera', 'ruga', 'sotoportego', 'corte', 'cortile', 'riva', 'lista', 'piscina',
  'strada statale', 'strada provinciale', 'strada regionale', 'strada comunale', 'strada vicinale', 'strada consortile', 'strada privata',
  'autostrada', 'superstrada', 'raccordo', 'rampa', 'galleria', 'passaggio', 'passeggiata', 'sentiero', 'scalinata', 'gradinata', 'scesa',
  'villaggio', 'rione', 'quartiere', 'parco', 'podere', 'masseria', 'case sparse', 'casale', 'nucleo', 'zona', 'regione', 'cavalcavia', 'sottopasso',
  'rotonda', 'ponte', 'porta', 'molo', 'banchina', 'calata', 'alzaia', 'bastioni', 'chiasso', 'costa', 'erta', 'piaggia', 'sdrucciolo', 'supportico',
  'tratturo', 'carraia', 'cupa', 'foro', 'giardino', 'giardini', 'stretta', 'stretto', 'stazione', 'androna', 'arco', 'atrio', 'pendice', 'residenza',
  'rotatoria', 'gradoni', 'gradini', 'belvedere', 'sottoportico', 'isolato', 'argine', 'prolungamento', 'scaletta', 'spiazzo', 'slargo', 'spalto',
  'rue', 'avenue', 'chemin', 'ruelle', 'impasse', 'hameau',
  'strasse', 'gasse', 'weg', 'platz', 'allee', 'promenade', 'steig', 'ufer',
];

/** Maps written forms to canonical types. Keys have neither dots nor slashes: `p.zza` and `c/da` are looked up as `pzza`, `cda`. */
const WRITTEN_TYPES: Readonly<Record<string, string>> = {
  v: 'via', vle: 'viale', ple: 'piazzale', pzle: 'piazzale', pzzle: 'piazzale', pza: 'piazza', pzza: 'piazza',
  pzta: 'piazzetta', pzzta: 'piazzetta', pzetta: 'piazzetta', pzzetta: 'piazzetta', ptta: 'piazzetta', pta: 'piazzetta',
  cso: 'corso', vlo: 'vicolo', vic: 'vicolo', vco: 'vico', lgo: 'largo', str: 'strada', cda: 'contrada', ctr: 'contrada', contr: 'contrada',
  loc: 'localita', locta: 'localita', fraz: 'frazione', fr: 'frazione', frne: 'frazione', bgo: 'borgo', bgta: 'borgata',
  cna: 'cascina', casc: 'cascina', trav: 'traversa', trv: 'traversa', sal: 'salita', circ: 'circonvallazione', circne: 'circonvallazione',
  lmare: 'lungomare', 'lungo mare': 'lungomare', 'lgo mare': 'lungomare', 'largo mare': 'lungomare', ltevere: 'lungotevere',
  'lungo tevere': 'lungotevere', 'lgo tevere': 'lungotevere', 'largo tevere': 'lungotevere', 'lungo lago': 'lungolago',
  'lungo adige': 'lungadige', 'lungo arno': 'lungarno', 'lungo po': 'lungopo',
  fta: 'fondamenta', fondta: 'fondamenta', salizzada: 'salizada', 'rio terra': 'rio tera', cpo: 'campo',
  gall: 'galleria', vill: 'villaggio', qre: 'quartiere', quart: 'quartiere', rne: 'rione', reg: 'regione', staz: 'stazione',
  mass: 'masseria', sent: 'sentiero',
  // Abbreviations in public registers, which keep the first and last letters.
  vtto: 'vialetto', strla: 'stradella', stda: 'strada', sda: 'strada', crso: 'corso', pzz: 'piazza', pzale: 'piazzale', pgta: 'passeggiata', pggta: 'passeggiata',
  cpllo: 'campiello', clle: 'calle', slta: 'salita', trva: 'traversa', trsa: 'traversa', cvne: 'circonvallazione', crcne: 'circonvallazione', cirne: 'circonvallazione',
  fne: 'frazione', frz: 'frazione', lta: 'localita', bta: 'borgata', brgo: 'borgo', vggio: 'villaggio', vgio: 'villaggio', qtre: 'quartiere', gllria: 'galleria', gria: 'galleria',
  lmre: 'lungomare', ltre: 'lungotevere', scta: 'scalinata', rpa: 'rampa', msria: 'masseria', pdre: 'podere', stne: 'stazione', pnte: 'ponte', bast: 'bastioni', 'strada vic': 'strada vicinale', 'str vic': 'strada vicinale',
  'str com': 'strada comunale', 'strada com': 'strada comunale', 'str priv': 'strada privata', 'case sparsa': 'case sparse',
};

/** Maps written forms and canonical names to canonical types. */
export const STREET_TYPES: ReadonlyMap<string, string> = new Map([
  ...PLAIN_TYPES.map((type) => [type, type] as const),
  ...Object.entries(WRITTEN_TYPES),
]);

/** Second meanings of abbreviations: `P.ta` is piazzetta or porta, and `V.co` is vico or vicolo. The search also tries the second meaning. */
export const OTHER_TYPES: Readonly<Record<string, readonly string[]>> = { pta: ['porta'], ptta: ['porta'], vco: ['vicolo'] };

/** Street types at the end of German compounds, such as `museumstrasse` and `romstr`. Longest first. */
export const GERMAN_ENDINGS: readonly (readonly [string, string])[] = [
  ['promenade', 'promenade'], ['strasse', 'strasse'], ['gasse', 'gasse'], ['platz', 'platz'], ['allee', 'allee'], ['steig', 'steig'], ['ufer', 'ufer'],
  ['weg', 'weg'], ['str', 'strasse'],
];

/** Types of numbered roads, by the letter that distinguishes their abbreviations: `SS`, `SP`, `SR` and `SC`. */
export const ROUTES: Readonly<Record<string, string>> = {
  s: 'strada statale', p: 'strada provinciale', r: 'strada regionale', c: 'strada comunale',
};

/** Forms of saint. All forms become `san`, because registers and users mix genders and abbreviations. */
export const SAINTS: ReadonlySet<string> = new Set([
  'san', 'santo', 'santa', 'sant', 'santi', 'sante', 'santissima', 'santissimo', 'ss', 'sts', 'st', 'sta', 'sankt', 'smo', 'sma', 'ssma', 'ssmo', 's',
]);

/** Prepositions, articles and conjunctions, which registers and users often omit. */
export const PARTICLES: ReadonlySet<string> = new Set([
  'di', 'de', 'del', 'dello', 'della', 'dei', 'degli', 'delle', 'dell', 'd', 'da', 'dal', 'dallo', 'dalla', 'dai', 'dagli', 'dalle', 'dall', 'a', 'al', 'allo',
  'alla', 'ai', 'agli', 'alle', 'all', 'ad', 'in', 'nel', 'nello', 'nella', 'nei', 'negli', 'nelle', 'nell', 'su', 'sul', 'sullo', 'sulla', 'sui', 'sugli',
  'sulle', 'sull', 'con', 'col', 'e', 'ed', 'il', 'lo', 'la', 'i', 'gli', 'le', 'l', 'o', 'der', 'die', 'das', 'des', 'dem', 'den', 'und', 'zu', 'zum', 'zur',
  'du', 'et', 'les',
]);

/** Titles before a person's name, which registers and users often omit. */
export const TITLES: ReadonlySet<string> = new Set([
  'papa', 'don', 'dott', 'dottor', 'dottore', 'dr', 'ing', 'ingegner', 'ingegnere', 'prof', 'professor', 'professore', 'avv', 'avvocato', 'gen', 'generale',
  'cap', 'capitano', 'col', 'colonnello', 'mar', 'marllo', 'maresciallo', 'ten', 'tenente', 'sen', 'senatore', 'on', 'onle', 'onorevole', 'cav', 'cavaliere', 'comm',
  'mons', 'monsignor', 'monsignore', 'card', 'cardinale', 'geom', 'geometra', 'arch', 'architetto', 'sac', 'sacerdote', 'vesc', 'vescovo', 'magg', 'ammiraglio', 'amm',
]);

/** Abbreviations inside a name; keys have no dots. A map is used, because every object has a property `constructor`. */
export const ABBREVIATIONS: ReadonlyMap<string, string> = new Map(Object.entries({
  flli: 'fratelli', frlli: 'fratelli', fratlli: 'fratelli', gppe: 'giuseppe', gius: 'giuseppe', giov: 'giovanni', gbatta: 'giovanni battista', mte: 'monte',
  mti: 'monti', cte: 'conte', ppe: 'principe', mdonna: 'madonna', vitt: 'vittorio', eman: 'emanuele', franc: 'francesco',
  // Abbreviations in public registers, which keep the first and last letters.
  nazle: 'nazionale', naz: 'nazionale', provle: 'provinciale', comle: 'comunale', regle: 'regionale', statle: 'statale', consle: 'consorziale', vicle: 'vicinale',
  nva: 'nuova', nvo: 'nuovo', vchia: 'vecchia', vcchia: 'vecchia', vchio: 'vecchio', vcchio: 'vecchio', gde: 'grande', infre: 'inferiore', supre: 'superiore', centle: 'centrale', cntrle: 'centrale', princle: 'principale', ppale: 'principale', indle: 'industriale', artle: 'artigianale', merle: 'meridionale',
  settle: 'settentrionale', occle: 'occidentale', orle: 'orientale', ferrria: 'ferrovia', stne: 'stazione', chsa: 'chiesa', cstllo: 'castello', cllo: 'castello', pnte: 'ponte',
  pte: 'ponte', fte: 'fonte', fntna: 'fontana', vlle: 'valle', cimro: 'cimitero', mlno: 'molino', gvnni: 'giovanni', giovni: 'giovanni', gnni: 'giovanni', antno: 'antonio',
  fsco: 'francesco', francsco: 'francesco', domco: 'domenico', dnico: 'domenico', vinczo: 'vincenzo', vcnzo: 'vincenzo', michle: 'michele', raffle: 'raffaele', salvre: 'salvatore',
  emanle: 'emanuele', vittrio: 'vittorio', repca: 'repubblica', rep: 'repubblica', martri: 'martiri', cadti: 'caduti',
}));

export const MONTHS: ReadonlySet<string> = new Set([
  'gennaio', 'febbraio', 'marzo', 'aprile', 'maggio', 'giugno', 'luglio', 'agosto', 'settembre', 'ottobre', 'novembre', 'dicembre',
]);

/** Words that often follow a number, like months: `cinque giornate`, `II traversa`. */
export const COUNTED: ReadonlySet<string> = new Set(['giornate', 'traversa', 'tratto', 'vico', 'strada', 'rampa', 'martiri', 'armata', 'alpini', 'bersaglieri', 'reggimento']);

/** Types after which a letter I, V or X is a number: `vico I`, `traversa V`. */
export const NUMBERED_TYPES: ReadonlySet<string> = new Set(['vico', 'vicolo', 'traversa', 'rampa', 'ramo', 'parco', 'zona', 'supportico', 'strada', 'corte', 'calata']);

/** Names of kings and popes, with the highest number that occurs in street names. */
export const REGNAL: ReadonlyMap<string, number> = new Map([
  ['emanuele', 3], ['umberto', 2], ['leopoldo', 2], ['pio', 12], ['giovanni', 23], ['paolo', 6], ['leone', 13], ['benedetto', 16], ['gregorio', 16], ['carlo', 10],
  ['federico', 3], ['ferdinando', 4], ['enrico', 8], ['luigi', 18], ['filippo', 5], ['amedeo', 9], ['sisto', 5], ['giulio', 3], ['clemente', 14], ['urbano', 8],
  ['innocenzo', 13], ['alessandro', 8], ['adriano', 6], ['bonifacio', 9], ['eugenio', 4], ['nicola', 5], ['niccolo', 5], ['martino', 5], ['callisto', 3],
  ['onorio', 3], ['celestino', 5], ['silvestro', 2], ['ottone', 3], ['corrado', 4], ['francesco', 2], ['vittorio', 3], ['alberto', 2], ['cosimo', 3],
]);

/** Number words from 1 to 39. */
const CARDINALS = 'uno due tre quattro cinque sei sette otto nove dieci undici dodici tredici quattordici quindici sedici diciassette diciotto diciannove '
  + 'venti ventuno ventidue ventitre ventiquattro venticinque ventisei ventisette ventotto ventinove '
  + 'trenta trentuno trentadue trentatre trentaquattro trentacinque trentasei trentasette trentotto trentanove';
const ORDINALS = 'primo secondo terzo quarto quinto sesto settimo ottavo nono decimo undicesimo dodicesimo tredicesimo quattordicesimo quindicesimo sedicesimo '
  + 'diciassettesimo diciottesimo diciannovesimo ventesimo ventunesimo ventiduesimo ventitreesimo';

/** Maps number words such as `venti`, `secondo` and `ventitre` to numbers. Omits `uno`, because `uno` is also an article. */
export const WRITTEN_NUMBERS: ReadonlyMap<string, number> = new Map([
  ...CARDINALS.split(' ').map((word, index) => [word, index + 1] as const).slice(1), ['ventun', 21], ['trentun', 31],
  ...ORDINALS.split(' ').flatMap((word, index) => [[word, index + 1], [`${word.slice(0, -1)}a`, index + 1]] as const),
]);

const ONES = ['', 'i', 'ii', 'iii', 'iv', 'v', 'vi', 'vii', 'viii', 'ix'];
const ROMANS: ReadonlyMap<string, number> = new Map(['', 'x', 'xx', 'xxx'].flatMap((tens, ten) => ONES.map((ones, one) => [tens + ones, ten * 10 + one] as const)).slice(1));

/** Returns the value 1–39 of a Roman numeral in lower case, or null. Street names have no numerals above 39, and L, C, D and M occur in ordinary words. */
export function roman(word: string): number | null {
  return ROMANS.get(word) ?? null;
}
