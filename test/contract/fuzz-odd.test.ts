/** Mutated files of every other source, from the second on: see the harness. */
import { fuzzSources } from '../harness/fuzz.ts';

fuzzSources(1, 2);
