import { gatewayNamespace } from '@edge-gateway/core';
import { fromStruct } from '@edge-gateway/core/grpc';
import type { NodeMessage } from '../protocol/discovery.ts';

/** The identity of a node, and the proxy that it serves. */
export interface NodeIdentity {
  readonly id: string;
  /** `<namespace>~<proxy name>`. */
  readonly key: string;
  /** The namespace of its gateway. */
  readonly namespace: string;
  readonly proxy: string;
}

const MAX_LENGTH = 256;
const PRINTABLE = /^[\x21-\x7e]+$/;

/**
 * Returns the identity of a node. The key is `role` of its metadata, as `<namespace>~<proxy name>`; without it, the proxy is `cluster`.
 * Throws an `Error` that says what is missing.
 */
export function identityOf(node: NodeMessage | null | undefined): NodeIdentity {
  if (!node) throw new Error('the first request must have a node');
  const { id = '', cluster = '', metadata } = node;
  const { role } = (metadata ? fromStruct(metadata) : {}) as { role?: unknown };
  const key = typeof role === 'string' && role !== '' ? role : cluster && `${gatewayNamespace()}~${cluster}`;
  if (!isUsable(id)) throw new Error(`node.id must be 1 to ${MAX_LENGTH} visible characters`);
  const [namespace, proxy, ...rest] = key.split('~');
  if (!isUsable(key) || !namespace || !proxy || rest.length > 0)
    throw new Error('node.metadata.role must be <namespace>~<proxy name>, or node.cluster the name of the proxy');
  return { id, key, namespace, proxy };
}

/**
 * Checks the node of a later request of a stream, which may be left out. Throws an `Error` if it is another one: the stream stays what it was
 * authorized for.
 */
export function checkSameNode(first: NodeIdentity, node: NodeMessage | null | undefined): void {
  if (!node?.id) return;
  const { id, key } = identityOf(node);
  if (id !== first.id || key !== first.key)
    throw new Error(`the node of a stream must not change: it was ${first.key} ${first.id}, not ${key} ${id}`);
}

function isUsable(text: string): boolean {
  return text.length <= MAX_LENGTH && PRINTABLE.test(text);
}
