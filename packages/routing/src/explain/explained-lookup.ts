import type { DynamicDestination, Listener, Snapshot } from '@edge-gateway/core';
import { ERROR_CODES, type RoutingErrorCode } from '../error-codes.ts';
import { findHeader } from '../http1/flat-headers.ts';
import { fixedAddresses } from '../upstream/dns/local-names.ts';
import { addressProblem } from '../upstream/dynamic/address-policy.ts';
import { FAMILIES, inOrder, type ForwardProxyOptions } from '../upstream/dynamic/forward-proxy.ts';
import { parseNamedHost, type NamedHost } from '../upstream/dynamic/named-host.ts';
import { selected } from '../upstream/dns/lookup.ts';
import type { ExplainedDestination, ExplainedReply } from './explanation.ts';

type HostDestination = Extract<DynamicDestination, { readonly type: 'host' }>;

/** The parts of an explanation about a host that the request names. */
export type ExplainedLookup = Pick<ExplainedDestination, 'namedHost' | 'reply'> & { readonly origin: string };

/**
 * Returns the host that the gateway would look up for a request, and the response if that is certain without DNS.
 * `headers` are those sent upstream.
 */
export function explainLookup(
  { hostRewrite, hostRewriteHeader }: HostDestination,
  headers: readonly string[],
  { snapshot, listener }: { readonly snapshot: Snapshot; readonly listener: Listener },
): ExplainedLookup {
  const options = listener.httpOptions.dynamicForwardProxy;
  const written = findHeader(headers, 'host') ?? '';
  if (!options) {
    const reason = 'the listener has no httpGateway.options.dynamicForwardProxy';
    return { origin: '', reply: { status: 503, body: '', reason } };
  }
  const tls = options.sslConfig !== undefined;
  const host = parseNamedHost(written, tls);
  if (!host) return { origin: '', reply: replyWith('ERR_ROUTING_BAD_HOST', `invalid host '${written}'`) };
  const { name, port } = host;
  const from = sourceOf({ hostRewrite, hostRewriteHeader }, headers);
  const origin = `${tls ? 'https' : 'http'}://${name.includes(':') ? `[${name}]` : name}:${port}`;
  const addresses = fixedAddresses(name);
  const reply = addresses && problemOf(host, addresses, options, ownPorts(snapshot));
  return { origin, namedHost: { name, port, from, needsDns: addresses === undefined }, ...(reply && { reply }) };
}

function sourceOf(
  { hostRewrite, hostRewriteHeader }: Omit<HostDestination, 'type'>,
  headers: readonly string[],
): string {
  if (hostRewrite) return 'hostRewrite of the route';
  if (!hostRewriteHeader) return 'Host of the request';
  return findHeader(headers, hostRewriteHeader)
    ? `header ${hostRewriteHeader}`
    : `Host of the request: the header ${hostRewriteHeader} is absent`;
}

/** Returns the response if none of the addresses can be used. */
function problemOf(
  { name, port }: NamedHost,
  addresses: readonly string[],
  { allowedAddresses = [], dnsCacheConfig: { dnsLookupFamily = 'ALL' } = {} }: ForwardProxyOptions,
  ports: ReadonlySet<number>,
): ExplainedReply | undefined {
  const found = selected(addresses, FAMILIES[dnsLookupFamily] ?? 'all');
  if (!found) {
    const reason = `${name} has no address that dnsLookupFamily ${dnsLookupFamily} allows`;
    return replyWith('ERR_ROUTING_FORWARD_DNS', reason);
  }
  const policy = { allowed: allowedAddresses, ownPorts: ports };
  const problems = inOrder(found, dnsLookupFamily).map((address) => addressProblem(address, port, policy));
  const [first] = problems;
  return first !== undefined && problems.every((problem) => problem !== undefined)
    ? replyWith('ERR_ROUTING_FORWARD_ADDRESS', first)
    : undefined;
}

function ownPorts({ listeners }: Snapshot): ReadonlySet<number> {
  return new Set(listeners.map(({ bindPort }) => bindPort));
}

function replyWith(code: RoutingErrorCode, reason: string): ExplainedReply {
  const { status, message } = ERROR_CODES[code];
  return { status, body: message, reason };
}
