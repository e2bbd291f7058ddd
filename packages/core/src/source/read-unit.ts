import { parseInThread } from '../parse/parse-in-thread.ts';
import { parseDocuments, resourcesOfUnit, unreadableUnit } from '../parse/parse.ts';
import { MAX_FILE_BYTES, tooLarge } from '../parse/source-text.ts';
import { unreadable } from './listing.ts';
import { readFileOrPipe, readRegularFile, UnusableFile } from './read-file.ts';
import type { Source, WrittenResource } from './source.ts';

/** Size in bytes from which starting a thread is a small part of parsing a file. */
const LARGE_BYTES = 2 * 1024 * 1024;
/** Size in bytes from which parsing a file would hold up requests for longer than starting a thread. */
export const SLOW_BYTES = 256 * 1024;

/** Reads and parses one file, from some size in a thread. A file above the limit is rejected unread. */
export async function readUnit(
  path: string,
  maxFileBytes: number,
  threadBytes: number = LARGE_BYTES,
): Promise<readonly WrittenResource[]> {
  try {
    const bytes = readRegularFile(path, maxFileBytes);
    if (bytes.length < threadBytes) return parseDocuments(bytes, path, { maxFileBytes });
    return resourcesOfUnit(await parseInThread(bytes, path, maxFileBytes));
  } catch (error) {
    return rejected(path, maxFileBytes, error);
  }
}

/** Reads and parses a file or a pipe. */
export async function readUnitOrPipe(path: string, maxFileBytes: number): Promise<readonly WrittenResource[]> {
  try {
    return parseDocuments(await readFileOrPipe(path, maxFileBytes), path, { maxFileBytes });
  } catch (error) {
    return rejected(path, maxFileBytes, error);
  }
}

function rejected(path: string, maxFileBytes: number, error: unknown): readonly WrittenResource[] {
  const size = error instanceof UnusableFile ? error.size : undefined;
  return [unreadableUnit(path, size === undefined ? unreadable(error) : tooLarge(size, maxFileBytes))];
}

/**
 * Returns a source that reads one file with any name, once, because a pipe can be read only once. An unreadable file is one issue.
 *
 * @example
 * const { issues } = await loadSource(fileSource('/dev/stdin'));
 */
export function fileSource(path: string): Source {
  return {
    name: `file ${path}`,
    start: async (onChange) => onChange(new Map([[path, await readUnitOrPipe(path, MAX_FILE_BYTES)]])),
    close: async () => {},
  };
}
