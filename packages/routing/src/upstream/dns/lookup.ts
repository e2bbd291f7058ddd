import { nodeDelay, startTimer } from '@edge-gateway/core';
import { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import { createLocalNames, type LocalNames } from './local-names.ts';

/** Maximum time of a lookup, in milliseconds. */
export const LOOKUP_TIMEOUT_MS = 5000;
/** How long IPv4 addresses wait for the IPv6 ones (RFC 8305 §3). */
const RESOLUTION_DELAY_MS = 50;
/** The name, or addresses of this type, do not exist: other names may be tried. */
const ABSENT = new Set(['ENOTFOUND', 'ENODATA']);

/** The addresses of a name; at least one. */
export interface Addresses {
  readonly v4: readonly string[];
  readonly v6: readonly string[];
  /** Lowest TTL, in milliseconds; `undefined` for names that are not from DNS. */
  readonly ttlMs: number | undefined;
}

export type AddressFamily = 'all' | 'v4' | 'v6';

/** Looks up names without blocking other work. */
export interface Lookup {
  /** Rejects with an error with the code `ENOTFOUND`, `ENODATA`, `ETIMEOUT` or another one of DNS. */
  resolve(name: string, family: AddressFamily): Promise<Addresses>;
  /** Returns the addresses of names that need no DNS server. */
  local(name: string, family: AddressFamily): Addresses | undefined;
}

export interface LookupOptions {
  /** DNS servers, `address[:port]`. Default: those of the machine. */
  readonly servers?: readonly string[] | undefined;
  readonly timeoutMs?: number;
  readonly localNames?: LocalNames;
}

/**
 * Creates a {@link Lookup} that asks DNS servers itself, by the c-ares library of Node: each lookup of `getaddrinfo` blocks one of four
 * threads, which files and ciphers share. Addresses and names of the machine are found without a DNS server.
 */
export function createLookup({ servers, timeoutMs = LOOKUP_TIMEOUT_MS, localNames }: LookupOptions = {}): Lookup {
  const names = localNames ?? createLocalNames();
  const createResolver = (): Resolver => {
    const timeout = nodeDelay(Math.max(Math.ceil(timeoutMs / 2), 1));
    const resolver = new Resolver({ timeout, tries: 2 });
    if (servers?.length) resolver.setServers(servers);
    return resolver;
  };
  let resolver = createResolver();

  function local(name: string, family: AddressFamily): Addresses | undefined {
    const found = isIP(name) === 0 ? names.find(name) : [name];
    return found && selected(found, family);
  }

  async function ask(name: string, family: AddressFamily): Promise<Addresses> {
    const used = resolver;
    const v4 = family === 'v6' ? NONE : used.resolve4(name, { ttl: true });
    const v6 = family === 'v4' ? NONE : used.resolve6(name, { ttl: true });
    try {
      const found = await both(v4, v6);
      const ttl = Math.min(...[...found.v4, ...found.v6].map((record) => record.ttl));
      return { v4: found.v4.map(addressOf), v6: found.v6.map(addressOf), ttlMs: ttl * 1000 };
    } catch (error) {
      // The servers of the machine may have changed, e.g. with its network.
      if (resolver === used && !ABSENT.has(codeOf(error))) resolver = createResolver();
      throw error;
    }
  }

  async function search(name: string, family: AddressFamily): Promise<Addresses> {
    let failure: unknown;
    for (const candidate of names.candidates(name)) {
      try {
        return await ask(candidate, family);
      } catch (error) {
        failure = error;
        if (!ABSENT.has(codeOf(error))) throw error;
      }
    }
    throw failure;
  }

  return {
    local,
    async resolve(name, family) {
      const known = local(name, family);
      if (known) return known;
      let timer: NodeJS.Timeout | undefined;
      const expired = new Promise<never>((_resolve, reject) => {
        timer = startTimer(() => reject(failure(name, 'ETIMEOUT')), timeoutMs).unref();
      });
      try {
        return await Promise.race([search(name, family), expired]);
      } finally {
        clearTimeout(timer);
      }
    },
  };
}

interface DnsRecord {
  readonly address: string;
  readonly ttl: number;
}

const NONE: Promise<DnsRecord[]> = Promise.resolve([]);
const addressOf = ({ address }: DnsRecord): string => address;

/** Waits for both families, but with IPv4 addresses only briefly for IPv6 ones: some servers never respond to queries for those. */
async function both(v4: Promise<DnsRecord[]>, v6: Promise<DnsRecord[]>) {
  const late = v6.catch((error: unknown) => error);
  const first = await v4.catch((error: unknown) => error);
  let timer: NodeJS.Timeout | undefined;
  const delay = new Promise<DnsRecord[]>((resolve) => (timer = setTimeout(resolve, RESOLUTION_DELAY_MS, [])));
  const second = await (Array.isArray(first) && first.length > 0 ? Promise.race([late, delay]) : late);
  clearTimeout(timer);
  const found = { v4: listOf(first), v6: listOf(second) };
  if (found.v4.length + found.v6.length > 0) return found;
  // A failure weighs more than the absence of one of the types.
  const failures = [first, second].filter((each) => !Array.isArray(each));
  throw failures.find((error) => !ABSENT.has(codeOf(error))) ?? failures[0] ?? failure('', 'ENODATA');
}

function listOf(value: unknown): readonly DnsRecord[] {
  return Array.isArray(value) ? (value as DnsRecord[]) : [];
}

/** Returns the addresses of a family; `undefined` if there are none. */
export function selected(addresses: readonly string[], family: AddressFamily): Addresses | undefined {
  const v4 = family === 'v6' ? [] : addresses.filter((address) => isIP(address) === 4);
  const v6 = family === 'v4' ? [] : addresses.filter((address) => isIP(address) === 6);
  return v4.length + v6.length > 0 ? { v4, v6, ttlMs: undefined } : undefined;
}

function failure(name: string, code: string): Error {
  return Object.assign(new Error(`query ${code} ${name}`), { code });
}

function codeOf(error: unknown): string {
  return String((error as NodeJS.ErrnoException | undefined)?.code);
}
