import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { decode, encode, type Answer } from 'dns-packet';
import { whenDone } from '../../forward/harness.ts';

/** How the server answers questions about a name: addresses, an error, nothing at all, or an answer without addresses. */
export interface Zone {
  readonly a?: readonly string[];
  readonly aaaa?: readonly string[];
  /** In seconds. Default: 60. */
  readonly ttl?: number;
  /** TTL of IPv6 addresses. Default: `ttl`. */
  readonly ttl6?: number;
  readonly fails?: 'NXDOMAIN' | 'SERVFAIL' | 'silent' | 'empty';
  /** Types that are never answered. */
  readonly silent?: 'A' | 'AAAA';
}

export interface DnsServer {
  /** `address:port`. */
  readonly address: string;
  /** Zones by name. Unknown names do not exist. */
  readonly zones: Map<string, Zone>;
  /** Questions received, `type name`. */
  readonly questions: string[];
  /** Number of questions for IPv4 addresses of a name. */
  asked(name: string): number;
}

const CODES = { NXDOMAIN: 3, SERVFAIL: 2 };

/** Starts a DNS server on this machine. */
export async function dnsServer(zones: Record<string, Zone> = {}): Promise<DnsServer> {
  const socket = createSocket('udp4');
  const known = new Map(Object.entries(zones));
  const questions: string[] = [];
  socket.on('message', (message, { port, address }) => {
    const { id, questions: [question] = [] } = decode(message);
    const { name, type } = question!;
    questions.push(`${type} ${name}`);
    const zone = known.get(name.toLowerCase()) ?? { fails: 'NXDOMAIN' };
    if (zone.fails === 'silent' || zone.silent === type) return;
    const code = zone.fails === 'NXDOMAIN' || zone.fails === 'SERVFAIL' ? CODES[zone.fails] : 0;
    const addresses = (code === 0 && zone.fails === undefined && (type === 'A' ? zone.a : zone.aaaa)) || [];
    const answers = addresses.map(
      (data) => ({ type, name, ttl: (type === 'AAAA' ? zone.ttl6 : undefined) ?? zone.ttl ?? 60, data }) as Answer,
    );
    socket.send(encode({ type: 'response', id, flags: 0x180 | code, questions: [question!], answers }), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  whenDone(() => void socket.close());
  return {
    address: `127.0.0.1:${socket.address().port}`,
    zones: known,
    questions,
    asked: (name) => questions.filter((each) => each === `A ${name}`).length,
  };
}
