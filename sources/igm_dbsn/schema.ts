/** What the fields of the layer of buildings (`edifc`) mean. Codes are text: where one is not known here, it stays as it is. */
import { z } from 'zod';

const code = z.union([z.string().trim(), z.null()]).transform((text) => (text === null || text === '' ? null : text));

/** `UNK`: the name is not known. */
const name = code.transform((text) => (text === 'UNK' ? null : text));

export const record = z.object({ use: code, type: code, state: code, level: code, name, origin: code })
  .transform((fields) => ({
    ...fields,
    /** `01` under construction, `02` a ruin; `edifc_sot` `02`: underground. `91`, not known, is a quarter of the buildings of a region, and counts. */
    counts: fields.state !== '01' && fields.state !== '02' && fields.level !== '02',
    /** `01`, `0101`, `0102`. */
    residential: fields.use?.startsWith('01') === true,
  }));
