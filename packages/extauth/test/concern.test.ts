import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { expect } from 'chai';
import { createContext, DEFAULT_SNAPSHOT_SETTINGS, factsOf, type AuthMethodKind, type Scope } from '@edge-gateway/core';
import { createExtAuth } from '../src/index.ts';

const REF = { namespace: 'n', name: 'c' };

/** Denies every request, with the headers of an auth server. */
const denying: AuthMethodKind = {
  type: 'jwt',
  create: () => ({
    authorize: () => ({
      allowed: false,
      status: 403,
      reason: 'no',
      headers: ['X-Request-Id', 'theirs', 'Set-Cookie', 'a=1', 'Set-Cookie', 'b=2'],
    }),
  }),
};

describe('a denial in the gateway', () => {
  it('replaces the request id of the response, and keeps all cookies', async () => {
    const virtualHost = { authConfigs: [{ ref: REF, spec: { configs: [{ jwt: {} }] } }], options: {}, routes: [] };
    const scope = { virtualHost, settings: DEFAULT_SNAPSHOT_SETTINGS } as unknown as Scope;
    const handler = createExtAuth({ methods: [denying] }).compile({ configRef: REF }, createContext(), scope)!;
    const req = new IncomingMessage(new Socket());
    const error = await new Promise((resolve) => handler(req, new ServerResponse(req), resolve));
    expect(error).to.include({ status: 403, code: 'ERR_EXTAUTH_DENIED' });
    expect(factsOf(req).responseChanges).to.deep.equal([
      { op: 'set', name: 'x-request-id', value: 'theirs' },
      { op: 'append', name: 'set-cookie', value: 'a=1' },
      { op: 'append', name: 'set-cookie', value: 'b=2' },
    ]);
  });
});
