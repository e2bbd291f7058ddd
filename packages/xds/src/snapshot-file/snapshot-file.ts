import { createHash, createHmac, createSecretKey, hash } from 'node:crypto';
import {
  createYielder,
  deriveKey,
  GatewayError,
  readKeyFile,
  readStateFile,
  replaceFile,
  seal,
  unseal,
  writeAll,
} from '@edge-gateway/core';
import { xdsError } from '../error-codes.ts';
import type { SavedResource } from '../resources/resource-set.ts';
import { TYPE } from '../resources/resource-type.ts';

/** Format version; incremented with each incompatible change. */
const FORMAT = 2;
const MAGIC = 'edge-gateway snapshot';
const MAX_BYTES = 512 * 1024 * 1024;
const PURPOSE = 'xds snapshot file';
/** Resources that are written at once. */
const BATCH = 100;
/** Longest time without yielding to the requests that the same process serves, in milliseconds. */
const SLICE_MS = 4;

/** A state in a file. */
export interface SavedState {
  /** When it was accepted, in milliseconds since the epoch. */
  readonly acceptedAt: number;
  readonly resources: readonly SavedResource[];
  /** Whether the resources include the secrets: all of them, none because none were saved, or none because there is no key to decrypt them. */
  readonly secrets: 'included' | 'omitted' | 'locked';
}

/** A resource in the file. */
type Row = readonly [type: string, name: string, version: string, content: string];

interface Content {
  readonly acceptedAt: number;
  readonly resources: readonly Row[];
  /** The secrets as sealed rows; missing if they are omitted. */
  readonly sealed?: string;
}

/** Reads the key that encrypts secrets and authenticates the file. Throws `ERR_XDS_SNAPSHOT_FILE` if it is unreadable or too short. */
export function readSnapshotKey(path: string): Uint8Array {
  try {
    return deriveKey(readKeyFile(path), PURPOSE);
  } catch (cause) {
    if (!(cause instanceof GatewayError)) throw cause;
    throw xdsError('ERR_XDS_SNAPSHOT_FILE', cause.message, { cause });
  }
}

/**
 * Writes a state into a file, which is replaced atomically; only its owner can read it. Without a key, secrets are omitted. Yields to other work: a state
 * may have many megabytes.
 */
export async function writeSnapshotFile(
  path: string,
  state: Omit<SavedState, 'secrets'>,
  key?: Uint8Array,
): Promise<void> {
  const sums = [createHash('sha256'), ...(key ? [createHmac('sha256', createSecretKey(key))] : [])];
  const yieldIfDue = createYielder(SLICE_MS);
  await replaceFile(path, async (file) => {
    let position = headerOf(sums.map(() => NO_SUM)).length;
    for (const text of textsOf(state, key)) {
      const bytes = Buffer.from(text, 'utf8');
      for (const sum of sums) sum.update(bytes);
      await writeAll(file, bytes, position);
      position += bytes.length;
      await yieldIfDue();
    }
    // The header comes first in the file, and is known last.
    await writeAll(file, Buffer.from(headerOf(sums.map((sum) => sum.digest('hex'))), 'latin1'), 0);
  });
}

/** As long as any checksum. */
const NO_SUM = '0'.repeat(64);

function headerOf(sums: readonly string[]): string {
  return `${MAGIC} ${FORMAT} ${sums.join(' ')}\n`;
}

/** Returns the parts of the JSON of {@link Content}. */
function* textsOf(
  { acceptedAt, resources }: Omit<SavedState, 'secrets'>,
  key: Uint8Array | undefined,
): Generator<string, void> {
  const [secrets = [], others = []] = [true, false].map((isSecret) =>
    resources.filter(({ type }) => (type === TYPE.secret) === isSecret),
  );
  yield `{"acceptedAt":${JSON.stringify(acceptedAt)},"resources":[`;
  for (let at = 0; at < others.length; at += BATCH) {
    const rows = others.slice(at, at + BATCH).map((resource) => JSON.stringify(rowOf(resource)));
    yield `${at > 0 ? ',' : ''}${rows.join(',')}`;
  }
  const sealed = key && seal(key, PURPOSE, JSON.stringify(secrets.map(rowOf)));
  yield `]${sealed === undefined ? '' : `,"sealed":${JSON.stringify(sealed)}`}}\n`;
}

function rowOf({ type, name, version, content }: SavedResource): Row {
  return [type, name, version, content];
}

/**
 * Returns the state in a file; `undefined` if there is no file. Throws `ERR_XDS_SNAPSHOT_FILE` if it cannot be read, is damaged, was written by another version
 * of the gateway, is not authenticated by the key, or can be written by other users.
 */
export function readSnapshotFile(path: string, key?: Uint8Array): SavedState | undefined {
  const bytes = read(path);
  if (!bytes) return undefined;
  const end = bytes.indexOf('\n');
  const [, format, sums] =
    /^edge-gateway snapshot (\d{1,9}) ([\da-f ]{64,200})$/.exec(bytes.toString('latin1', 0, Math.max(0, end))) ?? [];
  if (format === undefined) throw fileError(path, 'is damaged or not a snapshot file');
  if (Number(format) !== FORMAT) {
    const other = Number(format) > FORMAT ? 'a newer' : 'an earlier';
    const formats = `(format ${format}, this version reads ${FORMAT})`;
    throw fileError(path, `was written by ${other} version of the gateway ${formats}`);
  }
  const [sum, mac] = sums!.split(' ');
  const text = bytes.subarray(end + 1);
  if (hash('sha256', text, 'hex') !== sum) throw fileError(path, 'is damaged: its checksum does not match');
  if (key && mac === undefined) throw fileError(path, 'was written without a key, so that it cannot be authenticated');
  if (key && macOf(text, key) !== mac)
    throw fileError(path, 'was changed, is damaged, or was written with another key than --snapshot-key-file');
  try {
    return stateOf(JSON.parse(text.toString('utf8')) as Content, key);
  } catch (cause) {
    throw fileError(path, 'is damaged: its content cannot be read', cause);
  }
}

function macOf(text: string | Uint8Array, key: Uint8Array): string {
  return createHmac('sha256', createSecretKey(key)).update(text).digest('hex');
}

function stateOf({ acceptedAt, resources, sealed }: Content, key: Uint8Array | undefined): SavedState {
  const opened = sealed !== undefined && key ? unseal(key, PURPOSE, sealed) : undefined;
  const secrets = opened === undefined ? [] : (JSON.parse(opened) as readonly Row[]);
  return {
    acceptedAt,
    resources: [...resources, ...secrets].map(([type, name, version, content]) => ({ type, name, version, content })),
    secrets: sealed === undefined ? 'omitted' : opened === undefined ? 'locked' : 'included',
  };
}

function read(path: string): Buffer | undefined {
  try {
    return readStateFile(path, MAX_BYTES);
  } catch (cause) {
    throw fileError(path, (cause as Error).message, cause);
  }
}

function fileError(path: string, what: string, cause?: unknown) {
  return xdsError('ERR_XDS_SNAPSHOT_FILE', `snapshot file ${path}: ${what}`, { cause });
}
