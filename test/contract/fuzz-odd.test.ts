/** Mutates files of every second source, starting with the second source. The tests are in the harness. */
import { fuzzSources } from '../harness/fuzz.ts';

fuzzSources(1, 2);
