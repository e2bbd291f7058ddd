import { isHeaderValue, type HeaderChange } from '@edge-gateway/core';
import type { MutationRules } from './mutation-rules.ts';
import type { HeaderMutation, HeaderOption } from './messages.ts';

/** A change that a server must not make. */
export class RejectedMutation extends Error {
  override readonly name = 'RejectedMutation';
}

export const OF_REQUEST: ReadonlySet<string> = new Set([':authority', ':method', ':path', ':scheme']);
export const OF_RESPONSE: ReadonlySet<string> = new Set([':status']);

/** Maximum size of the header values that a server sets with one message, in bytes. */
const MAX_VALUES = 61_440;

/** Where the changes of a server are applied. */
export interface MutationTarget {
  readonly rules: MutationRules;
  /** Pseudo-headers of the message. */
  readonly pseudoHeaders: ReadonlySet<string>;
  /** Called for each change that the rules reject. */
  onRejected(): void;
}

/**
 * Returns the changes of a mutation, the removals first. Those that the rules reject are left out. Throws {@link RejectedMutation}
 * for one with an invalid name or value, for more than 60 KiB of values, or if the rules say so.
 */
export function changesOf(mutation: HeaderMutation | null | undefined, target: MutationTarget): HeaderChange[] {
  if (!mutation) return [];
  const changes: HeaderChange[] = [];
  let size = 0;
  for (const written of mutation.removeHeaders) {
    const name = written.toLowerCase();
    // A request without its pseudo-headers, or its host, is none.
    if (name.startsWith(':') || name === 'host') reject(name, target);
    else if (isAllowed(name, target)) changes.push({ op: 'remove', name });
  }
  for (const option of mutation.setHeaders) {
    const change = setOf(option);
    if (change && isAllowed(change.name, target)) changes.push(change);
    if (change) size += change.value.length;
  }
  if (size > MAX_VALUES) throw new RejectedMutation(`the server set header values of ${size} bytes`);
  return changes;
}

/** As in Envoy 1.40, only `append` decides whether a value is added, and by default the value is replaced. */
function setOf({ header, append }: HeaderOption): Exclude<HeaderChange, { op: 'remove' }> | undefined {
  if (!header) return undefined;
  const name = header.key.toLowerCase();
  const bytes = header.rawValue.length > 0 ? header.rawValue : Buffer.from(header.value);
  const value = bytes.toString('latin1');
  if (!NAME.test(name) || !isHeaderValue(value))
    throw new RejectedMutation(`the header ${JSON.stringify(name)} cannot be sent`);
  return { op: append?.value && !name.startsWith(':') ? 'append' : 'set', name, value };
}

const NAME = /^:?[!#$%&'*+.^_`|~0-9a-z-]+$/;

function isAllowed(name: string, target: MutationTarget): boolean {
  const exists = !name.startsWith(':') || target.pseudoHeaders.has(name);
  if (exists && target.rules.allows(name)) return true;
  reject(name, target);
  return false;
}

function reject(name: string, { rules, onRejected }: MutationTarget): void {
  onRejected();
  if (rules.failsOnRejected) throw new RejectedMutation(`the server must not change ${name}`);
}
