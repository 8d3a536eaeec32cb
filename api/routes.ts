/** Paths as the document writes them, `/parcels/{id}`, and as the router takes them. */

/** What a path parameter may hold, an encoded slash included: its schema refuses the rest. */
const PARAMETER = '(.+)';

/** @returns the path for the router */
export function routeOf(template: string): string {
  return template.replace(/\{(\w+)\}/g, `:$1${PARAMETER}`);
}

/** @returns the path as the document has it */
export function templateOf(route: string): string {
  return route.replace(/:(\w+)\(\.\+\)/g, '{$1}');
}

/** @returns what paths of a route look like before they are decoded */
export function patternOf(route: string): RegExp {
  return new RegExp(`^${route.replace(/:(\w+)\(\.\+\)/g, '[^/]+').replaceAll('.', '\\.')}$`);
}
