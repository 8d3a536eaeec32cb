/** Lists the files of npm packages that the pages load. The build copies these files, so the published package does not depend on the npm packages. */
export const LIBRARIES = {
  'swagger-ui-dist': ['swagger-ui-bundle.js', 'swagger-ui.css'],
  // MapLibre GL loads its worker script from the folder of its main script.
  'maplibre-gl': ['dist/maplibre-gl.mjs', 'dist/maplibre-gl-worker.mjs', 'dist/maplibre-gl.css'],
} as const;

/** Folder of the copied files, relative to the root. */
export const LIBRARY_FOLDER = 'api/pages/libraries';
