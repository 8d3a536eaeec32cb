/** Measures the stage step of one release with the compiled program, in a separate process. */
import { fileURLToPath } from 'node:url';
import { COMPILED, execute } from './shared.ts';

export interface StageWork {
  readonly url: string;
  readonly source: string;
  /** Staging table whose rows are counted. */
  readonly table: string;
  /** File or folder of one release. */
  readonly files: string;
}

export interface Staged {
  readonly seconds: number;
  readonly rows: number;
  readonly peakMiB: number;
}

/** Stages a release in a child process, and drops the staging schema. */
export async function stageInChild({ url, source, table, files }: StageWork): Promise<Staged> {
  const program = fileURLToPath(new URL('./stage-child.mjs', import.meta.url));
  const { stdout } = await execute(process.execPath, [program, COMPILED, url, source, table, files]);
  return JSON.parse(stdout) as Staged;
}
