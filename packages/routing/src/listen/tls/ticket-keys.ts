import { createHash, hkdfSync } from 'node:crypto';
import type { TlsTable } from './tls-table.ts';

/** What the processes that share a port need to resume each other's TLS sessions. */
export interface TicketKeys {
  /** Name, HMAC key and AES key of tickets, 48 bytes. */
  readonly key: Buffer;
  /** Sessions of another context are not resumed. */
  readonly sessionIdContext: string;
}

const KEY_BYTES = 48;

/**
 * Derives the keys of a listener from a secret. They depend on its certificates and TLS settings: a session that other settings admitted
 * cannot be resumed.
 */
export function ticketKeysOf(secret: Uint8Array, listener: string, { entries }: TlsTable): TicketKeys {
  const settings = entries.map(({ configuration, leaf, material }) => [configuration, leaf, material.ca ?? '']);
  const id = createHash('sha256')
    .update(JSON.stringify([listener, settings]))
    .digest('hex');
  const key = hkdfSync('sha256', secret, '', `tls session tickets ${id}`, KEY_BYTES);
  return { key: Buffer.from(key), sessionIdContext: id.slice(0, 32) };
}
