/** Every test of vector files again, with the engine that is not compiled. */
import { afterAll, vi } from 'vitest';

vi.stubEnv('MAPPALE_TEST_VECTOR_ENGINE', 'gdal3.js');
afterAll(() => {
  vi.unstubAllEnvs();
});
await import('./vector.test.ts');
