import type { TlsOptions } from 'node:tls';
import type { TlsEntry } from './tls-entry.ts';
import type { TlsTable } from './tls-table.ts';

const HTTP1 = 'http/1.1';

/** The protocols that an entry offers. HTTP/2 is not offered: the listener could not speak it. */
function protocolsOf({ configuration }: TlsEntry): readonly string[] {
  const { alpnProtocols = [HTTP1] } = configuration.sslConfig;
  return alpnProtocols.filter((protocol) => protocol !== 'h2' && protocol !== 'allow_empty');
}

/**
 * Returns how a listener negotiates the protocol. Without a common protocol the handshake fails, unless none is offered at all. Where only some
 * server names offer none, the server name decides, and those that offer none choose HTTP/1.1.
 */
export function alpnOptions({ entries, select }: TlsTable): Pick<TlsOptions, 'ALPNProtocols' | 'ALPNCallback'> {
  const lists = entries.map(protocolsOf);
  const [first = [HTTP1]] = lists;
  if (lists.every((list) => list.join() === first.join())) return { ALPNProtocols: [...first] };
  return {
    ALPNCallback: ({ servername, protocols }) => {
      const entry = select(servername || undefined);
      const offered = entry ? protocolsOf(entry) : [];
      return (offered.length > 0 ? offered : [HTTP1]).find((protocol) => protocols.includes(protocol));
    },
  };
}
