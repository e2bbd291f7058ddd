import { BlockList, isIPv6 } from 'node:net';
import { CIPHER_SUITES, plainAddress, type ListenerPart } from '@edge-gateway/core';
import type { ClientHello } from './client-hello.ts';

/** The connection for which a part is chosen. */
export interface ChosenConnection {
  /** Missing without TLS. */
  readonly hello: ClientHello | undefined;
  readonly clientAddress: string | undefined;
}

/**
 * Returns the function that chooses the part of a connection. As in Envoy, each step keeps the parts with the most specific rule
 * that applies, and no step is undone: a connection with the server name of one part never falls back to another part.
 */
export function createPartChooser(parts: readonly ListenerPart[]) {
  const byName = new Map<string, Candidate[]>();
  for (const part of parts) {
    const candidate = candidateOf(part);
    const { serverNames } = part.match;
    for (const name of serverNames.length > 0 ? serverNames : ['']) {
      byName.set(name, [...(byName.get(name) ?? []), candidate]);
    }
  }
  return ({ hello, clientAddress }: ChosenConnection): ListenerPart | undefined => {
    const named = namesFor(hello?.serverName ?? '').find((name) => byName.has(name));
    if (named === undefined) return undefined;
    const ofTransport = byTransport(byName.get(named)!, hello);
    return bySource(ofTransport, plainAddress(clientAddress));
  };
}

/** True if the parts differ in what only the first bytes of a connection tell. */
export function needsClientHello(parts: readonly ListenerPart[]): boolean {
  return parts.some(({ match }) => match.tls || match.serverNames.length > 0);
}

interface Candidate {
  readonly part: ListenerPart;
  readonly ciphers: ReadonlySet<number>;
  readonly ranges: readonly { readonly list: BlockList; readonly length: number }[];
}

function candidateOf(part: ListenerPart): Candidate {
  const { passthroughCiphers, sourceRanges } = part.match;
  return {
    part,
    ciphers: new Set(passthroughCiphers.flatMap((name) => CIPHER_SUITES.get(name) ?? [])),
    ranges: sourceRanges.map(({ addressPrefix, prefixLen }) => {
      const list = new BlockList();
      const address = plainAddress(addressPrefix);
      list.addSubnet(address, prefixLen, isIPv6(address) ? 'ipv6' : 'ipv4');
      return { list, length: prefixLen };
    }),
  };
}

/** Returns the keys of a server name, the most specific first: itself, its wildcards, any. */
function namesFor(serverName: string): readonly string[] {
  if (serverName === '') return [''];
  const names = [serverName];
  for (let dot = serverName.indexOf('.'); dot >= 0; dot = serverName.indexOf('.', dot + 1)) {
    names.push(`*${serverName.slice(dot)}`);
  }
  return [...names, ''];
}

function byTransport(candidates: readonly Candidate[], hello: ClientHello | undefined): readonly Candidate[] {
  const any = candidates.filter(({ part }) => !part.match.tls);
  if (!hello) return any;
  const tls = candidates.filter(({ part }) => part.match.tls);
  const offered = hello.ciphers.filter((cipher) => !isSignal(cipher));
  const limited = tls.filter(({ ciphers }) => ciphers.size > 0 && offered.every((cipher) => ciphers.has(cipher)));
  if (limited.length > 0) return limited;
  const others = tls.filter(({ part }) => part.match.passthroughCiphers.length === 0);
  return others.length > 0 ? others : any;
}

/** True for numbers that are no cipher suite: GREASE (RFC 8701), and the signals for renegotiation and fallback. */
function isSignal(cipher: number): boolean {
  return cipher === 0x00ff || cipher === 0x5600 || ((cipher & 0x0f0f) === 0x0a0a && cipher >> 8 === (cipher & 0xff));
}

function bySource(candidates: readonly Candidate[], address: string): ListenerPart | undefined {
  let best: ListenerPart | undefined;
  let length = -1;
  for (const { part, ranges } of candidates) {
    if (ranges.length === 0) best ??= part;
    for (const range of ranges) {
      if (range.length <= length || !range.list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')) continue;
      best = part;
      length = range.length;
    }
  }
  return best;
}
