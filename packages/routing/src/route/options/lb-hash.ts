import { headerIn, parseCookies, parseDuration } from '@edge-gateway/core';
import type { LbHash } from '@edge-gateway/core/schema';
import { hostOf } from '../../http1/authority.ts';
import { xxHash64 } from '../../upstream/balance/xx-hash.ts';
import { setStickyCookie, type StickyCookie } from './sticky-cookie.ts';

/** The parts of a request that can be hashed. */
export interface HashedRequest {
  readonly head: { readonly headers: readonly string[]; readonly clientAddress: string };
  readonly connection: {
    readonly directAddress: string;
    readonly directPort: number;
    readonly localAddress: string;
    readonly localPort: number;
  };
}

/**
 * Returns the hash of a request; `undefined` if it has nothing of what is hashed. `setCookie` receives the `Set-Cookie` value of a
 * cookie that was created.
 */
export type RequestHash = (request: HashedRequest, setCookie: (value: string) => void) => bigint | undefined;

interface HashPolicy {
  readonly terminal: boolean;
  readonly hash: RequestHash;
}

/** Compiles `lbHash`. The hashes are those of Envoy: both choose the same host for a request. */
export function compileLbHash(options: LbHash | undefined): RequestHash | undefined {
  const policies = (options?.hashPolicies ?? []).flatMap((policy): HashPolicy[] => {
    const hash = compilePolicy(policy);
    return hash ? [{ hash, terminal: policy.terminal === true }] : [];
  });
  if (policies.length === 0) return undefined;
  return (request, setCookie) => {
    let combined: bigint | undefined;
    for (const { hash, terminal } of policies) {
      const next = hash(request, setCookie);
      // Rotated, so that two equal hashes do not cancel each other.
      if (next !== undefined) combined = combined === undefined ? next : rotated(combined) ^ next;
      if (terminal && combined !== undefined) break;
    }
    return combined;
  };
}

function rotated(hash: bigint): bigint {
  return BigInt.asUintN(64, hash << 1n) | (hash >> 63n);
}

type Policy = NonNullable<LbHash['hashPolicies']>[number];

function compilePolicy({ header, cookie, sourceIp }: Policy): RequestHash | undefined {
  if (header !== undefined) return hashHeader(header.toLowerCase());
  if (cookie) return hashCookie(cookie);
  return sourceIp ? hashSource : undefined;
}

const hashSource: RequestHash = ({ head: { clientAddress } }) =>
  clientAddress === '' ? undefined : xxHash64(clientAddress);

/** The order of several values does not matter. */
function hashHeader(name: string): RequestHash {
  return ({ head: { headers } }) => {
    const values: string[] = [];
    for (let i = 0; i < headers.length; i += 2) if (headers[i] === name) values.push(headers[i + 1]!);
    if (values.length === 0) return undefined;
    return values.sort().reduce((seed, value) => xxHash64(value, seed), 0n);
  };
}

function hashCookie({ name = '', ttl, path = '' }: NonNullable<Policy['cookie']>): RequestHash {
  const created: StickyCookie | undefined =
    ttl === undefined ? undefined : { name, path, maxAgeSeconds: Math.floor(parseDuration(ttl) / 1000) };
  return ({ head, connection }, setCookie) => {
    const value = parseCookies(headerIn(head.headers, 'cookie')).get(name)?.[0] ?? '';
    if (value !== '') return xxHash64(value);
    if (!created) return undefined;
    // The same for all requests of a connection, so that parallel first requests receive the same cookie.
    const generated = hexOf(xxHash64(endsOf(connection)));
    setCookie(setStickyCookie(created, generated));
    return xxHash64(generated);
  };
}

function endsOf({ directAddress, directPort, localAddress, localPort }: HashedRequest['connection']): string {
  const client = hostOf({ address: directAddress, port: directPort });
  return client + hostOf({ address: localAddress, port: localPort });
}

function hexOf(hash: bigint): string {
  return hash.toString(16).padStart(16, '0');
}
