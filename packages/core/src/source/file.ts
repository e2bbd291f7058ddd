import { MAX_FILE_BYTES } from '../parse/source-text.ts';
import { readUnitOrPipe } from './read-unit.ts';
import type { Source } from './source.ts';

/** Reads one file with any name, once: a pipe can be read only once. An unreadable file is one issue. */
export function fileSource(path: string): Source {
  return {
    name: `file ${path}`,
    start: async (onChange) => onChange(new Map([[path, await readUnitOrPipe(path, MAX_FILE_BYTES)]])),
    close: async () => {},
  };
}
