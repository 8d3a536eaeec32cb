/**
 * Lists the commands by name, in the order of `--help`. The module of a command is imported only if the command or `completion` runs, because most of these
 * modules import large parts of the program.
 */
import type { Command } from 'commander';

interface Entry {
  /** Description on one line, for `--help`. */
  readonly purpose: string;
  readonly load: () => Promise<Command>;
}

export const COMMANDS: Readonly<Record<string, Entry>> = {
  fetch: {
    purpose: 'Download the files that need no account, and print where to get the others. Needs no database.',
    load: async () => (await import('./fetch.ts')).fetchCommand(),
  },
  'load-region': {
    purpose: 'Load one region from its raw files and publish it. Without arguments, load the synthetic demo region.',
    load: async () => (await import('./load-region.ts')).loadRegionCommand(),
  },
  plan: {
    purpose: 'Print the steps that a refresh would take, with reasons. Writes nothing.',
    load: async () => (await import('./plan.ts')).planCommand(),
  },
  status: {
    purpose: 'Show the publications, their releases, and the result of the last runs.',
    load: async () => (await import('./status.ts')).statusCommand(),
  },
  sources: {
    purpose: 'List the sources: publisher, licence, download address, update cadence.',
    load: async () => (await import('./sources.ts')).sourcesCommand(),
  },
  parcel: {
    purpose: 'Print the record of a parcel, as the server returns it.',
    load: async () => (await import('./parcel.ts')).parcelCommand(),
  },
  report: {
    purpose: 'Write an HTML report on the content and quality of a region or comune.',
    load: async () => (await import('./quality-report.ts')).reportCommand(),
  },
  dossier: {
    purpose: 'Write a page (HTML or PDF) on a parcel with map, values, units, sources, dates and neighbours.',
    load: async () => (await import('./dossier.ts')).dossierCommand(),
  },
  findings: {
    purpose: 'Count or list possible errors in the addresses of a comune: outside the comune, same point, out of order, moved, missing.',
    load: async () => (await import('./findings.ts')).findingsCommand(),
  },
  enrich: {
    purpose: 'Add parcel data to each row of a CSV, by coordinates, address, fid or cadastral reference.',
    load: async () => (await import('./enrich.ts')).enrichCommand(),
  },
  export: {
    purpose: 'Write the parcels of a region to a file, with a STAC item and the licences.',
    load: async () => (await import('./export.ts')).exportCommand(),
  },
  catalog: {
    purpose: 'Describe the exports in a folder as DCAT-AP_IT and STAC. Needs no database.',
    load: async () => (await import('./catalog.ts')).catalogCommand(),
  },
  changes: {
    purpose: 'Write the parcels that publications have added, removed or changed since a given day, with their new values.',
    load: async () => (await import('./changes.ts')).changesCommand(),
  },
  serve: {
    purpose: 'Serve the REST API (/api/v2), its documentation (/api/v2/docs) and the map (/api/v2/map).',
    load: async () => (await import('./serve.ts')).serveCommand(),
  },
  mcp: {
    purpose: 'Serve language models over the Model Context Protocol: search, locate, parcel, explain, coverage.',
    load: async () => (await import('./mcp.ts')).mcpCommand(),
  },
  token: {
    purpose: 'Manage API tokens: create, list, revoke.',
    load: async () => (await import('./token.ts')).tokenCommand(),
  },
  doctor: {
    purpose: 'Check that this machine and database are ready, and explain how to fix what is not.',
    load: async () => (await import('./doctor.ts')).doctorCommand(),
  },
  synth: {
    purpose: 'Write the files of a synthetic region in the publishers\' formats, including known deviations.',
    load: async () => (await import('./synth.ts')).synthCommand(),
  },
  migrate: {
    purpose: 'Upgrade the database to this version of the program and keep its rows. If rows cannot be kept, list the rows and exit with code 2, unless --yes is given.',
    load: async () => (await import('./migrate.ts')).migrateCommand(),
  },
  prune: {
    purpose: 'Delete what is no longer needed: old publications, unused releases, abandoned workspaces, and history older than --keep.',
    load: async () => (await import('./publications.ts')).pruneCommand(),
  },
  refresh: {
    purpose: 'Update all regions: find new files, rebuild and check stale tables, and publish each region.',
    load: async () => (await import('./refresh.ts')).refreshCommand(),
  },
  watch: {
    purpose: 'Every night, check for new releases that are due, refresh the affected regions, and print a one-line summary.',
    load: async () => (await import('./watch.ts')).watchCommand(),
  },
  rejects: {
    purpose: 'List rejected records, with reason, position and content. With --retry, apply the current rules to these records again.',
    load: async () => (await import('./rejects.ts')).rejectsCommand(),
  },
  rollback: {
    purpose: 'Restore the previous publication of a region in one transaction. Another rollback restores the newer publication. A refresh keeps the restored publication until the region\'s files change.',
    load: async () => (await import('./publications.ts')).rollbackCommand(),
  },
  forget: {
    purpose: 'Stop using a loaded file. The file that it superseded becomes current again, if the result passes the quality gate. A file that you only remove from the data folder remains current.',
    load: async () => (await import('./publications.ts')).forgetCommand(),
  },
  pin: {
    purpose: 'Keep a region unchanged until you unpin it. A refresh skips the region.',
    load: async () => (await import('./publications.ts')).pinCommand(),
  },
  unpin: {
    purpose: 'Allow a refresh to publish a pinned, withdrawn or rolled-back region again.',
    load: async () => (await import('./publications.ts')).unpinCommand(),
  },
  withdraw: {
    purpose: 'Unpublish a region. The files of the region remain loaded. To publish the region again, run rollback, or run unpin and then refresh.',
    load: async () => (await import('./publications.ts')).withdrawCommand(),
  },
  validate: {
    purpose: 'Check that files match the expected schema. Needs no database. Exits with 0 or 3.',
    load: async () => (await import('./validate.ts')).validateCommand(),
  },
  diff: {
    purpose: 'Compare the current publication of a region with the previous one: parcels and values, by comune.',
    load: async () => (await import('./diff.ts')).diffCommand(),
  },
  explain: {
    purpose: 'Trace the values in a section of a parcel to their file, line, release and rule, with the overlap or distance.',
    load: async () => (await import('./parcel.ts')).explainCommand(),
  },
  history: {
    purpose: 'Print the published history of a parcel: each changed value, with its publication and releases.',
    load: async () => (await import('./history.ts')).historyCommand(),
  },
  lineage: {
    purpose: 'Print the parents and children of a parcel, by publication, with shares of area.',
    load: async () => (await import('./lineage.ts')).lineageCommand(),
  },
  completion: {
    purpose: 'Print a script that completes commands, options, regions, sources and sections in bash, zsh or fish.',
    load: async () => (await import('./completion.ts')).completionCommand(loadCommands),
  },
};

/** Imports every command. */
function loadCommands(): Promise<Command[]> {
  return Promise.all(Object.values(COMMANDS).map(async ({ purpose, load }) => (await load()).description(purpose)));
}
