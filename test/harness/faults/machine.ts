/** Runs the command line as a child process that a test can kill. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { childEnvironment } from '../environment.ts';
import { PROGRAM } from '../program.ts';

/**
 * Options of Node that compile WebAssembly once, without optimisation. A run on a small embedded database then takes less CPU time, because optimisation takes
 * most of the CPU time otherwise.
 */
const COMPILED_ONCE = ['--no-wasm-tier-up', '--no-wasm-dynamic-tiering'];

export interface Ended {
  /** Null if the process was killed. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Child process that runs the program. */
export class Machine {
  readonly #child: ChildProcess;
  readonly ended: Promise<Ended>;
  #stdout = '';
  #stderr = '';
  #lines = 0;
  #wake: () => void = () => undefined;
  #over = false;

  /** @param url URL of the database @param args arguments of the command line */
  constructor(url: string, args: readonly string[]) {
    this.#child = spawn(process.execPath, [...COMPILED_ONCE, PROGRAM, ...args], { env: childEnvironment({ DATABASE_URL: url, MAPPALE_LOG: 'json' }), stdio: ['ignore', 'pipe', 'pipe'] });
    this.#child.stdout!.setEncoding('utf8').on('data', (text: string) => (this.#stdout += text));
    this.#child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr += text;
      this.#lines += text.split('\n').length - 1;
      this.#wake();
    });
    this.ended = once(this.#child, 'close').then(([code]) => {
      this.#over = true;
      this.#wake();
      return { code: code as number | null, stdout: this.#stdout, stderr: this.#stderr };
    });
  }

  get pid(): number {
    return this.#child.pid!;
  }

  get over(): boolean {
    return this.#over;
  }

  /** Waits until the run has printed the given number of lines to standard error, or has ended. */
  async said(lines: number): Promise<void> {
    while (!this.#over && this.#lines < lines) await new Promise<void>((resolve) => (this.#wake = resolve));
  }

  /** Waits until the run has printed a text to standard error, or has ended. */
  async printed(text: string): Promise<void> {
    while (!this.#over && !this.#stderr.includes(text)) await new Promise<void>((resolve) => (this.#wake = resolve));
  }

  /** Sends SIGKILL, so that no handler and no `finally` block runs. */
  async kill(): Promise<Ended> {
    this.#child.kill('SIGKILL');
    return this.ended;
  }
}

/** Returns the standard output and the standard error of a run as one text. */
export function outcomeOf(ended: Ended): string {
  return `${ended.stdout}\n${ended.stderr}`;
}

/** @throws Error with the output of the run if the exit code is not 0 */
export function succeeded(ended: Ended): void {
  if (ended.code !== 0) throw new Error(`expected exit 0, found ${ended.code}:\n${outcomeOf(ended).slice(-3000)}`);
}

/** Runs the command until it exits. */
export function mappale(url: string, ...args: readonly string[]): Promise<Ended> {
  return new Machine(url, args).ended;
}

export async function scratch(name: string): Promise<{ folder: string; remove(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), `mappale-${name}-`));
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
}
