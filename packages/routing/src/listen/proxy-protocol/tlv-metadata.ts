import type { Listener } from '@edge-gateway/core';
import type { Proxied } from '../../format/proxied.ts';
import type { Tlv } from './header.ts';

export type ProxyProtocol = NonNullable<Listener['options']['proxyProtocol']>;

const DEFAULT_NAMESPACE = 'envoy.filters.listener.proxy_protocol';
const CONTROL = /\p{Cc}/gu;
const NO_METADATA: Proxied['metadata'] = new Map();

/** Returns the fields of a header that the rules store, as text without control characters, which would break lines of logs. Of several fields of a type the last one counts. */
export function tlvMetadata(tlvs: readonly Tlv[], { rules = [] }: ProxyProtocol): Proxied['metadata'] {
  if (tlvs.length === 0 || rules.length === 0) return NO_METADATA;
  const metadata = new Map<string, Record<string, unknown>>();
  for (const { tlvType = 0, onTlvPresent: { key = '', metadataNamespace } = {} } of rules) {
    const tlv = tlvs.findLast(({ type }) => type === tlvType);
    if (!tlv) continue;
    const namespace = metadataNamespace || DEFAULT_NAMESPACE;
    const values = metadata.get(namespace) ?? {};
    metadata.set(namespace, { ...values, [key]: tlv.value.toString('utf8').replace(CONTROL, '') });
  }
  return metadata;
}
