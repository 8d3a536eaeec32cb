/**
 * Provides facts about this program: the version, and the paths of modules. In a checkout, TypeScript runs directly. The npm package runs compiled code from
 * `dist/`.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT } from './config.ts';

/** True if compiled code runs. In this case, development packages may be missing. */
export const IS_COMPILED: boolean = import.meta.url.endsWith('.js');

export const VERSION: string = (JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }).version;

/**
 * Returns the path of the file that runs for a module: TypeScript or compiled code.
 * @param source path of the module's TypeScript, such as `…/sources/<id>/source.ts`
 */
export function moduleFile(source: string): string {
  return IS_COMPILED ? source.replace(/\.ts$/, '.js') : source;
}

/** Loads a module by the path of its file. @param source path of the module's TypeScript, relative to the root @returns the default export of the module */
export async function loadModule<T>(source: string): Promise<T> {
  return ((await import(pathToFileURL(moduleFile(join(ROOT, source))).href)) as { default: T }).default;
}

/** Returns whether a process with this id runs on this machine. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
