/** Mutates files of every other source, starting with the second. The tests are in the harness. */
import { fuzzSources } from '../harness/fuzz.ts';

fuzzSources(1, 2);
