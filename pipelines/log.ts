/** Prints messages to stderr while the program works, as plain text or as JSON lines. Results go to stdout. */
import { CLOCK } from './clock.ts';
import type { Config } from './config.ts';
import { asInstalled } from './typed.ts';

export interface Log {
  /** Id of the run, which every JSON line contains; null outside a run. */
  runId: number | null;
  /**
   * Prints a detail, such as the time of one table. Details are printed only at the log level `debug`, which `--verbose` sets and which is the default for
   * JSON.
   */
  debug(message: string, facts?: Record<string, unknown>): void;
  /** Prints the start or end of a long step. */
  info(message: string, facts?: Record<string, unknown>): void;
  /** Prints a warning that requires an action of the user. */
  warn(message: string, facts?: Record<string, unknown>): void;
  /** Replaces the last line of a terminal. Prints nothing if the output is not a terminal or is JSON, or if the log level is `warn`. */
  progress(message: string): void;
}

const LEVELS = ['debug', 'info', 'warn'] as const;

type Level = (typeof LEVELS)[number];

export function makeLog(config: Pick<Config, 'log' | 'logLevel' | 'noColor'>, stream: NodeJS.WriteStream): Log {
  const isShown = (level: Level): boolean => LEVELS.indexOf(level) >= LEVELS.indexOf(config.logLevel);
  const terminal = stream.isTTY && config.log === 'human' && isShown('info');
  let open = false;
  const clear = (): void => {
    if (open) stream.write('\r\u001b[2K');
    open = false;
  };
  const write = (level: Level, message: string, facts: Record<string, unknown>): void => {
    if (!isShown(level)) return;
    clear();
    if (config.log === 'json') {
      stream.write(`${JSON.stringify({ time: new Date(CLOCK.now()).toISOString(), level, run: log.runId, message, ...facts })}\n`);
      return;
    }
    const prefix = level === 'warn' ? (terminal && !config.noColor ? '\u001b[33mwarning:\u001b[0m ' : 'warning: ') : '';
    stream.write(`${prefix}${asInstalled(message)}\n`);
  };
  const log: Log = {
    runId: null,
    debug: (message, facts = {}) => write('debug', message, facts),
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

/** A log that prints nothing, for tests. */
export const SILENT: Log = { runId: null, debug() {}, info() {}, warn() {}, progress() {} };
