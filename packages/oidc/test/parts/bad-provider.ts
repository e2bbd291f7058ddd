import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT, type JWTPayload } from 'jose';

/** An identity provider that does what a test tells it to. */
export interface BadProvider {
  readonly issuer: string;
  /** Parameters of the last authorization request. */
  last: URLSearchParams;
  /** Added to, or taken out of (`undefined`), the callback. */
  callback: Record<string, string | undefined>;
  /** Changes the claims of the id token. */
  claims: (claims: JWTPayload) => JWTPayload;
  /** Replaces the answer of the token endpoint. */
  token: ((answer: Record<string, unknown>) => { status?: number; body: unknown }) | undefined;
  /** Changes what discovery says. */
  metadata: Record<string, unknown>;
  /** Body of the last token request. */
  tokenRequest: URLSearchParams;
  tokenHeaders: Record<string, unknown>;
  tokenCalls: number;
  /** The token endpoint answers after this. */
  delay: Promise<void> | undefined;
  keyCalls: number;
  /** The path of each request, in turn. Paths below `/2` do the same as those without it. */
  readonly paths: string[];
  /** Answers in place of the provider, as it likes; return true when it does. */
  intercept: ((req: IncomingMessage, res: ServerResponse, body: string) => boolean) | undefined;
  /** Replaces the key set. */
  keys: (() => { status?: number; body: unknown }) | undefined;
  /** Id of the key. Default: another for each key. */
  keyId: string | undefined;
  /** Signs from now on with another key; the one before is gone. */
  rotate(): Promise<void>;
  sign(claims: JWTPayload, header?: Record<string, string>): Promise<string>;
  reset(): void;
  close(): Promise<void>;
}

export async function startBadProvider(): Promise<BadProvider> {
  let generation = 0;
  /** By code: many may log in at once. */
  const nonces = new Map<string, string | null>();
  let keys = await generateKeyPair('RS256');
  const kid = (): string => provider.keyId ?? `key-${generation}`;
  const server = createServer((req, res) => {
    let body = '';
    if (req.url?.endsWith('/token')) provider.tokenHeaders = req.headers;
    req.on('data', (chunk: Buffer) => (body += chunk.toString()));
    req.on('end', () => {
      provider.paths.push(new URL(req.url ?? '/', issuer).pathname);
      if (provider.intercept?.(req, res, body)) return;
      handle(req.url ?? '/', body).then(
        ({ status = 200, headers = {}, body: out }) => {
          const text = typeof out === 'string' ? out : JSON.stringify(out);
          res.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text);
        },
        (error: Error) => res.writeHead(500).end(error.message),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const provider: BadProvider = {
    issuer,
    last: new URLSearchParams(),
    callback: {},
    claims: (claims) => claims,
    token: undefined,
    metadata: {},
    tokenRequest: new URLSearchParams(),
    tokenHeaders: {},
    tokenCalls: 0,
    delay: undefined,
    keyCalls: 0,
    paths: [],
    intercept: undefined,
    keys: undefined,
    keyId: undefined,
    async rotate() {
      generation++;
      keys = await generateKeyPair('RS256');
    },
    sign: (claims, header = {}) =>
      new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: kid(), ...header }).sign(keys.privateKey),
    reset() {
      Object.assign(provider, {
        callback: {},
        claims: (claims: JWTPayload) => claims,
        token: undefined,
        keys: undefined,
        keyId: undefined,
        intercept: undefined,
        delay: undefined,
        metadata: {},
      });
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };

  interface Answer {
    readonly status?: number;
    readonly headers?: Record<string, string>;
    readonly body?: unknown;
  }

  async function handle(url: string, body: string): Promise<Answer> {
    const at = new URL(url.replace(/^\/2(?=\/)/, ''), issuer);
    if (at.pathname === '/.well-known/openid-configuration') return { body: discovery() };
    if (at.pathname === '/jwks') {
      provider.keyCalls++;
      if (provider.keys) return provider.keys();
      return { body: { keys: [{ ...(await exportJWK(keys.publicKey)), kid: kid(), use: 'sig', alg: 'RS256' }] } };
    }
    if (at.pathname === '/authorize') return authorize(at.searchParams);
    if (at.pathname === '/token') return token(body);
    return { status: 404, body: {} };
  }

  const discovery = (): Record<string, unknown> => ({
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/jwks`,
    id_token_signing_alg_values_supported: ['RS256'],
    code_challenge_methods_supported: ['S256'],
    ...provider.metadata,
  });

  function authorize(parameters: URLSearchParams): Answer {
    provider.last = parameters;
    const code = `a-code-${nonces.size}`;
    nonces.set(code, parameters.get('nonce'));
    const back = new URL(parameters.get('redirect_uri')!);
    const answer: Record<string, string | undefined> = {
      code,
      state: parameters.get('state')!,
      ...provider.callback,
    };
    for (const [name, value] of Object.entries(answer)) if (value !== undefined) back.searchParams.append(name, value);
    return { status: 302, headers: { location: back.href }, body: '' };
  }

  async function token(body: string): Promise<Answer> {
    provider.tokenCalls++;
    await provider.delay;
    const request = new URLSearchParams(body);
    provider.tokenRequest = request;
    const now = Math.floor(Date.now() / 1000);
    const claims = provider.claims({
      iss: issuer,
      sub: 'someone',
      aud: 'web',
      iat: now,
      exp: now + 600,
      nonce: nonces.get(request.get('code') ?? '') ?? provider.last.get('nonce') ?? undefined,
    });
    const answer = {
      access_token: 'opaque',
      token_type: 'Bearer',
      expires_in: 600,
      id_token: await provider.sign(claims),
    };
    return provider.token ? provider.token(answer) : { body: answer };
  }

  return provider;
}
