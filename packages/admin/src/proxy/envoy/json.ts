import { parseDuration } from '@edge-gateway/core';
import { lazily } from '../../http/json-chunks.ts';

/** A message in the JSON form of Protocol Buffers, with the original field names. */
export type Message = Readonly<Record<string, unknown>>;

/** A list that is made while it is written; `undefined` when it would be empty, so that it is left out. */
export function lazyList<T>(items: readonly T[], make: (item: T) => Message): Iterable<Message> | undefined {
  return items.length > 0 ? lazily(items, make) : undefined;
}

/** Leaves out fields that are unset, and empty lists and objects. */
export function message(fields: Message): Message {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => !isEmpty(value)));
}

/** {@link message} with the type that `Any` carries; `type` comes without `type.googleapis.com/`. */
export function typed(type: string, fields: Message = {}): Message {
  return { '@type': `type.googleapis.com/${type}`, ...message(fields) };
}

/** Returns fields of a resource under their names in snake case; durations in the form of Protocol Buffers. */
export function renamed<T extends object>(source: T, fields: readonly (keyof T & string)[]): Message {
  const entries = fields.map((field) => {
    const name = field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    const isDuration = /(?:Timeout|Duration)$/.test(field);
    return [name, isDuration ? protoDuration(source[field] as string | undefined) : source[field]] as const;
  });
  return Object.fromEntries(entries);
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  return Array.isArray(value) && value.length === 0;
}

/** `1h30m` → `5400s`, `250ms` → `0.250s`: 0, 3, 6 or 9 decimals. */
export function protoDuration(written: string | undefined): string | undefined {
  if (written === undefined) return undefined;
  const nanos = Math.round(parseDuration(written) * 1e6);
  const fraction = String(nanos % 1e9)
    .padStart(9, '0')
    .replace(/(?:000){1,3}$/, '');
  return `${Math.floor(nanos / 1e9)}${fraction && `.${fraction}`}s`;
}

/** An address as `socket_address`. */
export function socketAddress(address: string, port: number): Message {
  return { socket_address: { address, port_value: port } };
}
