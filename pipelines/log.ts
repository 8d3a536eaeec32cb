/** What the program says while it works: on stderr, as lines for people or as JSON for machines. Results go to stdout. */
import { CLOCK } from './clock.ts';
import type { Config } from './config.ts';

export interface Log {
  /** Put on every JSON line, so that one run's lines can be found; null outside a run. */
  runId: number | null;
  /** A step or a fact. */
  info(message: string, facts?: Record<string, unknown>): void;
  warn(message: string, facts?: Record<string, unknown>): void;
  /** A line that replaces itself on a terminal; silent elsewhere. */
  progress(message: string): void;
}

export function makeLog(config: Pick<Config, 'log' | 'noColor'>, stream: NodeJS.WriteStream): Log {
  const terminal = stream.isTTY && config.log === 'human';
  let open = false;
  const clear = (): void => {
    if (open) stream.write('\r\u001b[2K');
    open = false;
  };
  const write = (level: 'info' | 'warn', message: string, facts: Record<string, unknown>): void => {
    clear();
    if (config.log === 'json') {
      stream.write(`${JSON.stringify({ time: new Date(CLOCK.now()).toISOString(), level, run: log.runId, message, ...facts })}\n`);
      return;
    }
    const prefix = level === 'warn' ? (terminal && !config.noColor ? '\u001b[33mwarning:\u001b[0m ' : 'warning: ') : '';
    stream.write(`${prefix}${message}\n`);
  };
  const log: Log = {
    runId: null,
    info: (message, facts = {}) => write('info', message, facts),
    warn: (message, facts = {}) => write('warn', message, facts),
    progress(message) {
      if (!terminal) return;
      clear();
      stream.write(message.slice(0, stream.columns - 1));
      open = true;
    },
  };
  return log;
}

/** A log that says nothing; for tests. */
export const SILENT: Log = { runId: null, info() {}, warn() {}, progress() {} };
