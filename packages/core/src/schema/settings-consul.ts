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
} from './field.ts';

const consul = block({
  address: text('Deprecated; see `httpAddress`.'),
  httpAddress: text('Address of the HTTP API.'),
  datacenter: text('Data centre. Default: that of the agent.'),
  username: text('User.'),
  password: text('Password.', secret),
  token: text('Token.', secret),
  caFile: text('File with root certificates.'),
  caPath: text('Directory with root certificates.'),
  certFile: text('File with the client certificate.'),
  keyFile: text('File with its key.'),
  insecureSkipVerify: bool('Does not check the certificate.', { default: false }),
  waitTime: duration('Longest time of a waiting query.'),
  serviceDiscovery: of(
    block({ dataCenters: list(text(), 'Data centres. Empty: all.') }),
    'Makes upstreams of services.',
  ),
  dnsAddress: text('Address for names.', { default: '127.0.0.1:8600' }),
  dnsPollingInterval: duration('Time between look-ups.', { default: '5s' }),
});
/** Connection to Consul. */
export interface ConsulSettings extends Static<typeof consul> {}
export const ConsulSettings = named<ConsulSettings>('ConsulSettings', consul);

const discovery = block({
  useTlsTagging: bool('Services with the tag speak TLS.', { default: false }),
  tlsTagName: text('The tag.', { default: 'gwUseTls' }),
  rootCa: ref('Secret with root certificates of such services.'),
  splitTlsServices: bool('Makes a second upstream of instances that speak TLS.', { default: false }),
  consistencyMode: enumeration(['ConsistentMode', 'DefaultMode', 'StaleMode'], 'How fresh answers are.', {
    default: 'ConsistentMode',
  }),
  queryOptions: of(block({ useCache: bool('Lets the agent answer from its cache.', { default: true }) }), 'Queries.'),
  serviceTagsAllowlist: list(text(), 'Tags of which a service has to carry one. Empty: all.'),
  edsBlockingQueries: anything('Waits for changes of endpoints instead of asking again.'),
});
/** Upstreams from Consul. */
export interface ConsulDiscovery extends Static<typeof discovery> {}
export const ConsulDiscovery = named<ConsulDiscovery>('ConsulDiscovery', discovery);
