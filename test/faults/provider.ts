import { createHash, createSign, generateKeyPairSync, randomBytes, type KeyObject } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

export const CLIENT_ID = 'web';
export const CLIENT_SECRET = 'a-secret-of-more-than-thirty-two-characters';
/** Tells the provider who sits at the browser: nobody has to fill in a form. */
export const WHO_HEADER = 'x-who';
/** People whose address begins so get access tokens that end soon. */
export const BRIEF = 'brief-';
export const BRIEF_SECONDS = 5;

const HOUR_SECONDS = 3600;

/** An identity provider for many people at once, with rotating refresh tokens, that can be broken in every way. */
export interface Provider {
  readonly issuer: string;
  /** Added to every time that it writes. */
  clockSeconds: number;
  /** How long access tokens of people with `BRIEF` hold; `BRIEF_SECONDS`. */
  briefSeconds: number;
  /** How long id tokens hold; an hour. */
  idSeconds: number;
  /** Answers in place of the provider; true when it did. */
  intercept: ((req: IncomingMessage, res: ServerResponse, form: URLSearchParams) => boolean) | undefined;
  /** How often the key set was read. */
  keyReads: number;
  /** Whose refresh tokens came, good or not, in order. */
  readonly refreshes: string[];
  /** Who began to log in, in order. */
  readonly authorizations: string[];
  /** Signs with another key from now on; the one before is gone. */
  rotate(): void;
  /** A token with these claims beside issuer and times, good for an hour. */
  sign(claims: Readonly<Record<string, unknown>>): string;
  /** Ends all refresh tokens of someone. */
  revoke(email: string): void;
  /** To whom a refresh token belongs. */
  ownerOf(refreshToken: string): string | undefined;
  /** Refuses connections from now on. */
  stop(): Promise<void>;
  /** Takes them again, on the same port. */
  start(): Promise<void>;
}

interface Code {
  readonly email: string;
  readonly nonce: string | null;
  readonly challenge: string | null;
}

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

export async function startProvider(): Promise<Provider> {
  const codes = new Map<string, Code>();
  /** Of all refresh tokens that there ever were. */
  const owners = new Map<string, string>();
  const good = new Set<string>();
  let serial = 0;
  let key = createKey(serial);
  const server = createServer((req, res) => {
    let body = '';
    req.on('data', (chunk: Buffer) => (body += chunk.toString()));
    req.on('end', () => answer(req, res, new URLSearchParams(body)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const issuer = `http://127.0.0.1:${port}`;
  const now = (): number => Math.floor(Date.now() / 1000) + provider.clockSeconds;

  const provider: Provider = {
    issuer,
    clockSeconds: 0,
    intercept: undefined,
    keyReads: 0,
    refreshes: [],
    authorizations: [],
    briefSeconds: BRIEF_SECONDS,
    idSeconds: HOUR_SECONDS,
    rotate() {
      key = createKey(++serial);
    },
    sign(claims) {
      const times = { iss: issuer, iat: now(), exp: now() + HOUR_SECONDS };
      const input = `${part({ alg: 'RS256', kid: key.kid })}.${part({ ...times, ...claims })}`;
      return `${input}.${createSign('sha256').update(input).sign(key.privateKey, 'base64url')}`;
    },
    revoke(email) {
      for (const [token, owner] of owners) if (owner === email) good.delete(token);
    },
    ownerOf: (token) => owners.get(token),
    async stop() {
      if (!server.listening) return;
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
    async start() {
      // Someone else may have got the port for a moment.
      for (let left = 50; !server.listening; left--) {
        server.listen(port, '127.0.0.1');
        await once(server, 'listening').catch((error: unknown) => (left > 0 ? wait(100) : Promise.reject(error)));
      }
    },
  };

  function answer(req: IncomingMessage, res: ServerResponse, form: URLSearchParams): void {
    if (provider.intercept?.(req, res, form)) return;
    const at = new URL(req.url ?? '/', issuer);
    if (at.pathname === '/authorize') return authorize(req, res, at.searchParams);
    const documents: Record<string, () => object> = {
      '/.well-known/openid-configuration': discovery,
      '/jwks': () => (provider.keyReads++, { keys: [key.jwk] }),
      '/token': () => tokens(form),
    };
    const found = documents[at.pathname]?.() ?? { error: 'not_found' };
    res.writeHead('error' in found ? 400 : 200, { 'content-type': 'application/json' }).end(JSON.stringify(found));
  }

  const discovery = (): object => ({
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/jwks`,
    id_token_signing_alg_values_supported: ['RS256'],
    code_challenge_methods_supported: ['S256'],
  });

  function authorize(req: IncomingMessage, res: ServerResponse, asked: URLSearchParams): void {
    const code = randomBytes(16).toString('hex');
    const email = String(req.headers[WHO_HEADER] ?? '');
    provider.authorizations.push(email);
    codes.set(code, { email, nonce: asked.get('nonce'), challenge: asked.get('code_challenge') });
    const back = new URL(asked.get('redirect_uri')!);
    back.searchParams.set('code', code);
    back.searchParams.set('state', asked.get('state') ?? '');
    res.writeHead(302, { location: back.href }).end();
  }

  function tokens(form: URLSearchParams): object {
    if (form.get('grant_type') === 'refresh_token') return refreshed(form.get('refresh_token') ?? '');
    const code = codes.get(form.get('code') ?? '');
    codes.delete(form.get('code') ?? '');
    const proof = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    return code?.challenge === proof ? granted(code.email, code.nonce) : { error: 'invalid_grant' };
  }

  function refreshed(token: string): object {
    const email = owners.get(token);
    if (email !== undefined) provider.refreshes.push(email);
    // Each is good for one call.
    return email !== undefined && good.delete(token) ? granted(email, null) : { error: 'invalid_grant' };
  }

  function granted(email: string, nonce: string | null): object {
    const refreshToken = randomBytes(16).toString('hex');
    owners.set(refreshToken, email);
    good.add(refreshToken);
    return {
      access_token: randomBytes(16).toString('hex'),
      token_type: 'Bearer',
      expires_in: email.startsWith(BRIEF) ? provider.briefSeconds : HOUR_SECONDS,
      refresh_token: refreshToken,
      id_token: provider.sign({
        sub: email,
        email,
        aud: CLIENT_ID,
        exp: now() + provider.idSeconds,
        ...(nonce !== null && { nonce }),
      }),
    };
  }

  return provider;
}

function createKey(serial: number): { readonly kid: string; readonly privateKey: KeyObject; readonly jwk: object } {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const kid = `key-${serial}`;
  return { kid, privateKey, jwk: { ...publicKey.export({ format: 'jwk' }), kid, alg: 'RS256', use: 'sig' } };
}
