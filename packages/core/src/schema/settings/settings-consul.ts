import {
  anything,
  block,
  bool,
  duration,
  enumeration,
  list,
  named,
  of,
  ref,
  secret,
  text,
  type Static,
} from '../field.ts';

const consul = block({
  address: text('Deprecated; see `httpAddress`.'),
  httpAddress: text('Address of the HTTP API.'),
  datacenter: text('Data center. Default: that of the agent.'),
  username: text('User.'),
  password: text('Password.', secret),
  token: text('Token.', secret),
  caFile: text('File with root certificates.'),
  caPath: text('Directory with root certificates.'),
  certFile: text('File with the client certificate.'),
  keyFile: text('File with its key.'),
  insecureSkipVerify: bool('Skips certificate verification.', { default: false }),
  waitTime: duration('Maximum time of a blocking query.'),
  serviceDiscovery: of(
    block({ dataCenters: list(text(), 'Data centers. Empty: all.') }),
    'Creates upstreams for services.',
  ),
  dnsAddress: text('Address of the DNS interface.', { default: '127.0.0.1:8600' }),
  dnsPollingInterval: duration('Interval between lookups.', { default: '5s' }),
});
/** Connection to Consul. */
export interface ConsulSettings extends Static<typeof consul> {}
export const ConsulSettings = named<ConsulSettings>('ConsulSettings', consul);

const discovery = block({
  useTlsTagging: bool('Uses TLS for services with the tag.', { default: false }),
  tlsTagName: text('The tag.', { default: 'gwUseTls' }),
  rootCa: ref('Secret with root certificates of such services.'),
  splitTlsServices: bool('Creates a second upstream for instances with TLS.', { default: false }),
  consistencyMode: enumeration(['ConsistentMode', 'DefaultMode', 'StaleMode'], 'How fresh answers are.', {
    default: 'ConsistentMode',
  }),
  queryOptions: of(
    block({ useCache: bool('Allows the agent to respond from its cache.', { default: true }) }),
    'Queries.',
  ),
  serviceTagsAllowlist: list(text(), 'Tags; a service must have one of them. Empty: all.'),
  edsBlockingQueries: anything('Waits for endpoint changes with blocking queries.'),
});
/** Upstreams from Consul. */
export interface ConsulDiscovery extends Static<typeof discovery> {}
export const ConsulDiscovery = named<ConsulDiscovery>('ConsulDiscovery', discovery);
