/** Runs every test of `vector.test.ts` again with gdal3.js, the engine without native code. */
import { afterAll, vi } from 'vitest';

vi.stubEnv('MAPPALE_TEST_VECTOR_ENGINE', 'gdal3.js');
afterAll(() => {
  vi.unstubAllEnvs();
});
await import('./vector.test.ts');
