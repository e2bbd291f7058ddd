import { readFileSync, statSync } from 'node:fs';
import { parseDocuments, unreadableUnit } from '../parse/parse.ts';
import { tooLarge } from '../parse/source-text.ts';
import { unreadable } from './listing.ts';
import type { WrittenResource } from './source.ts';

/** Reads and parses one file; a file above the limit is refused by its size, unread. */
export function readUnit(path: string, maxFileBytes: number): readonly WrittenResource[] {
  try {
    const { size } = statSync(path);
    if (size > maxFileBytes) return [unreadableUnit(path, tooLarge(size, maxFileBytes))];
    return parseDocuments(readFileSync(path), path, { maxFileBytes });
  } catch (error) {
    return [unreadableUnit(path, unreadable(error))];
  }
}
