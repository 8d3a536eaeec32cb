/** Validates and converts the fields of the layer of buildings (`edifc`). Codes are text, and an unknown code is kept. */
import { z } from 'zod';

const code = z.union([z.string().trim(), z.null()]).transform((text) => (text === null || text === '' ? null : text));

/** `UNK` means that the name is unknown. */
const name = code.transform((text) => (text === 'UNK' ? null : text));

export const record = z.object({ use: code, type: code, state: code, level: code, name, origin: code })
  .transform((fields) => ({
    ...fields,
    /**
     * False for the states `01` (under construction) and `02` (ruin), and for `edifc_sot` `02` (underground). Buildings with the state `91` (unknown) count,
     * because a quarter of the buildings of Umbria have this state.
     */
    counts: fields.state !== '01' && fields.state !== '02' && fields.level !== '02',
    /** True if the code of the use starts with `01`, such as `01`, `0101` and `0102`. */
    residential: fields.use?.startsWith('01') === true,
  }));
