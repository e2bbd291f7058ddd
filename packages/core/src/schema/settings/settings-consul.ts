import * as f from '../field.ts';

const consul = f.block({
  address: f.text('Deprecated; see `httpAddress`.'),
  httpAddress: f.text('Address of the HTTP API.'),
  datacenter: f.text('Data center. Default: that of the agent.'),
  username: f.text('User.'),
  password: f.text('Password.', f.secret),
  token: f.text('Token.', f.secret),
  caFile: f.text('File with root certificates.'),
  caPath: f.text('Directory with root certificates.'),
  certFile: f.text('File with the client certificate.'),
  keyFile: f.text('File with its key.'),
  insecureSkipVerify: f.flag('Skips certificate verification.'),
  waitTime: f.duration('Maximum time of a blocking query.'),
  serviceDiscovery: f.group('Creates upstreams for services.', { dataCenters: f.texts('Data centers. Empty: all.') }),
  dnsAddress: f.text('Address of the DNS interface.', { default: '127.0.0.1:8600' }),
  dnsPollingInterval: f.duration('Interval between lookups.', { default: '5s' }),
});
/** Connection to Consul. */
export interface ConsulSettings extends f.Static<typeof consul> {}
export const ConsulSettings = f.named<ConsulSettings>('ConsulSettings', consul);

const discovery = f.block({
  useTlsTagging: f.flag('Uses TLS for services with the tag.'),
  tlsTagName: f.text('The tag.', { default: 'gwUseTls' }),
  rootCa: f.ref('Secret with root certificates of such services.'),
  splitTlsServices: f.flag('Creates a second upstream for instances with TLS.'),
  consistencyMode: f.choice(['ConsistentMode', 'DefaultMode', 'StaleMode'], 'Consistency of the responses.'),
  queryOptions: f.group('Queries.', {
    useCache: f.bool('Allows the agent to respond from its cache.', { default: true }),
  }),
  serviceTagsAllowlist: f.texts('Tags; a service must have one of them. Empty: all.'),
  edsBlockingQueries: f.anything('Waits for endpoint changes with blocking queries.'),
});
/** Upstreams from Consul. */
export interface ConsulDiscovery extends f.Static<typeof discovery> {}
export const ConsulDiscovery = f.named<ConsulDiscovery>('ConsulDiscovery', discovery);
