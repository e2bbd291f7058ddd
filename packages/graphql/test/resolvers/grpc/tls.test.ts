import { ServerCredentials } from '@grpc/grpc-js';
import { createContext, type Context, type Loggers, type SnapshotUpstream } from '@edge-gateway/core';
import { startUsersGrpc } from '@edge-gateway/demo';
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import { until } from '../../../../../test/parts/until.ts';
import { certificatePath, certificates, secretsOf } from '../../../../routing/test/upstream/certificates.ts';
import { ask, type TestServer } from '../../servers.ts';
import { grpcApi, startGrpc, usersUpstream } from './server.ts';

const { ca, otherCa, server, client, expired } = certificates();
const SNI = 'api.example.com';
const QUERY = '{ user(name: "sam") { username } }';
const GOOD = { data: { user: { username: 'sam' } } };

function tlsServer(pair = server, clientCa?: string): ServerCredentials {
  const chain = [{ cert_chain: Buffer.from(pair.cert), private_key: Buffer.from(pair.key) }];
  return ServerCredentials.createSsl(clientCa ? Buffer.from(clientCa) : null, chain, clientCa !== undefined);
}

describe('a gRPC upstream with TLS', () => {
  const open: (() => unknown)[] = [];
  const reasons: string[] = [];

  afterEach(async () => {
    reasons.length = 0;
    for (const close of open.splice(0).toReversed()) await close();
  });

  function contextWith(secrets: ReturnType<typeof secretsOf>): Context {
    const write = (entry: { reason?: string }): void => void reasons.push(entry.reason ?? '');
    const log = { warn: write, error: write, info() {}, debug() {} };
    return createContext({ secrets, log: { get: () => log } as unknown as Loggers });
  }

  async function serverWith(credentials: ServerCredentials): Promise<number> {
    const made = await startGrpc((call, callback) => callback(null, call.request), { credentials });
    open.push(made.close);
    return made.port;
  }

  interface Given {
    readonly ssl?: NonNullable<SnapshotUpstream['spec']['sslConfig']>;
    readonly secret?: Record<string, string> | undefined;
    readonly sni?: string | undefined;
    readonly address?: string;
    readonly reflection?: true;
  }

  async function apiAt(
    port: number,
    { ssl, secret, sni, address = '127.0.0.1', reflection }: Given,
  ): Promise<TestServer> {
    const secrets = secretsOf({});
    secrets.set('tls', secret);
    const spec = { sslConfig: ssl ?? { secretRef: { name: 'tls' } } };
    const endpoint = { address, port, weight: 1, ...(sni && { sni }) };
    const upstream = usersUpstream([], { tls: true, spec, endpoints: [endpoint] });
    const api = await grpcApi({
      upstream: () => upstream,
      context: contextWith(secrets),
      ...(reflection && { reflection }),
    });
    open.push(api.close);
    return api;
  }

  const accepted: Record<string, Given> = {
    "the endpoint's server name": { secret: { 'ca.crt': ca }, sni: SNI },
    "sslConfig's server name": { secret: { 'ca.crt': ca }, ssl: { secretRef: { name: 'tls' }, sni: SNI } },
    "the endpoint's own name": { secret: { 'ca.crt': ca }, address: 'localhost' },
    'one of the names in verifySubjectAltName': {
      secret: { 'ca.crt': ca },
      ssl: { secretRef: { name: 'tls' }, verifySubjectAltName: ['other', 'spiffe://example.com/api'] },
    },
    'a root from a file': { ssl: { sslFiles: { rootCa: certificatePath('ca.crt') }, sni: SNI } },
    'the TLS versions that are allowed': {
      secret: { 'ca.crt': ca },
      ssl: { secretRef: { name: 'tls' }, sni: SNI, parameters: { minimumProtocolVersion: 'TLSv1_3' } },
    },
  };
  for (const [name, given] of Object.entries(accepted)) {
    it(`is called when its certificate fits ${name}`, async () => {
      const api = await apiAt(await serverWith(tlsServer()), given);
      expect((await ask(api.url, QUERY)).body).to.deep.equal(GOOD);
    });
  }

  const names = ['nobody.example.com'];
  const refused: Record<string, readonly [Given, RegExp, ServerCredentials?]> = {
    'a server of another root': [{ secret: { 'ca.crt': otherCa }, sni: SNI }, /unable to verify|self.signed/i],
    'a server that no public root knows': [{ secret: {}, sni: SNI }, /unable to verify|self.signed/i],
    'a server of another name': [{ secret: { 'ca.crt': ca }, sni: 'nobody.example.com' }, /does not match/],
    'a server without the names that are asked for': [
      { secret: { 'ca.crt': ca }, sni: SNI, ssl: { secretRef: { name: 'tls' }, verifySubjectAltName: names } },
      /none of the required names/,
    ],
    'an expired certificate': [{ secret: { 'ca.crt': ca }, sni: SNI }, /expired/, tlsServer(expired)],
    'a server that wants a certificate of us': [
      { secret: { 'ca.crt': ca }, sni: SNI },
      /gRPC status 14/,
      tlsServer(server, ca),
    ],
    'a server that wants a certificate of us, and oneWayTls': [
      {
        secret: { 'ca.crt': ca, 'tls.crt': client.cert, 'tls.key': client.key },
        sni: SNI,
        ssl: { secretRef: { name: 'tls' }, oneWayTls: true },
      },
      /gRPC status 14/,
      tlsServer(server, ca),
    ],
    'a server without TLS': [{ secret: { 'ca.crt': ca }, sni: SNI }, /gRPC status/, ServerCredentials.createInsecure()],
    'a secret that is missing': [{ secret: undefined, sni: SNI }, /tls does not exist/],
    'a root that is not a certificate': [{ secret: { 'ca.crt': 'nothing' }, sni: SNI }, /cannot be used/],
    'an empty root': [{ secret: { 'ca.crt': '' }, sni: SNI }, /cannot be used/],
    'a certificate without its key': [{ secret: { 'ca.crt': ca, 'tls.crt': client.cert }, sni: SNI }, /needs its key/],
    'a file that is not there': [
      { ssl: { sslFiles: { rootCa: '/nowhere/ca.crt' } } },
      /without valid content: \/nowhere\/ca.crt/,
    ],
  };
  for (const [name, [given, reason, credentials]] of Object.entries(refused)) {
    it(`is an error of the field with ${name}, and logs the reason`, async () => {
      const api = await apiAt(await serverWith(credentials ?? tlsServer()), given);
      const { status, body } = await ask(api.url, `{ good { username } ${QUERY.slice(1)}`);
      expect(status).to.equal(200);
      expect(body.data).to.deep.equal({ good: { username: 'good' }, user: null });
      expect(body.errors[0].message).to.equal('A field could not be resolved.');
      expect(JSON.stringify(body)).to.not.match(/certificate|127\.0\.0\.1|example\.com/);
      expect(reasons.join()).to.match(reason);
    });
  }

  it('receives our certificate if it requests one', async () => {
    const api = await apiAt(await serverWith(tlsServer(server, ca)), {
      secret: { 'ca.crt': ca, 'tls.crt': client.cert, 'tls.key': client.key },
      sni: SNI,
    });
    expect((await ask(api.url, QUERY)).body).to.deep.equal(GOOD);
  });

  it('supports reflection over the same TLS', async () => {
    const users = await startUsersGrpc({ credentials: tlsServer() });
    open.push(users.close);
    const trusted = await apiAt(users.port, { secret: { 'ca.crt': ca }, sni: SNI, reflection: true });
    expect((await ask(trusted.url, QUERY)).body).to.deep.equal(GOOD);
    const untrusted = await apiAt(users.port, { secret: { 'ca.crt': otherCa }, sni: SNI, reflection: true });
    expect((await ask(untrusted.url, QUERY)).body.data).to.deep.equal({ user: null });
    expect(reasons.join()).to.match(/unable to verify|self.signed/i);
  });

  it('is called with changed certificates soon after the change, and not without them', async () => {
    const port = await serverWith(tlsServer(server, ca));
    const secrets = secretsOf({ tls: { 'ca.crt': ca } });
    const spec = { sslConfig: { secretRef: { name: 'tls' }, sni: SNI } };
    const upstream = usersUpstream([port], { tls: true, spec });
    const api = await grpcApi({ upstream: () => upstream, context: contextWith(secrets) });
    open.push(api.close);
    const becomes = (data: unknown) =>
      until(async () => isDeepStrictEqual((await ask(api.url, QUERY)).body.data, data), JSON.stringify(data));
    await becomes({ user: null });
    secrets.set('tls', { 'ca.crt': ca, 'tls.crt': client.cert, 'tls.key': client.key });
    await becomes(GOOD.data);
    secrets.set('tls', undefined);
    await becomes({ user: null });
    expect(reasons.at(-1)).to.match(/does not exist/);
  });
});
