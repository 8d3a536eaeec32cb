/** Creates styles, field aliases and a project for QGIS, so that QGIS draws an exported GeoPackage like the map. */
import { escapedXml } from '../formats/xml-text.ts';
import type { Section } from '../contract/section.ts';
import { mapOf } from '../contract/section-maps.ts';
import { SECTIONS } from '../contract/sections.ts';
import type { OutputColumn } from './columns.ts';
import type { ExportFacts } from './export.ts';
import { LEGENDS, TILE_LAYERS } from './tiles.ts';

/** QGIS version whose file format is written. Later versions read this format too. */
const VERSION = '3.22.0';

/** Colour of parcel borders. */
const BORDER = '#8d97a5';

const CRS = '<spatialrefsys><authid>EPSG:4326</authid></spatialrefsys>';

/** A QGIS style, which colours parcels by one value. */
interface QgisStyle {
  /** Name of the map layer that the style reproduces. */
  readonly name: string;
  readonly title: string;
  readonly renderer: string;
}

/** A rule of a style: the QGIS expression that selects parcels, and the fill colour of these parcels. */
interface Rule {
  readonly filter: string;
  readonly label: string;
  readonly color: string;
  readonly pattern: 'solid' | 'f_diagonal' | 'no';
}

function textLiteral(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** Returns the styles of the map's layers whose columns are exported. @param fieldOf returns the name of the field for a column */
export function qgisStyles(columns: readonly OutputColumn[], fieldOf: (column: string) => string): QgisStyle[] {
  const exported = new Set(columns.map(({ name }) => name));
  return TILE_LAYERS.flatMap(({ name, title, section }, index): QgisStyle[] => {
    const legend = LEGENDS[index];
    if (section === null || legend === undefined) return [];
    const value = `${section.name}_${section.layer.value}`;
    const coverage = `${section.name}_${section.layer.coverage ?? 'coverage'}`;
    if (!exported.has(value) || !exported.has(coverage)) return [];
    const rules = rulesOf(legend, { value: `"${fieldOf(value)}"`, coverage: `"${fieldOf(coverage)}"` });
    const drawn = legend.value === null || legend.value === title ? title : `${title}: ${legend.value}`;
    return [{ name, title: legend.unit === null ? drawn : `${drawn} (${legend.unit})`, renderer: rendererOf(name, rules) }];
  });
}

/** Returns the classes of a legend as rules. Exactly one rule selects each parcel. */
function rulesOf(
  { kind, classes, none, not_mapped: notMapped }: (typeof LEGENDS)[number], { value, coverage }: { readonly value: string; readonly coverage: string },
): Rule[] {
  // Compares with 1 and 0, because GDAL writes true and false as 1 and 0.
  const category = (of: unknown): string => textLiteral(of === true ? '1' : of === false ? '0' : String(of));
  const categories = classes.flatMap((each) => ('value' in each ? [category(each.value)] : []));
  const filled = classes.map((each): Rule => {
    const filter = 'value' in each ? `to_string(${value}) = ${category(each.value)}` : rangeFilter(value, each);
    return { filter, label: each.label, color: each.color, pattern: 'solid' };
  });
  const unlisted = kind === 'category' ? ` OR (${value} IS NOT NULL AND to_string(${value}) NOT IN (${categories.join(', ')}))` : '';
  return [
    ...filled,
    ...(none === null ? [] : [{ filter: `(${value} IS NULL AND ${coverage} = 'mapped')${unlisted}`, label: none.label, color: none.color, pattern: 'solid' as const }]),
    { filter: `${value} IS NULL AND ${coverage} = 'not_applicable'`, label: 'Not applicable', color: BORDER, pattern: 'no' },
    ...(notMapped === null ? [] : [{ filter: `${value} IS NULL AND ${coverage} NOT IN ('mapped', 'not_applicable')`, label: notMapped.label, color: notMapped.color, pattern: 'f_diagonal' as const }]),
  ];
}

function rangeFilter(value: string, { from, to }: { readonly from?: number | null; readonly to?: number | null }): string {
  const bounds = [...(from === null || from === undefined ? [] : [`${value} >= ${from}`]), ...(to === null || to === undefined ? [] : [`${value} < ${to}`])];
  return bounds.length === 0 ? `${value} IS NOT NULL` : bounds.join(' AND ');
}

function rendererOf(name: string, rules: readonly Rule[]): string {
  const shown = rules.map(({ filter, label }, index) => `<rule key="${name}-${index}" symbol="${index}" filter="${escapedXml(filter)}" label="${escapedXml(label)}"/>`);
  const symbols = rules.map(({ color, pattern }, index) => `<symbol type="fill" name="${index}" alpha="1" clip_to_extent="1" force_rhr="0">
<layer class="SimpleFill" enabled="1" locked="0" pass="0"><Option type="Map">${options({
  color: rgba(color), style: pattern, outline_color: rgba(BORDER), outline_style: 'solid', outline_width: '0.1', outline_width_unit: 'MM',
})}</Option></layer></symbol>`);
  return `<renderer-v2 type="RuleRenderer" symbollevels="0" enableorderby="0" forceraster="0"><rules key="${name}">${shown.join('\n')}</rules>
<symbols>${symbols.join('\n')}</symbols></renderer-v2>`;
}

function options(values: Readonly<Record<string, string>>): string {
  return Object.entries(values).map(([name, value]) => `<Option type="QString" name="${name}" value="${value}"/>`).join('');
}

/** Returns a colour in QGIS notation, such as `255,0,0,255`. */
function rgba(color: string): string {
  return [...[1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16)), 255].join(',');
}

/**
 * Returns the field aliases as XML. The aliases are the labels from the sections. A field has no alias if its column has no label, or the same label as another
 * column.
 */
export function qgisAliases(columns: readonly OutputColumn[], fieldOf: (column: string) => string): string {
  const labels = new Map(SECTIONS.flatMap((section) => Object.entries(section.flat).flatMap(([column, { of = column }]) => {
    const label = labelOf(section, of);
    return label === undefined ? [] : [[section.name === 'basic' ? column : `${section.name}_${column}`, label] as const];
  })));
  const counts = new Map<string, number>();
  for (const label of labels.values()) counts.set(label, (counts.get(label) ?? 0) + 1);
  const shown = columns.flatMap(({ name }, index) => {
    const label = labels.get(name);
    // Adds 1 to the index, because GeoPackage's own column `fid` precedes all other columns.
    return label === undefined || counts.get(label) !== 1 ? [] : [`<alias index="${index + 1}" field="${escapedXml(fieldOf(name))}" name="${escapedXml(label)}"/>`];
  });
  return `<aliases>${shown.join('\n')}</aliases>`;
}

/**
 * Returns the label of a value, with the section's title and the unit. Returns undefined if the section has no label for the value.
 * @param path path of the value in the block
 */
function labelOf({ name, title }: Section, path: string): string | undefined {
  const { words = {}, units = {}, list } = mapOf(name).panel;
  const prefix = name === 'basic' ? '' : `${title}: `;
  // Omits list indexes such as `0` from the path.
  const steps = path.split('.').filter((step) => !/^\d+$/.test(step));
  const heading = list?.columns[(list.field === undefined ? steps : steps.slice(1)).join('.')];
  if (heading !== undefined) return `${prefix}${heading}`;
  const field = steps.at(-1) ?? path;
  const label = words[field];
  if (label === undefined) return undefined;
  const unit = units[field];
  const parents = steps.slice(0, -1).flatMap((step) => words[step] ?? []);
  return `${prefix}${[...parents, label].join(', ')}${unit === undefined || unit === 'share' ? '' : ` (${unit})`}`;
}

/** Returns a style as a QGIS QML document. */
export function qgisStyleDocument({ renderer }: QgisStyle, aliases: string): string {
  return `<!DOCTYPE qgis PUBLIC 'http://mrcc.com/qgis.dtd' 'SYSTEM'>\n<qgis version="${VERSION}" styleCategories="Symbology|Fields">\n${renderer}\n${aliases}\n</qgis>\n`;
}

/**
 * Returns a QGIS project with one layer for each style. Only the first layer is visible.
 * @param file name of the GeoPackage next to the project
 */
export function qgisProject({ title, extent: [west, south, east, north] }: ExportFacts, { file, table, styles, aliases }: {
  readonly file: string; readonly table: string; readonly styles: readonly QgisStyle[]; readonly aliases: string;
}): string {
  const source = escapedXml(`./${file}|layername=${table}`);
  const tree = styles.map(({ name, title: of }, index) => `<layer-tree-layer id="${name}" name="${escapedXml(of)}" providerKey="ogr" source="${source}" expanded="${
    index === 0 ? 1 : 0}" checked="${index === 0 ? 'Qt::Checked' : 'Qt::Unchecked'}"/>`);
  const layers = styles.map(({ name, title: of, renderer }) => `<maplayer type="vector" geometry="Polygon" labelsEnabled="0" autoRefreshEnabled="0">
<id>${name}</id><datasource>${source}</datasource><layername>${escapedXml(of)}</layername><srs>${CRS}</srs>
<provider encoding="UTF-8">ogr</provider>
${aliases}
${renderer}
</maplayer>`);
  return `<!DOCTYPE qgis PUBLIC 'http://mrcc.com/qgis.dtd' 'SYSTEM'>
<qgis projectname="${escapedXml(title)}" version="${VERSION}">
<title>${escapedXml(title)}</title>
<projectCrs>${CRS}</projectCrs>
<layer-tree-group><customproperties/>${tree.join('\n')}</layer-tree-group>
<mapcanvas name="theMapCanvas"><units>degrees</units><extent><xmin>${west}</xmin><ymin>${south}</ymin><xmax>${east}</xmax><ymax>${north}</ymax></extent><rotation>0</rotation><destinationsrs>${CRS}</destinationsrs></mapcanvas>
<projectlayers>${layers.join('\n')}</projectlayers>
<properties><Paths><Absolute type="bool">false</Absolute></Paths><SpatialRefSys><ProjectionsEnabled type="int">1</ProjectionsEnabled></SpatialRefSys></properties>
</qgis>
`;
}
