/** Preloaded by `node --import`: the optional package gdal-async cannot be found, as on a machine where it was not installed. */
import { register } from 'node:module';

const hook = `export async function resolve(specifier, context, next) {
  if (specifier === 'gdal-async') throw Object.assign(new Error("Cannot find package 'gdal-async'"), { code: 'ERR_MODULE_NOT_FOUND' });
  return next(specifier, context);
}`;
register(`data:text/javascript,${encodeURIComponent(hook)}`);
