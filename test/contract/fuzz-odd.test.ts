/** Mutates files of every second source, starting with the second source. The tests are defined in `test/harness/fuzz.ts`. */
import { fuzzSources } from '../harness/fuzz.ts';

fuzzSources(1, 2);
