import { randomUUID } from 'node:crypto';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Store, type SessionData } from 'express-session';

/** A session store in files, as a program may have one: processes share it, and it has no atomic operations besides those of a `Store`. */
export function createFileStore(directory: string): Store {
  const fileOf = (id: string): string => join(directory, encodeURIComponent(id));
  return new (class FileStore extends Store {
    get(id: string, done: (error: unknown, data?: SessionData | null) => void): void {
      readFile(fileOf(id), 'utf8').then(
        (text) => done(undefined, JSON.parse(text) as SessionData),
        (error: NodeJS.ErrnoException) => done(error.code === 'ENOENT' ? undefined : error, null),
      );
    }

    set(id: string, data: SessionData, done: (error?: unknown) => void = () => {}): void {
      const temporary = join(directory, `.${randomUUID()}`);
      const write = async (): Promise<void> => {
        await writeFile(temporary, JSON.stringify(data));
        await rename(temporary, fileOf(id));
      };
      write().then(() => done(), done);
    }

    destroy(id: string, done: (error?: unknown) => void = () => {}): void {
      rm(fileOf(id), { force: true }).then(() => done(), done);
    }
  })();
}
