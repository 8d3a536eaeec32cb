/** Kills runs on PostgreSQL: see `kills.ts`. */
import { killRuns } from '../harness/faults/kills.ts';

killRuns('postgres');
