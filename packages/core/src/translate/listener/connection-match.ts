import type { ConnectionMatch } from '../../contract/snapshot.ts';
import type { ConnectionMatcher } from '../../schema/kind/gateway.ts';

/** Returns the connections of a matcher with these server names: each once, in lower case, sorted. */
export function matchOf(matcher: ConnectionMatcher, serverNames: readonly string[]): ConnectionMatch {
  const { sslConfig, sourcePrefixRanges = [], passthroughCipherSuites = [] } = matcher;
  return {
    tls: sslConfig !== undefined || passthroughCipherSuites.length > 0,
    serverNames: [...new Set(serverNames.map((name) => name.toLowerCase()))].sort(),
    sourceRanges: sourcePrefixRanges.map(({ addressPrefix = '', prefixLen = 0 }) => ({ addressPrefix, prefixLen })),
    passthroughCiphers: passthroughCipherSuites,
  };
}

/** Returns what several matches claim, each as a description: a server name, or every connection. */
export function contestedClaims(matches: readonly ConnectionMatch[]): readonly string[] {
  const claims = new Set<string>();
  const contested = new Map<string, string>();
  for (const { tls, serverNames, sourceRanges, passthroughCiphers } of matches) {
    const ranges = sourceRanges.map(({ addressPrefix, prefixLen }) => `${addressPrefix}/${prefixLen}`);
    const rest = [String(tls), ...[...passthroughCiphers].sort()].join(' ');
    for (const name of serverNames.length > 0 ? serverNames : ['']) {
      for (const range of ranges.length > 0 ? ranges : ['']) {
        const claim = [name, range, rest].join(' ');
        if (claims.has(claim)) contested.set(claim, describe(name, range));
        claims.add(claim);
      }
    }
  }
  return [...new Set(contested.values())].sort();
}

function describe(name: string, range: string): string {
  const from = range ? ` from ${range}` : '';
  return name ? `the server name '${name}'${from}` : `connections${from || ' without further conditions'}`;
}
