import {
  canonicalName,
  type Context,
  FRAMING_HEADERS,
  isHeaderName,
  toByteString,
  type VirtualHost,
} from '@edge-gateway/core';
import { routingError } from '../../error-codes.ts';
import { breaksLine, removeHeader, setHeader } from '../../http1/flat-headers.ts';
import { compileFormat, fill, type Format } from '../../format/format.ts';
import type { RequestRecord } from '../../format/record.ts';

type HeaderManipulation = NonNullable<VirtualHost['options']['headerManipulation']>;

export interface HeaderOp {
  readonly op: 'set' | 'append' | 'remove';
  readonly name: string;
  readonly value: Format | undefined;
}

export interface HeaderOps {
  readonly request: readonly HeaderOp[];
  readonly response: readonly HeaderOp[];
}

const NONE: HeaderOps = { request: [], response: [] };

/**
 * Compiles one `headerManipulation` block. Header secrets are read now. Throws `ERR_ROUTING_OPTION` for a bad name or
 * value, an unknown operator, or a missing secret.
 */
export function compileHeaderManipulation(block: HeaderManipulation | undefined, context: Context): HeaderOps {
  if (!block) return NONE;
  const request = (block.requestHeadersToRemove ?? []).map(removal);
  for (const added of block.requestHeadersToAdd ?? []) {
    if (added.headerSecretRef) request.push(...fromSecret(added.headerSecretRef, added.append, context));
    else if (added.header) request.push(...addition(added.header, added.append, 'request'));
  }
  const response = (block.responseHeadersToRemove ?? []).map(removal);
  for (const added of block.responseHeadersToAdd ?? []) {
    if (added.header) response.push(...addition(added.header, added.append, 'response'));
  }
  return { request, response };
}

/** Returns the levels in the order of application: the least specific last, or first if the most specific wins. */
export function orderLevels(levels: readonly HeaderOps[], mostSpecificWins: boolean): HeaderOps {
  const filled = levels.filter((level) => level.request.length + level.response.length > 0);
  if (filled.length === 0) return NONE;
  if (filled.length === 1) return filled[0]!;
  if (mostSpecificWins) filled.reverse();
  return { request: filled.flatMap((level) => level.request), response: filled.flatMap((level) => level.response) };
}

/** Changes a flat list in place. A value that is rendered empty, or would end the line, is not added. */
export function applyHeaderOps(flat: string[], ops: readonly HeaderOp[], record: RequestRecord): void {
  for (const { op, name, value } of ops) {
    if (value === undefined) {
      removeHeader(flat, name);
      continue;
    }
    const filled = fill(value, record, '');
    if (filled === '' || breaksLine(filled)) continue;
    if (op === 'set') setHeader(flat, name, filled);
    else flat.push(name, filled);
  }
}

/** Returns the names of headers that these operations set or remove, as `canonicalName` writes them. */
export function decidedNames(ops: readonly HeaderOp[]): ReadonlySet<string> {
  return new Set(ops.filter(({ op }) => op !== 'append').map(({ name }) => canonicalName(name)));
}

export function removal(written: string): HeaderOp {
  return { op: 'remove', name: headerName(written), value: undefined };
}

/** Adds one header; an empty value adds none. */
export function addition(
  header: { readonly key?: string; readonly value?: string },
  append: boolean | undefined,
  use: 'request' | 'response',
): HeaderOp[] {
  const name = addedName(header.key ?? '');
  const value = header.value ?? '';
  if (breaksLine(value))
    throw routingError('ERR_ROUTING_OPTION', `the value of header ${name} contains a line break or NUL`);
  if (value === '') return [];
  return [{ op: append === false ? 'set' : 'append', name, value: compileFormat(value, use) }];
}

function fromSecret(
  ref: { readonly name?: string; readonly namespace?: string },
  append: boolean | undefined,
  context: Context,
): HeaderOp[] {
  const name = ref.name ?? '';
  const namespace = ref.namespace ?? '';
  const secret = context.secrets.get({ name, namespace });
  if (!secret) throw routingError('ERR_ROUTING_OPTION', `header secret ${namespace}.${name} not found`);
  return Object.entries(secret.data).flatMap(([key, encoded]) => {
    const value = Buffer.from(encoded, 'base64').toString('utf8');
    if (breaksLine(value))
      throw routingError(
        'ERR_ROUTING_OPTION',
        `header secret ${namespace}.${name}: key ${key} contains a line break or NUL`,
      );
    if (value === '') return [];
    const literal = toByteString(value);
    return [{ op: append === false ? 'set' : 'append', name: addedName(key), value: { literal, parts: [literal] } }];
  });
}

function headerName(written: string): string {
  const name = written.toLowerCase();
  if (!isHeaderName(name)) throw routingError('ERR_ROUTING_OPTION', `invalid header name '${written}'`);
  if (name === 'host')
    throw routingError('ERR_ROUTING_OPTION', 'header host cannot be added or removed, see hostRewrite');
  return name;
}

function addedName(written: string): string {
  const name = headerName(written);
  if (FRAMING_HEADERS.has(name))
    throw routingError('ERR_ROUTING_OPTION', `header ${name} frames the message and cannot be added`);
  return name;
}
