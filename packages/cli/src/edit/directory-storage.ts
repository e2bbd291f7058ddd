import { readFileSync, rmSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { cliError, fileError } from '../error-codes.ts';
import type { Io } from '../io.ts';
import { loadWritten, readWritten } from '../resources/load.ts';
import { withLock } from './lock.ts';
import { PRIVATE, replaceFile } from './replace-file.ts';
import type { ChangedUnit, ResourceStorage } from './resource-storage.ts';

/** Stores resources in the files of a directory. */
export function directoryStorage(io: Io, directory: string): ResourceStorage {
  const shown = (path: string): string => {
    const from = relative(io.cwd, path);
    return from.startsWith('..') ? path : from;
  };
  const textOf = (path: string): string | undefined => readIfPresent(path, shown(path));

  /** Writes a file, unless another program has changed it in the meantime. */
  function writeOne({ unit: path, text, before, isOwn }: ChangedUnit): void {
    const name = shown(path);
    if (textOf(path) !== before) throw cliError('ERR_CLI_LOCKED', `${name} was changed by another program; try again`);
    if (text !== undefined) replaceFile(path, text, { shown: name, ...(isOwn && { mode: PRIVATE }) });
    else rmSync(path);
  }

  return {
    tolerance: {},
    read: () => readWritten(io, directory),
    translate: (written) => loadWritten(io, directory, written),
    textOf,
    sourceKeyOf: (key) => resolve(io.cwd, join(directory, `${key.replaceAll('/', '-').toLowerCase()}.yaml`)),
    shown,
    placeOf: (path) => join(directory, relative(resolve(io.cwd, directory), path)),
    async write(changed) {
      for (const one of changed) writeOne(one);
    },
    exclusively: (work) => withLock(io, directory, work),
  };
}

function readIfPresent(path: string, shown: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw fileError(shown, error);
  }
}
