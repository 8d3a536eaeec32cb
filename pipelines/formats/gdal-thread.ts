/** Entry point of the thread that runs GDAL. `vector.ts` starts this thread. */
import type { EngineFacts, GdalCalls, VectorEngine } from './gdal.ts';
import { gdalEngine } from './gdal-engine.ts';
import { serve } from './thread.ts';

/** Calls that the thread handles: the calls of the engine, and a call that returns facts about the engine. */
interface ThreadCalls extends GdalCalls {
  version(): Promise<EngineFacts>;
}

/** A call, as a message to the thread. */
export interface Call<Name extends keyof ThreadCalls = keyof ThreadCalls> {
  readonly name: Name;
  readonly args: Parameters<ThreadCalls[Name]>;
  /** Engine that a test requests, or null. */
  readonly only: VectorEngine | null;
}

export type Answer<Name extends keyof ThreadCalls> = Awaited<ReturnType<ThreadCalls[Name]>>;

serve<Call, unknown>(async ({ name, args, only }, out) => {
  const { calls, engine, version, fallback } = await gdalEngine(only);
  const all: ThreadCalls = { ...calls, version: () => Promise.resolve({ engine, version, fallback }) };
  out.post(await (all[name] as (...args: readonly unknown[]) => unknown)(...args));
});
