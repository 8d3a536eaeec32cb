/** Lists the classes of CORINE Land Cover. Validates and converts the fields of a record. */
import { z } from 'zod';

/** The 44 classes of the third level, with the names of ISPRA's Italian nomenclature of CORINE Land Cover. */
export const CLASSES: ReadonlyMap<string, string> = new Map([
  ['111', 'Zone residenziali a tessuto continuo'],
  ['112', 'Zone residenziali a tessuto discontinuo e rado'],
  ['121', 'Aree industriali, commerciali e dei servizi pubblici e privati'],
  ['122', 'Reti stradali, ferroviarie e infrastrutture tecniche'],
  ['123', 'Aree portuali'],
  ['124', 'Aeroporti'],
  ['131', 'Aree estrattive'],
  ['132', 'Discariche'],
  ['133', 'Cantieri'],
  ['141', 'Aree verdi urbane'],
  ['142', 'Aree ricreative e sportive'],
  ['211', 'Seminativi in aree non irrigue'],
  ['212', 'Seminativi in aree irrigue'],
  ['213', 'Risaie'],
  ['221', 'Vigneti'],
  ['222', 'Frutteti e frutti minori'],
  ['223', 'Oliveti'],
  ['231', 'Prati stabili (foraggere permanenti)'],
  ['241', 'Colture temporanee associate a colture permanenti'],
  ['242', 'Sistemi colturali e particellari complessi'],
  ['243', 'Aree prevalentemente occupate da colture agrarie con presenza di spazi naturali importanti'],
  ['244', 'Aree agroforestali'],
  ['311', 'Boschi di latifoglie'],
  ['312', 'Boschi di conifere'],
  ['313', 'Boschi misti di conifere e latifoglie'],
  ['321', 'Aree a pascolo naturale e praterie'],
  ['322', 'Brughiere e cespuglieti'],
  ['323', 'Aree a vegetazione sclerofilla'],
  ['324', 'Aree a vegetazione boschiva ed arbustiva in evoluzione'],
  ['331', 'Spiagge, dune e sabbie'],
  ['332', 'Rocce nude, falesie, rupi, affioramenti'],
  ['333', 'Aree con vegetazione rada'],
  ['334', 'Aree percorse da incendi'],
  ['335', 'Ghiacciai e nevi perenni'],
  ['411', 'Paludi interne'],
  ['412', 'Torbiere'],
  ['421', 'Paludi salmastre'],
  ['422', 'Saline'],
  ['423', 'Zone intertidali'],
  ['511', 'Corsi d\'acqua, canali e idrovie'],
  ['512', 'Bacini d\'acqua'],
  ['521', 'Lagune'],
  ['522', 'Estuari'],
  ['523', 'Mari e oceani'],
]);

const text = z.union([z.string(), z.number()], 'expected a text or a number').transform((value) => String(value).trim());

export const landCoverRow = z.strictObject({
  // 990, 995 and 999 of the raster legend (unclassified, no data) are not classes.
  code: text.refine((code) => CLASSES.has(code), 'expected one of the 44 classes, 111 to 523'),
  // The identifier may be empty in a file that another program cut.
  clc_id: z.union([text, z.null()]).transform((id) => (id === '' ? null : id)),
}).transform(({ code, clc_id }) => ({ code, clc_id, description: CLASSES.get(code) ?? '' }));
