import type { Difference } from './differences.ts';

const INTRODUCTION = `# Differences from Envoy

The gateway behaves like Envoy 1.40 with an equivalent configuration, except for the differences on this page. A test sends the same
requests through both, over HTTP/1.1 and HTTP/2, to upstreams of both versions, with and without TLS, and compares what clients and upstreams receive,
tunnels, and access logs. The test fails if there is any other difference, or if a listed difference no longer exists. When in doubt, the gateway is stricter than Envoy: see [Security](security.md). The test does not compare health
checks, which have [their own list](health-checks.md#differences-from-envoy).
`;

const HALF_CLOSED = `## Half-closed client connections

A client that closes its side of the connection after its request (a half-close, for example \`nc -N\`) receives no response: the gateway closes
the connection and cancels the upstream request. Envoy does the same, and the test compares it. RFC 9112 §9.5 requires a prompt close of both
sides; a client announces its last request with \`Connection: close\` (§9.6). The gateway cannot distinguish a half-closed client from one that has
disconnected, and would send the upstream request in vain.
`;

/** Returns the page for users: a table per topic. */
export function differencesPage(differences: readonly Difference[]): string {
  const topics = Map.groupBy(differences, ({ topic }) => topic);
  const sections = [...topics].map(([topic, members]) => {
    const rows = members.map(({ gateway, envoy, reason }) => [gateway, envoy, reason]);
    return `## ${topic}\n\n${table([['Gateway', 'Envoy', 'Reason'], ...rows])}\n`;
  });
  return [INTRODUCTION, ...sections, HALF_CLOSED].join('\n');
}

/** Returns a table with aligned columns, as the formatter writes it. */
function table(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const line = (row: readonly string[]): string =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column]!)).join(' | ')} |`;
  const [head, ...body] = rows;
  return [line(head!), `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...body.map(line)].join('\n');
}
