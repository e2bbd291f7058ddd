// The code of a thread that parses one unit, for `parseInThread`.
import { parentPort, workerData } from 'node:worker_threads';
import { parseUnit, withPlaces, type ParsedUnit } from './parse.ts';

/** What a thread parses. */
export interface ParseJob {
  readonly bytes: Uint8Array;
  readonly unit: string;
  readonly maxFileBytes: number;
}

/** As JSON, which is read several times faster than a structured clone, unless a value is not representable in it. */
export type ParseMessage = string | ParsedUnit;

const { bytes, unit, maxFileBytes } = workerData as ParseJob;
const parsed = withPlaces(parseUnit(bytes, unit, { maxFileBytes }));
const isJson = parsed.documents.every(({ value }) => isRepresentable(value));
const message: ParseMessage = isJson ? JSON.stringify(parsed) : parsed;
// oxlint-disable-next-line require-post-message-target-origin
parentPort!.postMessage(message);

/** Returns true for a value that is the same after conversion to JSON and back. YAML has other numbers, such as `.inf`. */
function isRepresentable(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value) && !Object.is(value, -0);
  if (typeof value !== 'object') return typeof value !== 'bigint';
  return value === null || Object.values(value).every(isRepresentable);
}
