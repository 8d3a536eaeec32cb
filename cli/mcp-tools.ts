/** Provides the tools of the Model Context Protocol. Most tools call the lookup of an API endpoint. Every answer contains the licences of its data. */
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import type { Scope } from '../api/access.ts';
import type { Endpoint } from '../api/endpoint.ts';
import { ENDPOINTS } from '../api/endpoints.ts';
import { ApiError } from '../api/errors.ts';
import { readParameters } from '../api/parameters.ts';
import { gateOf } from '../pipelines/contract/gates.ts';
import { regionOfFid } from '../pipelines/contract/regions.ts';
import { SECTION_NAMES } from '../pipelines/contract/sections.ts';
import type { Relation } from '../pipelines/contract/sql-files.ts';
import type { Reader } from '../pipelines/db/reader.ts';
import { MappaleError } from '../pipelines/errors.ts';
import { explain } from '../pipelines/operate/explain.ts';
import { VERSION } from '../pipelines/program.ts';
import type { Context } from '../pipelines/run/context.ts';
import { compactRecord, DEFAULT_SECTIONS, licencesOnce } from './mcp-compact.ts';
import { DICTIONARY, dictionaryOf } from './mcp-dictionary.ts';
import { findParcel } from './parcel-id.ts';
import { readPassport } from './quality-report.ts';

/** Database context and reader that the tools use. */
export interface Asked {
  readonly context: Context;
  readonly reader: Reader;
}

interface Tool<Input extends z.ZodRawShape> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** Scope that a token needs to call the tool over HTTP. */
  readonly scope: Scope;
  readonly input: Input;
  /** @throws ApiError, MappaleError */
  readonly answer: (asked: Asked, input: z.output<z.ZodObject<Input>>) => Promise<Readonly<Record<string, unknown>>>;
}

/** Creates a tool whose `answer` gets arguments of the types in the schema `input`. */
function tool<Input extends z.ZodRawShape>(facts: Tool<Input>): Tool<z.ZodRawShape> {
  return facts as unknown as Tool<z.ZodRawShape>;
}

function endpointOf(operation: string): Endpoint {
  const found = ENDPOINTS.find((each) => each.operation === operation);
  if (found === undefined) throw new Error(`the API has no operation ${operation}`);
  return found;
}

/** Returns the answer of an endpoint. Arguments are parsed like the parameters of an HTTP request. @throws ApiError, MappaleError */
async function answerOf(
  { reader }: Asked, operation: string, query: Readonly<Record<string, unknown>>, path: Readonly<Record<string, unknown>> = {},
): Promise<Readonly<Record<string, unknown>>> {
  const { lookup, parameters, pathParameters } = endpointOf(operation);
  const textual = (values: Readonly<Record<string, unknown>>): Record<string, string> =>
    Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined).map(([name, value]) => [name, String(value)]));
  const { answer } = await lookup(reader, { path: readParameters(pathParameters, textual(path)), query: readParameters(parameters, textual(query)), base: '' });
  return JSON.parse(answer ?? 'null') as Readonly<Record<string, unknown>>;
}

/** Returns the attributions of the given sections, for the given regions and the regions of the given comuni. */
async function licensesOf({ reader }: Asked, regions: readonly number[], comuni: readonly string[], sections: readonly string[]): Promise<unknown> {
  const { licenses } = await reader.call<{ licenses: string }>('select licenses_of as licenses from api.licenses_of($1, $2, $3)', [regions, comuni, sections]);
  return licencesOnce(JSON.parse(licenses) as Parameters<typeof licencesOnce>[0]);
}

/** Returns the section of a table's quality gate as a list; an empty list for a table without a gate. */
function sectionsOf(relation: Relation): string[] {
  const gate = gateOf(relation);
  return gate === null ? [] : [gate.section];
}

const latitude = z.number().describe('Degrees, WGS 84');
const longitude = z.number().describe('Degrees, WGS 84');
/** Schema of a parcel id, which also accepts a number, because answers contain the fid as a number. */
const parcelId = z.union([z.string(), z.int()]).describe('fid, such as 1400000000, or national cadastral reference, such as H833_001300.594');

export const TOOLS: readonly Tool<z.ZodRawShape>[] = [
  tool({
    name: 'search',
    title: 'Search addresses',
    description: 'Finds Italian addresses and their coordinates, best match first, only in the place that the query names. match_type states how exact the match is. '
      + 'If nothing is found, meta.not_loaded lists the comuni that the query names and that have no loaded addresses.',
    scope: 'geocoding:read',
    input: {
      q: z.string().describe('Address, such as Via Roma 5, Campobasso'),
      city: z.string().optional().describe('Search only in this comune, by name or cadastral code'),
      limit: z.int().optional().describe('Maximum number of results, 1–50; default 10'),
    },
    answer: async (asked, { q, city, limit }) => {
      const found = await answerOf(asked, 'searchAddresses', { q, city, limit });
      const comuni = (found['data'] as readonly { municipality_code: string }[]).map(({ municipality_code: code }) => code);
      return { ...found, licenses: await licensesOf(asked, [], [...new Set(comuni)], sectionsOf('core.access_point')) };
    },
  }),
  tool({
    name: 'locate',
    title: 'Locate parcels',
    description: 'Finds cadastral parcels at a point (lat and lng), smallest first, or in a small box (bbox, each side at most 0.05°).',
    scope: 'parcels:read',
    input: {
      lat: latitude.optional(),
      lng: longitude.optional(),
      bbox: z.array(z.number()).length(4).optional().describe('west, south, east, north in degrees'),
      limit: z.int().optional().describe('Maximum number of parcels, 1–200; default 50'),
    },
    answer: async (asked, { lat, lng, bbox, limit }) => {
      const found = await answerOf(asked, 'locateParcels', { lat, lng, bbox, limit });
      const regions = (found['data'] as readonly { fid: number }[]).map(({ fid }) => regionOfFid(fid));
      return { ...found, licenses: await licensesOf(asked, [...new Set(regions)], [], ['basic']) };
    },
  }),
  tool({
    name: 'parcel',
    title: 'Record of a parcel',
    description: 'Returns data on one parcel, in sections. Fields without a value are omitted. coverage distinguishes "no feature here" (mapped) from "no data" (not_mapped, not_loaded). '
      + 'not_applicable: the section does not exist for this kind of parcel (road, water). The resources mappale://dictionary/SECTION describe the fields.',
    scope: 'parcels:read',
    input: {
      id: parcelId,
      sections: z.array(z.enum(SECTION_NAMES)).optional().describe(`Sections to return; basic is always returned; default: ${DEFAULT_SECTIONS.join(', ')}; with detail full: all`),
      detail: z.enum(['compact', 'full']).optional().describe('compact: labels and values as text, lists as tables, no outline; full: the complete record of the API; default: compact'),
    },
    answer: async (asked, { id, sections, detail = 'compact' }) => {
      const include = sections ?? (detail === 'full' ? SECTION_NAMES : DEFAULT_SECTIONS);
      const record = await answerOf(asked, 'getParcel', { include: include.join(',') }, { id: await findParcel(asked.context, String(id)) });
      if (detail === 'compact') return compactRecord(record);
      const { meta, ...blocks } = record;
      const { licenses, ...rest } = meta as Readonly<Record<string, unknown>>;
      return { ...blocks, meta: rest, licenses };
    },
  }),
  tool({
    name: 'explain',
    title: 'Explain a value',
    description: 'Returns the origin of the values in a section of a parcel: file, position in the file, release, rule, overlap or distance. If the section has no values for this kind of parcel, not_applicable has the reason.',
    scope: 'parcels:read',
    input: { id: parcelId, section: z.enum(SECTION_NAMES).describe('Section of the record') },
    answer: async (asked, { id, section }) => {
      const fid = await findParcel(asked.context, String(id));
      return { ...await explain(asked.context, fid, section), licenses: await licensesOf(asked, [regionOfFid(fid)], [], [section]) };
    },
  }),
  tool({
    name: 'coverage',
    title: 'Coverage of a comune',
    description: 'Returns the coverage of a comune by section: mapped, none (mapped, without any feature), partial, not_mapped, not_loaded or not_applicable. Also lists the files that cover the comune.',
    scope: 'admin_data:read',
    input: { comune: z.string().describe('Cadastral code (H501), ISTAT code (058091) or name') },
    answer: async ({ reader }, { comune }) => {
      const { municipality, istat_code, published_at, coverage, files, meta: { licenses } } = await readPassport(reader, comune);
      return { municipality, istat_code, published_at, coverage, files, licenses };
    },
  }),
];

/** First version of the protocol in which answers may have structured content. */
const STRUCTURED_SINCE = '2025-06-18';

/** Argument that requests the answer as text, for clients that do not show structured content to the model. */
const answerAs = z.literal('text').optional().describe('text: returns the answer as text. Use this value if an answer was empty');

/**
 * Creates an MCP server with all tools, for one connection.
 * @param protocol returns the version of the protocol that the client uses, or null if the client names no version
 */
export function mcpServer(asked: Asked, protocol: () => string | null): McpServer {
  const server = new McpServer({ name: 'mappale', version: VERSION }, {
    instructions: 'Data of Italian public bodies for each cadastral parcel. Show the attributions in licenses with the data. '
      + 'Risk data is official data for analysis and screening, without evidentiary value.',
  });
  for (const { name, title, description, input, answer } of TOOLS) {
    // A strict schema rejects unknown arguments instead of ignoring them.
    const inputSchema = z.strictObject({ ...input, answer_as: answerAs });
    const facts = { title, description, inputSchema, annotations: { readOnlyHint: true, openWorldHint: false } };
    server.registerTool(name, facts, async ({ answer_as: form, ...given }) => {
      try {
        const value = await answer(asked, given);
        return form !== 'text' && (protocol() ?? '') >= STRUCTURED_SINCE ? structured(value) : asText(value);
      } catch (error) {
        // Expected errors are returned to the model, which can then correct its request. The protocol reports all other errors.
        if (error instanceof ApiError || error instanceof MappaleError) return { ...asText(error.toJSON()), isError: true };
        throw error;
      }
    });
  }
  for (const { name, uri, title, description } of DICTIONARY) {
    server.registerResource(name, uri, { title, description, mimeType: 'application/json' }, () => ({
      contents: [{ uri, mimeType: 'application/json', text: JSON.stringify(dictionaryOf(name)) }],
    }));
  }
  // The lists of tools and resources never change.
  server.server.registerCapabilities({ tools: { listChanged: false }, resources: { listChanged: false } });
  return server;
}

function asText(value: Readonly<Record<string, unknown>>): CallToolResult {
  return { content: [{ type: 'text', text: JSON.stringify(value) }] };
}

/** Returns the answer only as structured content. The text content has no copy of the values, because the model would have to read all values twice. */
function structured(value: Readonly<Record<string, unknown>>): CallToolResult {
  return { content: [{ type: 'text', text: 'The answer is in structuredContent. If structuredContent is not shown, call again with answer_as: text.' }], structuredContent: { ...value } };
}
