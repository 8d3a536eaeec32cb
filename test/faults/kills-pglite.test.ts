/** Kills runs on the embedded database: see `kills.ts`. */
import { killRuns } from './kills.ts';

killRuns('pglite');
