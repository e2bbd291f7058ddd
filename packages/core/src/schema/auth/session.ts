import { block, bool, duration, enumeration, int, named, of, ref, text, type Static } from '../field.ts';

const redis = block({
  host: text(
    'Address: `host:port`, `redis://user:password@host:port`, `rediss://…` (TLS) or `unix://user:password@/path`.',
  ),
  db: int('Number of the database.', { minimum: 0, default: 0 }),
  poolSize: int('Number of connections, used in turn. Default: one, with pipelined commands.', {
    minimum: 0,
  }),
  socketType: enumeration(['TCP', 'TLS'], 'Plain or TLS.', { default: 'TCP' }),
  tlsCertMountPath: text(
    'Directory with `ca.crt` (the CA of the server certificate) and, for a client certificate, `tls.crt` and `tls.key`.',
  ),
});
/** Connection to Redis. */
export interface RedisOptions extends Static<typeof redis> {}
export const RedisOptions = named<RedisOptions>('RedisOptions', redis);

const targetDomain = text('Domain of the hosts; requests with another host are rejected.');
const fields = block(
  {
    failOnFetchFailure: bool('Rejects requests while the store is unavailable; false starts a new login.', {
      default: false,
    }),
    cookieOptions: of(
      block({
        maxAge: int('Lifetime in seconds; 0 ends with the browser session.', { minimum: 0, default: 2592000 }),
        notSecure: bool('Omits `Secure`.', { default: false }),
        httpOnly: bool('Hides the cookie from scripts.', { default: true }),
        path: text('Path; empty omits it.', { default: '/' }),
        sameSite: enumeration(
          ['DefaultMode', 'LaxMode', 'StrictMode', 'NoneMode'],
          'When browsers send the cookie in requests from other sites.',
          { default: 'LaxMode' },
        ),
        domain: text('Domain. Default: the host.'),
      }),
      'Attributes of cookies.',
    ),
    forwardCookies: bool(
      'Extension of this gateway. Forwards the session cookies to the upstream, which can then act as the user. Cookies of a login in progress are never forwarded.',
      { default: false },
    ),
    cookie: of(
      block({
        allowRefreshing: bool('Refreshes expired tokens.', { default: false }),
        keyPrefix: text('Prefix of cookie names.'),
        logoutDenyList: of(
          block({
            duration: duration(
              'How long the cookies of a session are denied after its logout. Copies work again afterwards, unless their tokens have expired.',
              { default: '1h' },
            ),
            redis: of(
              RedisOptions,
              'Redis through which processes share the list. Default: each process has its own list, in memory.',
            ),
          }),
          'Extension of this gateway. Denies copies of the cookies of a session that was logged out. Default: copies work until their tokens expire.',
        ),
        targetDomain,
      }),
      'Stores tokens in cookies.',
    ),
    redis: of(
      block({
        options: of(RedisOptions, 'Connection.'),
        cookieName: text(
          'Name of the session cookie. Default: `__Host-__session`, or `__session` if `cookieOptions` do not allow the prefix.',
        ),
        keyPrefix: text('Prefix of keys in Redis.'),
        allowRefreshing: bool('Refreshes expired tokens.', { default: true }),
        preExpiryBuffer: duration('How long before their expiry tokens are refreshed.', { default: '2s' }),
        headerName: text('Header that sends the session id to the provider.'),
        targetDomain,
      }),
      'Stores tokens in Redis.',
    ),
    cipherConfig: of(
      block({ keyRef: ref('Secret with a `key` of 32 bytes, and a `previous-key` while the key is replaced.') }),
      'Encrypts cookie values.',
    ),
  },
  { oneOf: [{ members: ['cookie', 'redis'] }] },
);
/** Where sessions are stored. Unset: in cookies. */
export interface UserSession extends Static<typeof fields> {}
export const UserSession = named<UserSession>('UserSession', fields);
