/**
 * Prints type errors and style violations. Each line begins with the kind of problem. `npm run typecheck` and `npm run lint` find the same problems, but each
 * of these commands parses and type-checks all files. This script parses and type-checks the files only once.
 */
import { fileURLToPath } from 'node:url';
import { ESLint } from 'eslint';
import ts from 'typescript';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const host: ts.ParseConfigFileHost = {
  ...ts.sys,
  onUnRecoverableConfigFileDiagnostic: (diagnostic) => {
    throw new Error(ts.flattenDiagnosticMessageText(diagnostic.messageText, '\n'));
  },
};
const config = ts.getParsedCommandLineOfConfigFile(`${ROOT}tsconfig.json`, undefined, host);
if (config === undefined) throw new Error('expected tsconfig.json, found none');
// Sets the parent of each node, because the linter needs the parents.
const program = ts.createProgram({ rootNames: config.fileNames, options: config.options, host: ts.createCompilerHost(config.options, true) });
/** Prints a line and sets the exit code to 1. */
function report(line: string): void {
  console.log(line);
  process.exitCode = 1;
}

for (const diagnostic of [...config.errors, ...ts.getPreEmitDiagnostics(program)]) {
  const [line = ''] = ts.formatDiagnostic(diagnostic, { getCanonicalFileName: (name) => name, getCurrentDirectory: () => ROOT, getNewLine: () => '\n' }).split('\n');
  report(`types: ${line}`);
}

const eslint = new ESLint({ cwd: ROOT, overrideConfig: { files: ['**/*.ts'], languageOptions: { parserOptions: { projectService: false, programs: [program] } } } });
for (const { filePath, messages } of await eslint.lintFiles((config.raw as { include: string[] }).include)) {
  for (const { line, column, message, ruleId } of messages) report(`style: ${filePath}:${line}:${column} ${message} (${ruleId})`);
}
