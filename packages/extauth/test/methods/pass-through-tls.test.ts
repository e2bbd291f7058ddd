import { readFileSync } from 'node:fs';
import { createServer, type Server, type ServerOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import { Server as GrpcServer, ServerCredentials } from '@grpc/grpc-js';
import type { PassThroughAuth } from '@edge-gateway/core/schema';
import { createContext, type AuthMethodKind } from '@edge-gateway/core';
import { expect } from 'chai';
import { createChain, createPassThroughHttpMethod, METHODS } from '../../src/index.ts';
import { authorization } from '../../src/grpc/protocol.ts';
import { guarded, only, secretsOf, stopAll } from '../harness.ts';

const FOLDER = new URL('../../../routing/test/upstream/certificates/', import.meta.url);
const file = (name: string): string => readFileSync(new URL(name, FOLDER), 'utf8');
/** For `localhost`, signed by `ca`. */
const server = { cert: file('server.crt'), key: file('server.key') };
/** For `localhost`, signed by `ca`, and over. */
const expired = { cert: file('expired.crt'), key: file('expired.key') };
const SECRETS = secretsOf({
  trusted: { 'ca.crt': file('ca.crt') },
  other: { 'ca.crt': file('other-ca.crt') },
  client: { 'ca.crt': file('ca.crt'), 'tls.crt': file('client.crt'), 'tls.key': file('client.key') },
  broken: { 'ca.crt': '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n' },
});

type Tls = NonNullable<NonNullable<PassThroughAuth['http']>['tlsConfig']>;
const secret = (name: string): Tls => ({ secretRef: { name, namespace: 'n' } });

interface Peer {
  readonly port: number;
  readonly asked: () => number;
}
interface PeerOptions extends Pick<ServerOptions, 'maxVersion'> {
  readonly pair?: { readonly cert: string; readonly key: string };
  /** Asks for a certificate that `ca` has signed. */
  readonly wantsClient?: true;
}

const https: Server[] = [];
const grpc: GrpcServer[] = [];

async function httpPeer({ pair = server, wantsClient, ...more }: PeerOptions = {}): Promise<Peer> {
  let asked = 0;
  const client = wantsClient && { requestCert: true, rejectUnauthorized: true, ca: file('ca.crt') };
  const listening = createServer({ ...pair, ...client, ...more }, (_req, res) => {
    asked++;
    res.end();
  });
  https.push(listening);
  await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve));
  return { port: (listening.address() as AddressInfo).port, asked: () => asked };
}

async function grpcPeer({ pair = server, wantsClient }: PeerOptions = {}): Promise<Peer> {
  let asked = 0;
  const listening = new GrpcServer();
  grpc.push(listening);
  listening.addService(authorization().service, {
    Check(_call: unknown, reply: (error: null, answer: object) => void) {
      asked++;
      reply(null, { status: { code: 0 } });
    },
  });
  const pairs = [{ cert_chain: Buffer.from(pair.cert), private_key: Buffer.from(pair.key) }];
  const credentials = ServerCredentials.createSsl(Buffer.from(file('ca.crt')), pairs, wantsClient ?? false);
  const port = await new Promise<number>((resolve, reject) => {
    listening.bindAsync('127.0.0.1:0', credentials, (error, bound) => (error ? reject(error) : resolve(bound)));
  });
  return { port, asked: () => asked };
}

const MODES = {
  http: {
    peer: httpPeer,
    step: (host: string, tlsConfig?: Tls): PassThroughAuth => ({
      http: { url: `https://${host}/check`, connectionTimeout: '20s', ...(tlsConfig && { tlsConfig }) },
    }),
  },
  grpc: {
    peer: grpcPeer,
    step: (address: string, tlsConfig: Tls = {}): PassThroughAuth => ({
      grpc: { address, connectionTimeout: '20s', tlsConfig },
    }),
  },
} as const;

async function statusOf(passThroughAuth: PassThroughAuth, ...methods: AuthMethodKind[]): Promise<number> {
  const parts = { secrets: SECRETS, settings: { requestTimeout: '30s' }, methods };
  const { ask } = await guarded(only({ passThroughAuth }), parts);
  const answer = await ask();
  if (answer.status !== 200) expect(answer.body).to.equal('');
  return answer.status;
}

for (const [mode, { peer, step }] of Object.entries(MODES)) {
  describe(`passThroughAuth.${mode} over TLS`, () => {
    afterEach(async () => {
      for (const each of grpc.splice(0)) each.forceShutdown();
      for (const each of https.splice(0)) {
        each.closeAllConnections();
        each.close();
      }
      await stopAll();
    });

    it('calls a server whose certificate is trusted by the secret of tlsConfig', async () => {
      const { port, asked } = await peer();
      expect(await statusOf(step(`localhost:${port}`, secret('trusted')))).to.equal(200);
      expect(asked()).to.equal(1);
    });

    it('does not call a server that is not trusted', async () => {
      const { port, asked } = await peer();
      expect(await statusOf(step(`localhost:${port}`))).to.equal(403);
      expect(await statusOf(step(`localhost:${port}`, {}))).to.equal(403);
      expect(await statusOf(step(`localhost:${port}`, secret('other')))).to.equal(403);
      expect(asked()).to.equal(0);
    });

    it('does not call a server whose certificate has another name', async () => {
      const { port, asked } = await peer();
      expect(await statusOf(step(`127.0.0.1:${port}`, secret('trusted')))).to.equal(403);
      expect(asked()).to.equal(0);
    });

    it('does not call a server whose certificate has expired', async () => {
      const { port, asked } = await peer({ pair: expired });
      expect(await statusOf(step(`localhost:${port}`, secret('trusted')))).to.equal(403);
      expect(asked()).to.equal(0);
    });

    it('sends the client certificate of the secret if the server requests one', async () => {
      const { port, asked } = await peer({ wantsClient: true });
      expect(await statusOf(step(`localhost:${port}`, secret('trusted')))).to.equal(403);
      expect(asked()).to.equal(0);
      expect(await statusOf(step(`localhost:${port}`, secret('client')))).to.equal(200);
    });

    it('denies requests when the server is not trusted, unless failureModeAllow is set', async () => {
      const { port } = await peer();
      const untrusted = step(`localhost:${port}`, secret('other'));
      expect(await statusOf({ ...untrusted, failureModeAllow: true })).to.equal(200);
    });

    it('throws for a secret that is missing or contains no certificate', () => {
      for (const name of ['gone', 'broken']) {
        const config = only({ passThroughAuth: step('localhost:1', secret(name)) });
        const parts = { kinds: METHODS, context: createContext({ secrets: SECRETS }), id: 'n.c', timeoutMs: 1 };
        expect(() => createChain(config, parts), name)
          .to.throw()
          .with.property('code', 'ERR_EXTAUTH_CONFIG');
      }
    });
  });
}

describe('TLS to auth servers', () => {
  afterEach(async () => {
    for (const each of https.splice(0)) each.close();
    await stopAll();
  });

  it('uses only the configured TLS versions', async () => {
    const old = await httpPeer({ maxVersion: 'TLSv1.2' });
    const asking = (sslParams: Tls['sslParams']) =>
      statusOf(MODES.http.step(`localhost:${old.port}`, { ...secret('trusted'), ...(sslParams && { sslParams }) }));
    expect(await asking({ minimumProtocolVersion: 'TLSv1_3' })).to.equal(403);
    expect(await asking({ maximumProtocolVersion: 'TLSv1_2' })).to.equal(200);
    expect(await asking(undefined)).to.equal(200);
  });

  it('trusts additional roots over HTTPS, unless a secret names others', async () => {
    const trusting = createPassThroughHttpMethod({ moreRoots: file('ca.crt') });
    const { port } = await httpPeer();
    expect(await statusOf(MODES.http.step(`localhost:${port}`), trusting as AuthMethodKind)).to.equal(200);
    expect(await statusOf(MODES.http.step(`localhost:${port}`))).to.equal(403);
    expect(await statusOf(MODES.http.step(`localhost:${port}`, secret('other')), trusting as AuthMethodKind)).to.equal(
      403,
    );
    const broken = createPassThroughHttpMethod({ moreRoots: '%%%' });
    const refused = await statusOf(MODES.http.step(`localhost:${port}`), broken as AuthMethodKind).catch(
      (error: unknown) => error,
    );
    expect(refused).to.have.property('code', 'ERR_EXTAUTH_CONFIG');
  });
});
