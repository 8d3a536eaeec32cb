/**
 * Prints the failures of each file when the file ends, so that they are known even if the run is stopped. At the end of the run, prints the slowest files, all
 * failed and skipped tests by name, and a last line with the number of passed, failed and skipped tests.
 */
import type { Reporter, SerializedError, TestCase, TestModule, TestSuite, Vitest } from 'vitest/node';

const SLOWEST = 15;

export default class Summary implements Reporter {
  #vitest: Vitest | undefined;

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
  }

  onTestModuleEnd(module: TestModule): void {
    for (const line of failuresOf(module)) this.#vitest?.logger.log(line);
  }

  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    const count = { passed: 0, failed: unhandled.length, skipped: 0 };
    const skipped = new Map<string, number>();
    for (const module of modules) {
      let failed = 0;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state === 'passed') count.passed += 1;
        else if (state === 'failed') failed += 1;
        else {
          count.skipped += 1;
          const name = `${module.relativeModuleId} > ${skippedName(test)}`;
          skipped.set(name, (skipped.get(name) ?? 0) + 1);
        }
      }
      // A file that does not load and a hook that fails are counted as failures, in addition to the tests that did not run.
      for (const suite of [module, ...module.children.allSuites()]) if (suite.errors().length > 0) failed += 1;
      count.failed += failed === 0 && module.state() === 'failed' ? 1 : failed;
    }
    const log = (line: string): void => this.#vitest?.logger.log(line);
    const seconds = (module: TestModule): number => Math.round(module.diagnostic().duration / 1000);
    const slowest = [...modules].sort((a, b) => seconds(b) - seconds(a)).slice(0, SLOWEST).filter((module) => seconds(module) > 0);
    if (modules.length > SLOWEST) log(`slowest: ${slowest.map((module) => `${module.relativeModuleId.replace(/^test\/|\.test\.ts$/g, '')} ${seconds(module)} s`).join(', ')}`);
    for (const line of modules.flatMap(failuresOf)) log(line);
    for (const [name, tests] of skipped) log(`not run: ${name}${tests > 1 ? ` (${tests} tests)` : ''}`);
    log(`${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped`);
  }
}

/** Returns a line for each error of a file and its hooks, and a line for each failed test. */
function failuresOf(module: TestModule): string[] {
  return [
    ...[module, ...module.children.allSuites()].flatMap((each) => each.errors().map((error) => `failed: ${nameOf(module, each)}: ${lineOf(error)}`)),
    ...[...module.children.allTests('failed')].map((test) => `failed: ${nameOf(module, test)}: ${lineOf(test.result().errors?.[0])}`),
  ];
}

/** Returns the name of the outermost suite that was skipped as a whole, or else the name of the test. */
function skippedName(test: TestCase): string {
  let found: TestCase | TestSuite = test;
  for (let parent = test.parent; parent.type === 'suite'; parent = parent.parent) {
    if (parent.state() === 'skipped') found = parent;
  }
  return found.fullName;
}

function nameOf(module: TestModule, each: TestModule | TestSuite | TestCase): string {
  return each.type === 'module' ? module.relativeModuleId : `${module.relativeModuleId} > ${each.fullName}`;
}

/** Returns the first line of an error's message, and where an error of the program happened. */
function lineOf(error: SerializedError | undefined): string {
  const line = (error?.message ?? '').split('\n', 1)[0]!.slice(0, 300);
  const at: unknown = error?.['at'];
  return typeof at === 'string' ? `${line} (at ${at.replaceAll('\n', ', ').slice(0, 300)})` : line;
}
