import type { TlsOptions } from 'node:tls';
import type { ListenLimits } from '../limits.ts';
import type { TlsEntry } from './tls-entry.ts';
import type { TlsTable } from './tls-table.ts';

const HTTP1 = 'http/1.1';
const HTTP2 = 'h2';

type CodecType = ListenLimits['codecType'];

/** The protocols that an entry offers, best first: those that the listener speaks. */
function protocolsOf({ configuration }: TlsEntry, codecType: CodecType): readonly string[] {
  const { alpnProtocols = [HTTP2, HTTP1] } = configuration.sslConfig;
  return alpnProtocols.filter((protocol) => {
    if (protocol === HTTP2) return codecType !== 'HTTP1';
    return protocol === HTTP1 ? codecType !== 'HTTP2' : protocol !== 'allow_empty';
  });
}

/**
 * Returns how a listener negotiates the protocol. Without a common protocol the handshake fails, unless none is offered at all. Where only some
 * server names offer none, the server name decides, and those that offer none choose HTTP/1.1.
 */
export function alpnOptions(
  { entries, select }: TlsTable,
  codecType: CodecType,
): Pick<TlsOptions, 'ALPNProtocols' | 'ALPNCallback'> {
  const lists = entries.map((entry) => protocolsOf(entry, codecType));
  const [first = [HTTP1]] = lists;
  if (lists.every((list) => list.join() === first.join())) return { ALPNProtocols: [...first] };
  return {
    ALPNCallback: ({ servername, protocols }) => {
      const entry = select(servername || undefined);
      const offered = entry ? protocolsOf(entry, codecType) : [];
      return (offered.length > 0 ? offered : [HTTP1]).find((protocol) => protocols.includes(protocol));
    },
  };
}
