/** What runs in the thread of `vector.ts`. */
import { calls, type Call } from './gdal.ts';
import { serve } from './thread.ts';

serve<Call, unknown>(async ({ name, args }, out) => out.post(await (calls[name] as (...args: readonly unknown[]) => unknown)(...args)));
