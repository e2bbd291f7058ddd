import * as f from '../field.ts';

const redis = f.block({
  host: f.text(
    'Address: `host:port`, `redis://user:password@host:port`, `rediss://…` (TLS) or `unix://user:password@/path`.',
  ),
  db: f.count('Number of the database.', { default: 0 }),
  poolSize: f.count('Number of connections, used in turn. Default: one, with pipelined commands.'),
  socketType: f.choice(['TCP', 'TLS'], 'Plain or TLS.'),
  tlsCertMountPath: f.text(
    'Directory with `ca.crt` (the CA of the server certificate) and, for a client certificate, `tls.crt` and `tls.key`.',
  ),
});
/** Connection to Redis. */
export interface RedisOptions extends f.Static<typeof redis> {}
export const RedisOptions = f.named<RedisOptions>('RedisOptions', redis);

const targetDomain = f.text('Domain of the hosts; requests with another host are rejected.');
const fields = f.block(f.oneOf(['cookie', 'redis']), {
  failOnFetchFailure: f.flag('Rejects requests while the store is unavailable; false starts a new login.'),
  cookieOptions: f.group('Attributes of cookies.', {
    maxAge: f.count('Lifetime in seconds; 0 ends with the browser session.', { default: 2592000 }),
    notSecure: f.flag('Omits `Secure`.'),
    httpOnly: f.bool('Hides the cookie from scripts.', { default: true }),
    path: f.text('Path; empty omits it.', { default: '/' }),
    sameSite: f.enumeration(
      ['DefaultMode', 'LaxMode', 'StrictMode', 'NoneMode'],
      'When browsers send the cookie in requests from other sites.',
      { default: 'LaxMode' },
    ),
    domain: f.text('Domain. Default: the host.'),
  }),
  forwardCookies: f.flag(
    'Extension of this gateway. Forwards the session cookies to the upstream, which can then act as the user. Cookies of a login in progress are never forwarded.',
  ),
  cookie: f.group('Stores tokens in cookies.', {
    allowRefreshing: f.flag('Refreshes expired tokens.'),
    keyPrefix: f.text('Prefix of cookie names.'),
    logoutDenyList: f.group(
      'Extension of this gateway. Denies copies of the cookies of a session that was logged out. Default: copies work until their tokens expire.',
      {
        duration: f.duration(
          'How long the cookies of a session are denied after its logout. Copies work again afterwards, unless their tokens have expired.',
          { default: '1h' },
        ),
        redis: f.of(
          RedisOptions,
          'Redis through which processes share the list. Default: each process has its own list, in memory.',
        ),
      },
    ),
    targetDomain,
  }),
  redis: f.group('Stores tokens in Redis.', {
    options: f.of(RedisOptions, 'Connection.'),
    cookieName: f.text(
      'Name of the session cookie. Default: `__Host-__session`, or `__session` if `cookieOptions` do not allow the prefix.',
    ),
    keyPrefix: f.text('Prefix of keys in Redis.'),
    allowRefreshing: f.bool('Refreshes expired tokens.', { default: true }),
    preExpiryBuffer: f.duration('How long before their expiry tokens are refreshed.', { default: '2s' }),
    headerName: f.text('Header that sends the session id to the provider.'),
    targetDomain,
  }),
  cipherConfig: f.group('Encrypts cookie values.', {
    keyRef: f.ref('Secret with a `key` of 32 bytes, and a `previous-key` while the key is replaced.'),
  }),
});
/** Where sessions are stored. Unset: in cookies. */
export interface UserSession extends f.Static<typeof fields> {}
export const UserSession = f.named<UserSession>('UserSession', fields);
