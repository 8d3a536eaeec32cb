/** Kills runs on the embedded database: see `kills.ts`. */
import { killRuns } from '../harness/faults/kills.ts';

killRuns('pglite');
