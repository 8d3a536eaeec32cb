/** Mutated files of every other source, from the first on: see the harness. */
import { fuzzSources } from '../harness/fuzz.ts';

fuzzSources(0, 2);
