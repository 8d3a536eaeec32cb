/** Adds the command that downloads the files of a source again to errors about these files. */
import type { MappaleError } from '../errors.ts';

/** Matches the codes of errors that end when the file is downloaded again. */
const REPLACEABLE = /^(?:VINTAGE_MISSING|(?!RESPONSE_)[A-Z]+_TRUNCATED)$/;

/** Returns the command that downloads the files of a source again. */
export function downloadAgain(source: string): string {
  return `npx mappale fetch REGION --sources ${source}`;
}

/** Adds the command to an error about a file of the source, if the file must be downloaded again. Returns other errors unchanged. */
export function withDownload(error: MappaleError, source: string): MappaleError {
  return error.fix === undefined && REPLACEABLE.test(error.code) ? error.knowing({ source, fix: downloadAgain(source) }) : error;
}
