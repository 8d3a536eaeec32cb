/** Mutates files of every second source, starting with the first source. The tests are in the harness. */
import { fuzzSources } from '../harness/fuzz.ts';

fuzzSources(0, 2);
