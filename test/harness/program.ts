/** Provides tests with the compiled program of this checkout. Compiling the program at each start would take a second of CPU time. */
import { askBroker } from './broker.ts';

/** Path of the compiled `pipelines/mappale.mjs`. */
export const PROGRAM: string = await askBroker('program');
