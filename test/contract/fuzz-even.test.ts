/** Mutates files of every other source, starting with the first. The tests are in the harness. */
import { fuzzSources } from '../harness/fuzz.ts';

fuzzSources(0, 2);
