/** Makes the optional package gdal-async unavailable, as on a machine without the package. Tests preload this module with `node --import`. */
import { register } from 'node:module';

const hook = `export async function resolve(specifier, context, next) {
  if (specifier === 'gdal-async') throw Object.assign(new Error("Cannot find package 'gdal-async'"), { code: 'ERR_MODULE_NOT_FOUND' });
  return next(specifier, context);
}`;
register(`data:text/javascript,${encodeURIComponent(hook)}`);
