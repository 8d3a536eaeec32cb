/** Chooses the engine that reads and writes vector files. */
import { MappaleError } from '../errors.ts';
import { GDAL_SETUP, PACKAGES_SETUP } from '../typed.ts';
import type { ChosenEngine, LoadedEngine, VectorEngine } from './gdal.ts';
import { loadNative } from './gdal-native.ts';
import { loadWasm } from './gdal-wasm.ts';

/** Functions that load the engines. */
interface EngineLoaders {
  readonly native: () => Promise<LoadedEngine>;
  readonly wasm: () => Promise<LoadedEngine>;
}

const LOADERS: EngineLoaders = { native: loadNative, wasm: loadWasm };

const chosen = new Map<VectorEngine | null, Promise<ChosenEngine>>();

/**
 * Returns the engine of this process. The first call with each value of `only` chooses the engine. @param only engine that a test requests, or null @throws
 * MappaleError `GDAL_MISSING` (usage)
 */
export function gdalEngine(only: VectorEngine | null): Promise<ChosenEngine> {
  const engine = chosen.get(only) ?? chooseEngine(only);
  chosen.set(only, engine);
  return engine;
}

/**
 * Chooses the engine `only`. If `only` is null, chooses gdal-async if the package can be loaded, otherwise gdal3.js.
 * @param only engine that a test requests, or null @throws MappaleError `GDAL_MISSING` (usage) with the command that installs the package
 */
export async function chooseEngine(only: VectorEngine | null, loaders: EngineLoaders = LOADERS): Promise<ChosenEngine> {
  let fallback: string | null = null;
  if (only !== 'gdal3.js') {
    try {
      return { engine: 'gdal-async', ...await loaders.native(), fallback };
    } catch (error) {
      if (only !== null) throw missing(only, error);
      fallback = firstLine(error);
    }
  }
  try {
    return { engine: 'gdal3.js', ...await loaders.wasm(), fallback };
  } catch (error) {
    throw missing('gdal3.js', error);
  }
}

const firstLine = (error: unknown): string => (error instanceof Error ? error.message : String(error)).replace(/\n.*/s, '');

function missing(name: VectorEngine, error: unknown): MappaleError {
  return new MappaleError('GDAL cannot be loaded, so vector files cannot be read', {
    code: 'GDAL_MISSING', kind: 'usage', detail: `expected the package ${name}, found: ${firstLine(error)}`,
    hint: name === 'gdal3.js' ? 'Install the npm packages again.' : 'Install or compile the package.', fix: name === 'gdal3.js' ? PACKAGES_SETUP : GDAL_SETUP, cause: error,
  });
}
