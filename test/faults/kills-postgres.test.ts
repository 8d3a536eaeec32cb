/** Kills runs on PostgreSQL: see `kills.ts`. */
import { killRuns } from './kills.ts';

killRuns('postgres');
