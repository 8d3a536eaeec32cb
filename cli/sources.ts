import type { Command } from 'commander';
import { evidenceLine, evidenceOf } from '../pipelines/contract/evidence.ts';
import { chooseSources, loadSources } from '../pipelines/contract/registry.ts';
import { tableOf } from '../pipelines/contract/sql-files.ts';
import { textTable } from '../pipelines/text-table.ts';
import { command, print } from './command.ts';

export function sourcesCommand(): Command {
  return command('sources', ['mappale sources', 'mappale sources --json'])
    .argument('[source]', 'print one source, with its complete manifest and the evidence for its format')
    .option('--json', 'print the manifests as JSON')
    .action(async (id: string | undefined, options: { json?: boolean }) => {
      const sources = chooseSources(await loadSources(), id === undefined ? null : [id.toLowerCase()]);
      const manifests = sources.map(({ manifest, layer }) => ({
        ...manifest, evidence: evidenceLine(evidenceOf(manifest.id)), makes: layer.writes.map(tableOf),
      }));
      print(options.json === true || id !== undefined, id === undefined ? manifests : manifests[0] ?? null, () => textTable(
        manifests.map((manifest) => [manifest.id, manifest.attribution.holder, manifest.attribution.license, manifest.cadence, manifest.makes.join(', ')]),
        ['source', 'holder', 'licence', 'cadence', 'layers'],
      ));
    });
}
