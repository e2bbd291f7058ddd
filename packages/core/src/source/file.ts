import { MAX_FILE_BYTES } from '../parse/source-text.ts';
import { readUnitOrPipe } from './read-unit.ts';
import type { Source } from './source.ts';

/** Reads one file, whatever its name, once: a pipe can be read only once. A file that cannot be read is one issue. */
export function fileSource(path: string): Source {
  return {
    name: `file ${path}`,
    start: async (onChange) => onChange(new Map([[path, await readUnitOrPipe(path, MAX_FILE_BYTES)]])),
    close: async () => {},
  };
}
