import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { expect } from 'chai';
import type { JWK } from 'jose';
import type { JwtProvider } from '@edge-gateway/core/schema';
import { CLAIMS, signAs } from '../../../core/test/security/jwt/attack-contract.ts';
import { jwt } from '../../src/index.ts';
import { createIssuer, ISSUER, serve, testContext, type Answer, type Issuer } from '../issuer.ts';

/** A provider with these keys. */
export const providerWith = (...keys: JWK[]): JwtProvider => ({
  issuer: ISSUER,
  audiences: [],
  jwks: { local: { key: JSON.stringify({ keys }) } },
});

/** A server that trusts two keys, and somebody whose key has the `kid` of one of them. */
export interface Arena {
  readonly rsa: Issuer;
  readonly ec: Issuer;
  readonly attacker: Issuer;
  ask(token: string, path?: string): Promise<Answer>;
  /** Sends a token and expects 401, or 431 for one that is too long; never a trace of it. */
  refused(token: string, body?: string | RegExp): Promise<void>;
  /** What a request with these raw headers is told, whose size nothing has limited; nothing when it gets through. */
  judge(...rawHeaders: string[]): Promise<string | undefined>;
  /** Signs with the RSA key whatever the header says. */
  signed(header: object, claims?: object | string, key?: Issuer): string;
  close(): Promise<void>;
}

export async function createArena(): Promise<Arena> {
  const [rsa, ec, attacker] = await Promise.all([
    createIssuer('RS256', 'rsa'),
    createIssuer('ES256', 'ec'),
    createIssuer('RS256', 'rsa'),
  ]);
  const handler = jwt({ providers: { main: providerWith(rsa.jwk, ec.jwk) }, onRefusal: 'next' }, testContext());
  const server = await serve(handler);
  const ask = (token: string, path = '/') => server.ask(path, { authorization: `Bearer ${token}` });
  return {
    rsa,
    ec,
    attacker,
    ask,
    async refused(token, body) {
      const answer = await ask(token);
      expect([401, 431], answer.body).to.include(answer.status);
      expect(answer.body).to.not.include(token);
      if (typeof body === 'string') expect(answer.body).to.equal(body);
      else if (body) expect(answer.body).to.match(body);
    },
    async judge(...rawHeaders) {
      const req = Object.assign(new IncomingMessage(new Socket()), { method: 'GET', url: '/', rawHeaders });
      const error = await new Promise((resolve) => handler(req, new ServerResponse(req), resolve));
      return (error as Error | undefined)?.message;
    },
    signed: (header, claims = CLAIMS, key = rsa) => signAs(key, header, claims),
    close: server.close,
  };
}
