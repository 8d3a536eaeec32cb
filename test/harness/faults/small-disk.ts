/** Mounts a file system in memory whose free space the test sets. Needs root. */
import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Size of the file system in KiB, which is more than any test writes. */
const PLENTY = 512 * 1024;

export class SmallDisk {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  /** Mounts a small disk on a folder. @returns the disk, or the reason as text if this machine does not allow the mount */
  static async mount(folder: string): Promise<SmallDisk | string> {
    await mkdir(folder, { recursive: true });
    try {
      await run('mount', ['-t', 'tmpfs', '-o', `size=${PLENTY}k,mode=1777`, 'tmpfs', folder]);
    } catch (error) {
      return (error as Error).message.trim().split('\n').at(-1)!;
    }
    return new SmallDisk(folder);
  }

  /** Resizes the file system so that the given number of KiB is free. Tries again if a process writes in the meantime. */
  async shrink(spareKib: number): Promise<void> {
    for (;;) {
      const usedKib = await this.#usedKib();
      try {
        await this.#resize(usedKib + spareKib);
        return;
      } catch (error) {
        if (await this.#usedKib() === usedKib) throw error;
      }
    }
  }

  async #usedKib(): Promise<number> {
    const { stdout } = await run('df', ['--output=used', '-k', this.folder]);
    return Number(stdout.split('\n')[1]);
  }

  async grow(): Promise<void> {
    await this.#resize(PLENTY);
  }

  async #resize(kib: number): Promise<void> {
    await run('mount', ['-o', `remount,size=${kib}k`, this.folder]);
  }

  async unmount(): Promise<void> {
    await run('umount', ['-l', this.folder]).catch(() => undefined);
  }
}
