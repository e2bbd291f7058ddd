import { dirname } from 'node:path';

/** The delivered files of a directory, and the folders that contain them. */
export class KnownFiles {
  readonly #stamps = new Map<string, string>();
  /** Number of files and folders with files in each folder. */
  readonly #folders = new Map<string, number>();

  /** Paths with their stamps. */
  get stamps(): ReadonlyMap<string, string> {
    return this.#stamps;
  }

  get(path: string): string | undefined {
    return this.#stamps.get(path);
  }

  has(path: string): boolean {
    return this.#stamps.has(path);
  }

  /** Returns true for a folder that contains files, at any depth. */
  isFolder(path: string): boolean {
    return this.#folders.has(path);
  }

  set(path: string, stamp: string): void {
    if (!this.#stamps.has(path)) this.#enter(path);
    this.#stamps.set(path, stamp);
  }

  delete(path: string): void {
    if (this.#stamps.delete(path)) this.#leave(path);
  }

  /** Replaces all files. */
  replace(stamps: ReadonlyMap<string, string>): void {
    this.#stamps.clear();
    this.#folders.clear();
    for (const [path, stamp] of stamps) this.set(path, stamp);
  }

  #enter(path: string): void {
    const folder = dirname(path);
    if (folder === path) return;
    const entries = this.#folders.get(folder) ?? 0;
    this.#folders.set(folder, entries + 1);
    if (entries === 0) this.#enter(folder);
  }

  #leave(path: string): void {
    const folder = dirname(path);
    if (folder === path) return;
    const entries = this.#folders.get(folder)! - 1;
    if (entries > 0) this.#folders.set(folder, entries);
    else {
      this.#folders.delete(folder);
      this.#leave(folder);
    }
  }
}
