/** Recognises and reads one file with one source, as the program does, and checks the number of records. Golden files contain the results. */
import { statSync } from 'node:fs';
import { MappaleError } from '../../pipelines/errors.ts';
import type { Recognition, Source } from '../../pipelines/contract/source.ts';
import type { RegisteredSource } from '../../pipelines/contract/registry.ts';
import { recognise } from '../../pipelines/ingest/locate.ts';
import { collect, type Collected } from './collect.ts';

export interface Trial {
  readonly recognition: Recognition | null;
  /** Null if the file was not recognised or is ignored, or if the reader stopped with an error. */
  readonly collected: Collected | null;
  readonly error: MappaleError | null;
}

/**
 * Recognises and reads one file. Returns an input error as part of the trial.
 * @throws Error if the number of records of a member is not the total of its rows, rejects and duplicates; any error of the reader except an input error
 */
export async function trial(source: Source, path: string): Promise<Trial> {
  let recognition: Recognition | null = null;
  try {
    // `recognise` needs only `id` in addition to the properties of a `Source`.
    const registered = { ...source, id: source.manifest.id } as RegisteredSource;
    recognition = (await recognise({ path, size: statSync(path).size }, [registered]))?.recognition ?? null;
    if (recognition === null || recognition.ignored !== undefined) return { recognition, collected: null, error: null };
    const { role, vintage, region } = recognition;
    const collected = await collect(source, path, { role, vintage, region });
    for (const member of collected.members) {
      const sum = member.rows + member.rejects.length + member.duplicates.length;
      if (member.records !== sum) throw new Error(`${path}!${member.path}: ${member.records} records, but rows + rejects + duplicates = ${sum}`);
    }
    return { recognition, collected, error: null };
  } catch (error) {
    if (!(error instanceof MappaleError) || error.kind !== 'input') throw error;
    return { recognition, collected: null, error };
  }
}

/** Returns a trial as JSON in the form of golden files, with geometries as hex EWKB. */
export function goldenOf({ recognition, collected, error }: Trial): unknown {
  const plain = (_: string, value: unknown): unknown =>
    typeof value === 'object' && value !== null && 'type' in value && value.type === 'Buffer' && 'data' in value ? Buffer.from(value.data as number[]).toString('hex') : value;
  return JSON.parse(
    JSON.stringify(
      {
        recognition,
        ...(error === null ? {} : { error: { code: error.code, at: error.at, detail: error.detail } }),
        ...(collected === null
          ? {}
          : {
              members: collected.members.map(({ path, records, rejects, duplicates, added }) => ({
                path,
                records,
                rejects: rejects.map(({ position, code, message }) => ({ position, code, message })),
                duplicates,
                ...(added.size === 0 ? {} : { added: Object.fromEntries(added) }),
              })),
              rows: collected.rows,
            }),
      },
      plain,
    ),
  );
}
