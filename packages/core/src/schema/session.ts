import { block, bool, duration, enumeration, int, named, of, ref, text, type Static } from './field.ts';

const redis = block({
  host: text(
    'Address: `host:port`, `redis://user:password@host:port`, `rediss://…` (TLS) or `unix://user:password@/path`.',
  ),
  db: int('Number of the database.', { minimum: 0, default: 0 }),
  poolSize: int('Connections, used in turn. Default: one, which commands share without waiting for each other.', {
    minimum: 0,
  }),
  socketType: enumeration(['TCP', 'TLS'], 'Plain or TLS.', { default: 'TCP' }),
  tlsCertMountPath: text(
    'Directory with `ca.crt` (who signs the server) and, for a client certificate, `tls.crt` and `tls.key`.',
  ),
});
/** Connection to Redis. */
export interface RedisOptions extends Static<typeof redis> {}
export const RedisOptions = named<RedisOptions>('RedisOptions', redis);

const targetDomain = text('Requests whose host does not belong to this domain are refused.');
const fields = block(
  {
    failOnFetchFailure: bool('Refuses when the store is away; false begins a new login.', { default: false }),
    cookieOptions: of(
      block({
        maxAge: int('Lifetime in seconds; 0 ends with the browser.', { minimum: 0, default: 2592000 }),
        notSecure: bool('Leaves `Secure` out.', { default: false }),
        httpOnly: bool('Hides the cookie from scripts.', { default: true }),
        path: text('Path; empty leaves it out.', { default: '/' }),
        sameSite: enumeration(
          ['DefaultMode', 'LaxMode', 'StrictMode', 'NoneMode'],
          'When other sites make the browser send it.',
          { default: 'LaxMode' },
        ),
        domain: text('Domain. Default: the host.'),
      }),
      'Attributes of cookies.',
    ),
    forwardCookies: bool(
      'Extension of this gateway. Leaves the cookies of the session in the request to the upstream, which can then act as the user. Cookies of a login in progress are never forwarded.',
      { default: false },
    ),
    cookie: of(
      block({
        allowRefreshing: bool('Renews tokens that have ended.', { default: false }),
        keyPrefix: text('Begin of cookie names.'),
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
      'Tokens are kept in cookies.',
    ),
    redis: of(
      block({
        options: of(RedisOptions, 'Connection.'),
        cookieName: text(
          'Name of the session cookie. Default: `__Host-__session`, or `__session` where `cookieOptions` do not allow the prefix.',
        ),
        keyPrefix: text('Begin of keys in Redis.'),
        allowRefreshing: bool('Renews tokens that have ended.', { default: true }),
        preExpiryBuffer: duration('Time before their end at which tokens are renewed.', { default: '2s' }),
        headerName: text('Header that tells the provider the session id.'),
        targetDomain,
      }),
      'Tokens are kept in Redis.',
    ),
    cipherConfig: of(block({ keyRef: ref('Secret with a key of 32 bytes.') }), 'Encrypts cookie values.'),
  },
  { oneOf: [{ members: ['cookie', 'redis'] }] },
);
/** Where logins are kept. Unset: in cookies. */
export interface UserSession extends Static<typeof fields> {}
export const UserSession = named<UserSession>('UserSession', fields);
