/** Provides tests with the compiled program of this checkout. Compiling the program at each start would take a second of CPU time. */
import { inject } from 'vitest';

const response = await fetch(new URL('program', inject('postgresBroker')));
if (!response.ok) throw new Error(`the program was not compiled: ${await response.text()}`);

/** Path of the compiled `pipelines/mappale.mjs`. */
export const PROGRAM: string = await response.text();
