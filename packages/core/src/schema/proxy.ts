import { anything, block, bool, int, list, map, named, notYet, of, text, type Static } from './field.ts';
import { ConnectionMatcher, TcpHost } from './gateway.ts';
import { HttpListenerOptions, ListenerOptions, RouteConfigOptions, TcpListenerOptions } from './gateway-options.ts';
import { SslConfig } from './ssl-config.ts';

const statPrefix = text('Prefix of the statistics.', { default: 'http' });
const httpListener = of(
  block({
    virtualHosts: list(anything(), 'The virtual hosts, with delegation expanded.'),
    options: of(HttpListenerOptions, 'HTTP options.'),
    statPrefix,
  }),
  'Serves HTTP.',
);
const tcpListener = of(
  block({
    tcpHosts: list(TcpHost, 'The hosts.'),
    options: of(TcpListenerOptions, 'TCP options.'),
    statPrefix,
  }),
  'Serves TCP.',
);
const hybridListener = block({
  matchedListeners: list(
    block({
      matcher: of(ConnectionMatcher, 'Connections it takes.'),
      httpListener,
      tcpListener,
      sslConfigurations: list(SslConfig, 'Certificates.'),
    }),
    'The inner listeners.',
  ),
});
const aggregateListener = block({
  httpResources: of(
    block({
      virtualHosts: map(anything(), 'Virtual hosts by name.'),
      httpOptions: map(HttpListenerOptions, 'HTTP options by name.'),
    }),
    'What the chains refer to.',
  ),
  httpFilterChains: list(
    block({
      matcher: of(ConnectionMatcher, 'Connections it takes.'),
      httpOptionsRef: text('Name of its options.'),
      virtualHostRefs: list(text(), 'Names of its virtual hosts.'),
    }),
    'The chains.',
  ),
  tcpListeners: list(anything(), 'TCP listeners.'),
});

const listener = block(
  {
    name: text('`listener-<address>-<port>`.'),
    bindAddress: text('Address to listen on.'),
    bindPort: int('Port to listen on.', { minimum: 0, maximum: 65535 }),
    options: of(ListenerOptions, 'Options of the listener.'),
    routeOptions: of(RouteConfigOptions, 'Options of all its routes.'),
    useProxyProto: bool('Reads the PROXY header.', { default: false }),
    sslConfigurations: list(SslConfig, 'Certificates.'),
    metadataStatic: of(
      block({
        sources: list(
          block({
            resourceRef: anything('Name and namespace.'),
            resourceKind: text('Kind.'),
            observedGeneration: anything('Generation.'),
          }),
          'The resources.',
        ),
      }),
      'Which resources it was made from.',
    ),
    httpListener,
    tcpListener,
    hybridListener: of(hybridListener, 'Several inner listeners.'),
    aggregateListener: of(aggregateListener, 'A chain for each certificate.'),
  },
  { oneOf: [{ members: ['httpListener', 'tcpListener', 'hybridListener', 'aggregateListener'] }] },
);

const fields = block({
  listeners: list(listener, 'The listeners. Written by translation; reading one has no effect.', notYet),
  compressedSpec: text('The same, compressed and as base64.', notYet),
});
/** `spec` of a Proxy, which translation writes. */
export interface ProxySpec extends Static<typeof fields> {}
export const ProxySpec = named<ProxySpec>('ProxySpec', fields);
