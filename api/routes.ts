/** Converts paths between the notation of the OpenAPI document (`/parcels/{id}`) and the notation of the router. */

/**
 * Pattern that the router uses for a path parameter. The pattern accepts every text, including an encoded slash, because the parameter's schema checks
 * the value.
 */
const PARAMETER = '(.+)';

/** @returns the path in the router's notation */
export function routeOf(template: string): string {
  return template.replace(/\{(\w+)\}/g, `:$1${PARAMETER}`);
}

/** Matches a path parameter in the router's notation, with or without `PARAMETER`. */
const PARAMETERS = /:(\w+)(?:\(\.\+\))?/g;

/** @returns the path in the document's notation */
export function templateOf(route: string): string {
  return route.replace(PARAMETERS, '{$1}');
}

/** @returns a pattern that matches the paths of a route as `pathOf` returns them */
export function patternOf(route: string): RegExp {
  return new RegExp(`^${route.replace(PARAMETERS, '[^/]+').replaceAll('.', '\\.')}$`);
}
