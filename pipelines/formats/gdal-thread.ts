/** Entry point of the thread that `vector.ts` starts. */
import { calls, type Call } from './gdal.ts';
import { serve } from './thread.ts';

serve<Call, unknown>(async ({ name, args }, out) => out.post(await (calls[name] as (...args: readonly unknown[]) => unknown)(...args)));
