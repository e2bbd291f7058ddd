import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { buildSchema } from 'graphql';
import { MemoryStore } from 'express-session';
import { createContext } from '@edge-gateway/core';
import { azureGroups, oidcMethod } from '@edge-gateway/oidc';
import { createMemoryStore } from '@edge-gateway/rate-limit';
import { ROOT } from './docs/workspace.ts';

type Create = (options: unknown) => unknown;
type Options = Readonly<Record<string, unknown>>;

const NAMES = JSON.parse(readFileSync(join(ROOT, 'test', 'public-names.json'), 'utf8')) as Record<string, string[]>;

const KEY = { kty: 'oct', k: 'AAAA' };
const SECRET = 'a secret of more than 32 characters, for tests';
const LIMIT = { requestsPerUnit: 1, unit: 'HOUR' };
const BOOKS = {
  schemaDefinition: 'type Query { book: String @resolve(name: "book") }',
  resolutions: { book: { mockResolver: { syncResponse: null } } },
};
const LOGIN = {
  issuerUrl: 'https://id.example.com',
  clientId: 'app',
  clientSecret: SECRET,
  appUrl: 'https://app.example.com',
  callbackPath: '/callback',
};

/** Valid options of every public middleware: each option of its own occurs in one of them. */
const MIDDLEWARES: Readonly<Record<string, readonly Options[]>> = {
  '@edge-gateway/routing buffer': [{ buffer: { maxRequestBytes: 10 } }, { disabled: true }],
  '@edge-gateway/routing compress': [{ compressionLevel: 'BEST', contentType: ['text/html'], encodings: ['gzip'] }],
  '@edge-gateway/routing cors': [
    { allowOrigin: ['https://a.example'], allowMethods: ['GET'], maxAge: '1h', allowCredentials: true },
  ],
  '@edge-gateway/routing csrf': [
    { filterEnabled: { defaultValue: { numerator: 100 } }, additionalOrigins: [{ exact: 'a' }] },
  ],
  '@edge-gateway/routing dlp': [{ actions: [{ actionType: 'VISA' }], enabledFor: 'ALL' }],
  '@edge-gateway/routing forwardTo': [
    {
      target: 'http://127.0.0.1:1',
      timeoutMs: 5,
      headers: { 'x-a': 'b', 'x-c': null },
      keepHost: true,
      trustForwarded: true,
    },
  ],
  '@edge-gateway/routing createRouter': [
    {
      concerns: [],
      actions: [],
      context: createContext(),
      listener: 'web',
      fallthrough: 'notFound',
      accessLog: 'none',
      accessLogOverflow: 'drop',
      isHealthy: () => true,
      http2Client: 'direct',
    },
  ],
  '@edge-gateway/routing transform': [{ requestTransforms: [], responseTransforms: [] }],
  '@edge-gateway/rbac jwt': [
    { providers: { main: { issuer: 'https://id.example.com', jwks: KEY, clockSkewSeconds: 5 } } },
  ],
  '@edge-gateway/rbac rbac': [{ policies: { all: { principals: [] } } }, { disable: true }],
  '@edge-gateway/extauth accessTokenAuth': [
    {
      introspection: { introspectionUrl: 'https://id.example.com/introspect', clientId: 'api', clientSecret: 's' },
      requestTimeout: '1s',
      cacheTimeout: '1m',
      requiredScopes: { scope: ['a'] },
    },
    { jwt: { jwks: { keys: [KEY] }, issuer: 'a', audiences: ['b'] } },
    { introspectionUrl: 'https://id.example.com/introspect', default: {}, groups: azureGroups },
  ],
  '@edge-gateway/extauth apiKeyAuth': [
    {
      keys: ['a', { key: 'b', name: 'shop', metadata: { plan: 'gold' } }],
      headerName: 'x-key',
      headersFromMetadata: { 'x-plan': 'plan' },
      userIdHeader: 'x-user',
    },
  ],
  '@edge-gateway/extauth basicAuth': [
    {
      users: { ann: 'secret', bob: { hash: '$apr1$TYiryv0/$8BvzLUO9IfGPGGsPnAgSu1' } },
      realm: 'a',
      userIdHeader: 'x-user',
    },
  ],
  '@edge-gateway/extauth extauth': [
    {
      config: { configs: [{ basicAuth: { realm: 'a', apr: { users: { ann: { salt: 'a', hashedPassword: 'b' } } } } }] },
      settings: { requestTimeout: '1s' },
      methods: [oidcMethod],
      name: 'own',
    },
  ],
  '@edge-gateway/extauth hmacAuth': [{ users: { shop: 'secret', other: ['a', 'b'] }, userIdHeader: 'x-user' }],
  '@edge-gateway/extauth ldapAuth': [
    {
      address: 'ldap.example.com:389',
      userDnTemplate: 'uid=%s,dc=example',
      allowedGroups: ['cn=staff,dc=example'],
      membershipAttributeName: 'memberOf',
      searchFilter: '(uid=*)',
      serviceAccount: { dn: 'cn=a', password: 'b' },
      maxConnections: 2,
      requestTimeout: '1s',
      userIdHeader: 'x-user',
    },
    { address: 'ldap.example.com:389', userDnTemplate: 'uid=%s,dc=example', allowedGroups: 'any' },
  ],
  '@edge-gateway/extauth opaAuth': [{ policy: { 'a.rego': 'package a' }, query: 'data.a.allow', program: 'opa' }],
  '@edge-gateway/rate-limit rateLimit': [
    {
      requestsPerUnit: 1,
      unit: 'HOUR',
      algorithm: 'TOKEN_BUCKET',
      burst: 2,
      by: { header: 'x-key' },
      basic: { anonymousLimits: LIMIT },
      rules: { descriptors: [{ key: 'plan', rateLimit: LIMIT }] },
      rateLimits: [{ actions: [{ remoteAddress: {} }] }],
      concurrency: [{ maxInFlight: 1, actions: [{ remoteAddress: {} }] }],
      retryAfter: true,
      headers: true,
      store: createMemoryStore(),
      requestTimeout: '50ms',
      denyOnFail: true,
      name: 'own',
    },
    { requestsPerUnit: 1, by: 'user' },
  ],
  '@edge-gateway/oidc oidc': [
    {
      ...LOGIN,
      session: { cookie: { allowRefreshing: true } },
      signingKey: SECRET,
      scopes: ['email'],
      logoutPath: '/logout',
    },
    {
      ...LOGIN,
      session: { store: new MemoryStore(), cookieName: 'a', allowRefreshing: false, preExpiryBuffer: '5s' },
      signingKey: [SECRET],
    },
    { ...LOGIN, session: 'request' },
  ],
  '@edge-gateway/graphql graphqlApi': [
    {
      ...BOOKS,
      upstreams: { books: 'http://127.0.0.1:1' },
      enableIntrospection: true,
      maxDepth: 3,
      persistedQueryCacheConfig: { cacheSize: 5 },
      allowedQueryHashes: ['0'.repeat(64)],
      options: { logSensitiveInfo: true },
      limits: { maxQueryDepth: 3 },
      cache: { get: () => Promise.resolve(undefined), set: () => Promise.resolve() },
      cacheKey: SECRET,
      name: 'own',
    },
    { schema: buildSchema('type Query { a: Int }'), contextValue: () => ({}) },
    {
      remote: { upstreamRef: { name: 'own' } },
      remotePath: '/api',
      schemaChanges: { rejectBreakingChanges: true },
      upstreams: { own: 'http://127.0.0.1:1' },
    },
    {
      stitchedSchema: { subschemas: [{ name: 'books', namespace: 'default' }] },
      apis: {
        books: {
          executableSchema: {
            schemaDefinition: BOOKS.schemaDefinition,
            executor: { local: { resolutions: BOOKS.resolutions } },
          },
        },
      },
    },
  ],
};

/** Functions that create a middleware, by the way they are declared. */
const MIDDLEWARE =
  /^(?:const (\w+)(?:: CreateMiddleware<\w+>)? = asMiddleware\(|function (\w+)\(\s*\w+: \w*Options\b[^{]*(?:\{\})?\): (?:\w*Handler|Router)\b)/gm;

/** Returns the names of the public middlewares of a package. */
function middlewaresOf(entry: string): string[] {
  const source = join(ROOT, 'packages', entry.split('/')[1]!, 'src');
  const index = readFileSync(join(source, 'index.ts'), 'utf8');
  const files = [...index.matchAll(/from '\.\/([^']+)';/g)].map(([, file]) =>
    readFileSync(join(source, file!), 'utf8'),
  );
  const declared = files.flatMap((text) =>
    [...text.replaceAll(/^export /gm, '').matchAll(MIDDLEWARE)].map(([, constant, name]) => (constant ?? name)!),
  );
  return [...new Set(declared)].filter((name) => NAMES[entry]!.includes(name));
}

/** Returns the code and the message of the error that options lead to. */
function thrown(create: Create, options: unknown): string {
  try {
    const handler = create(options) as { close?: () => unknown };
    void handler.close?.();
    return 'nothing';
  } catch (error) {
    const { code, message } = error as { code: string; message: string };
    return `${code} ${message}`;
  }
}

/** Returns a value of another type than all that an option may have. */
const otherType = (value: unknown): readonly [value: unknown, type: string] =>
  typeof value === 'boolean' ? ['false', 'text'] : [true, 'a boolean'];

describe('the options of every public middleware', () => {
  const found = Object.keys(NAMES)
    .filter((entry) => entry.split('/').length === 2)
    .flatMap((entry) => middlewaresOf(entry).map((name) => `${entry} ${name}`));

  it('are in this test', () => {
    expect(found.toSorted()).to.deep.equal(Object.keys(MIDDLEWARES).toSorted());
  });

  for (const [place, valid] of Object.entries(MIDDLEWARES)) {
    const [entry, name] = place.split(' ') as [string, string];
    const isField = /^(?!nothing)ERR_\w+ /;

    describe(place, () => {
      let create: Create;
      before(async () => {
        create = ((await import(entry)) as Record<string, Create>)[name]!;
      });

      it('accepts valid options', () => {
        for (const options of valid) expect(thrown(create, options)).to.equal('nothing');
      });

      it('rejects missing options', () => {
        for (const options of [null, 'text']) expect(thrown(create, options)).to.match(/options are missing|required/);
      });

      it('rejects each misspelt option, and suggests the right one', () => {
        for (const options of valid)
          for (const [key, value] of Object.entries(options)) {
            const { [key]: _, ...others } = options;
            const message = thrown(create, { ...others, [`${key}x`]: value });
            expect(message, key).to.match(isField).and.contain(`${key}x`).and.contain(`did you mean ${key}?`);
          }
      });

      it('rejects each option of another type, and names the type', () => {
        for (const options of valid)
          for (const [key, value] of Object.entries(options)) {
            const [other, type] = otherType(value);
            const message = thrown(create, { ...options, [key]: other });
            expect(message, key)
              .to.match(isField)
              .and.match(new RegExp(`\\b${key}: must be .*\\bgot ${type}`));
          }
      });

      it('rejects an unknown value of onRefusal', () => {
        for (const options of valid)
          expect(thrown(create, { ...options, onRefusal: 'ignore' }))
            .to.match(isField)
            .and.contain('onRefusal');
      });
    });
  }

  const nested: Readonly<Record<string, readonly [place: string, options: Options, message: string]>> = {
    'a limit of a rule that would limit nothing': [
      '@edge-gateway/rate-limit rateLimit',
      { rules: { descriptors: [{ key: 'a', ratelimit: LIMIT }] }, rateLimits: [{ actions: [{ remoteAddress: {} }] }] },
      'rateLimit: rules.descriptors[0].ratelimit: unknown key ratelimit (did you mean rateLimit?)',
    ],
    'a text as a switch': [
      '@edge-gateway/rate-limit rateLimit',
      { requestsPerUnit: 1, denyOnFail: 'false' },
      'rateLimit: denyOnFail: must be true or false, got text',
    ],
    'a misspelt target': [
      '@edge-gateway/routing forwardTo',
      { traget: 'http://127.0.0.1:1' },
      'forwardTo: traget: unknown key traget (did you mean target?)',
    ],
    'options of other proxies': [
      '@edge-gateway/routing forwardTo',
      { target: 'http://127.0.0.1:1', changeOrigin: true },
      'forwardTo: changeOrigin: unknown key changeOrigin',
    ],
    'a step of a chain': [
      '@edge-gateway/extauth extauth',
      { config: { configs: [{ basicAuth: { realm: 'a', arp: {} } }] } },
      'extauth: config.configs[0].basicAuth.arp: unknown key arp (did you mean apr?)',
    ],
    'a field of a key': [
      '@edge-gateway/extauth apiKeyAuth',
      { keys: [{ key: 'a', nmae: 'shop' }] },
      'apiKeyAuth: keys[0].nmae: unknown key nmae (did you mean name?)',
    ],
    'a field of a session': [
      '@edge-gateway/oidc oidc',
      { ...LOGIN, session: { cokie: {} } },
      'oidc: session.cokie: unknown key cokie (did you mean cookie?)',
    ],
    'a field of a resolver': [
      '@edge-gateway/graphql graphqlApi',
      { ...BOOKS, resolutions: { book: { mockResolver: { syncRespons: 1 } } } },
      'graphqlApi: resolutions.book.mockResolver.syncRespons: unknown key syncRespons (did you mean syncResponse?)',
    ],
    'a limit that is no number': [
      '@edge-gateway/graphql graphqlApi',
      { ...BOOKS, limits: { maxQueryDepth: '3' } },
      'graphqlApi: limits.maxQueryDepth: must be a whole number, got text',
    ],
  };
  for (const [what, [place, options, message]] of Object.entries(nested))
    it(`reject ${what}`, async () => {
      const [entry, name] = place.split(' ') as [string, string];
      const { [name]: create } = (await import(entry)) as Record<string, Create>;
      expect(thrown(create!, options)).to.contain(message);
    });
});
