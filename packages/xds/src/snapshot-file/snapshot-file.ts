import { hash } from 'node:crypto';
import { deriveKey, readRegularFile, seal, unseal, UnusableFile } from '@edge-gateway/core';
import { xdsError } from '../error-codes.ts';
import { decodeStrings, encodeStrings } from '../protocol/wire.ts';
import type { ReceivedResource } from '../resources/resource-set.ts';
import { TYPE } from '../resources/resource-type.ts';

/** Format version; incremented with each incompatible change. */
const FORMAT = 1;
const MAGIC = 'edge-gateway snapshot';
const MAX_BYTES = 512 * 1024 * 1024;
const MIN_KEY_BYTES = 32;
const MAX_KEY_BYTES = 4096;
const PURPOSE = 'xds snapshot file';

/** A state in a file. */
export interface SavedState {
  /** When it was accepted, in milliseconds since the epoch. */
  readonly acceptedAt: number;
  readonly resources: readonly ReceivedResource[];
  /** Whether the resources include the secrets: all of them, none because none were saved, or none because the key does not decrypt them. */
  readonly secrets: 'included' | 'omitted' | 'locked';
}

/** A resource in the file: its content is JSON, also in its message. */
type Row = readonly [type: string, name: string, version: string, content: string];

interface Content {
  readonly acceptedAt: number;
  readonly resources: readonly Row[];
  /** The secrets as sealed rows; missing if they are omitted. */
  readonly sealed?: string;
}

/** Reads the key that encrypts secrets from a file. Throws `ERR_XDS_SNAPSHOT_FILE` if it is unreadable or too short. */
export function readSnapshotKey(path: string): Uint8Array {
  const bytes = read(path, MAX_KEY_BYTES);
  if (!bytes) throw fileError(path, 'does not exist');
  if (bytes.length < MIN_KEY_BYTES) throw fileError(path, `a key must have at least ${MIN_KEY_BYTES} bytes`);
  return deriveKey(bytes, PURPOSE);
}

/** Formats a state as the content of a snapshot file. Without a key, secrets are omitted. */
export function formatSnapshotFile({ acceptedAt, resources }: Omit<SavedState, 'secrets'>, key?: Uint8Array): string {
  const rows = (isSecret: boolean): Row[] =>
    resources.flatMap(({ type, name, version, value }) =>
      (type === TYPE.secret) === isSecret ? [[type, name, version, decodeStrings(value, 1)[0]!] as const] : [],
    );
  const content: Content = {
    acceptedAt,
    resources: rows(false),
    ...(key && { sealed: seal(key, PURPOSE, JSON.stringify(rows(true))) }),
  };
  const text = `${JSON.stringify(content)}\n`;
  return `${MAGIC} ${FORMAT} ${hash('sha256', text, 'hex')}\n${text}`;
}

/**
 * Returns the state in a file; `undefined` if there is no file. Throws `ERR_XDS_SNAPSHOT_FILE` if it cannot be read, is damaged, or was written by a newer
 * version of the gateway.
 */
export function readSnapshotFile(path: string, key?: Uint8Array): SavedState | undefined {
  const bytes = read(path, MAX_BYTES);
  if (!bytes) return undefined;
  const end = bytes.indexOf('\n');
  const [, format, checksum] =
    /^edge-gateway snapshot (\d{1,9}) ([\da-f]{64})$/.exec(bytes.toString('latin1', 0, Math.max(0, end))) ?? [];
  if (format === undefined) throw fileError(path, 'is damaged or not a snapshot file');
  if (Number(format) > FORMAT) {
    const needed = `was written by a newer version of the gateway (format ${format}, this version reads ${FORMAT})`;
    throw fileError(path, needed);
  }
  const text = bytes.subarray(end + 1);
  if (hash('sha256', text, 'hex') !== checksum) throw fileError(path, 'is damaged: its checksum does not match');
  try {
    return stateOf(JSON.parse(text.toString('utf8')) as Content, key);
  } catch (cause) {
    throw fileError(path, 'is damaged: its content cannot be read', cause);
  }
}

function stateOf({ acceptedAt, resources, sealed }: Content, key: Uint8Array | undefined): SavedState {
  const opened = sealed !== undefined && key ? unseal(key, PURPOSE, sealed) : undefined;
  const secrets = opened === undefined ? [] : (JSON.parse(opened) as readonly Row[]);
  return {
    acceptedAt,
    resources: [...resources, ...secrets].map(([type, name, version, content]) => ({
      type,
      name,
      version,
      value: encodeStrings([content]),
    })),
    secrets: sealed === undefined ? 'omitted' : opened === undefined ? 'locked' : 'included',
  };
}

function read(path: string, maxBytes: number): Buffer | undefined {
  try {
    return readRegularFile(path, maxBytes);
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    throw fileError(path, cause instanceof UnusableFile ? message : `cannot be read: ${code ?? message}`, cause);
  }
}

function fileError(path: string, what: string, cause?: unknown) {
  return xdsError('ERR_XDS_SNAPSHOT_FILE', `snapshot file ${path}: ${what}`, { cause });
}
