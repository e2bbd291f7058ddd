import { readFileSync } from 'node:fs';
import { Client, credentials, status, type ChannelCredentials } from '@grpc/grpc-js';
import { toStruct } from '@edge-gateway/core/grpc';
import { expect } from 'chai';
import { makeCertificates, type Certificates } from '../../../../test/parts/certificates.ts';
import { parseClientNames, type DiscoveryAddress } from '../../src/index.ts';
import { AggregatedDiscovery, type NodeMessage } from '../../src/protocol/discovery.ts';
import { LoadReporting } from '../../src/protocol/load-stats.ts';
import { ENVOY_TYPE } from '../../src/resources/envoy-types.ts';
import { TYPE } from '../../src/resources/index.ts';
import { createEnvoyTranslation, NODE_TRANSLATION } from '../../src/index.ts';
import { startProxy, startServer, until } from '../planes.ts';
import { secret, service, startStates } from '../states.ts';

const text = (file: string): string => readFileSync(file, 'utf8');
const nodeOf = (proxy: string, namespace = 'gw-system'): NodeMessage => ({
  id: `node-of-${proxy}`,
  metadata: toStruct({ role: `${namespace}~${proxy}` }),
});
const NAME = 'URI:spiffe://example.com/ns/gw-system/proxy/gateway-proxy';
const METHODS = ['DeltaAggregatedResources', 'StreamAggregatedResources', 'StreamLoadStats'] as const;

describe('the client certificate of a node', () => {
  let authority: Certificates;
  let states: Awaited<ReturnType<typeof startStates>>;
  let closing: (() => void)[];
  let issued = 0;
  before(async () => {
    authority = makeCertificates();
    states = await startStates({ a: service('a', 'one'), s: secret('s', 'x') });
  });
  after(async () => {
    authority.remove();
    await states.close();
  });
  beforeEach(() => {
    closing = [];
  });
  afterEach(() => {
    for (const close of closing.toReversed()) close();
  });

  async function start(at: Pick<DiscoveryAddress, 'clientNames'> = {}) {
    const tls = { certificate: text(authority.cert), key: text(authority.key), clientCa: text(authority.ca) };
    const translations = [NODE_TRANSLATION, createEnvoyTranslation({}, () => {})];
    const server = await startServer({ translations }, { tls, ...at });
    closing.push(server.close);
    server.publish(states.current());
    return server;
  }

  /** A client with a certificate of its own, with these alternative names. */
  function certificate(alternatives: string | undefined, name = `client-${++issued}`): ChannelCredentials {
    const { cert, key } = authority.issue(name, alternatives);
    return credentials.createSsl(readFileSync(authority.ca), readFileSync(key), readFileSync(cert));
  }

  /** Opens a stream of one of the services. */
  function open(port: number, own: ChannelCredentials, method: (typeof METHODS)[number]) {
    const client = new Client(`127.0.0.1:${port}`, own, {
      'grpc.use_local_subchannel_pool': 1,
      'grpc.ssl_target_name_override': 'localhost',
    });
    const { path, requestSerialize, responseDeserialize } = { ...AggregatedDiscovery, ...LoadReporting }[method]!;
    const stream = client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize);
    const responses: { resources?: { name?: string }[] }[] = [];
    let ended: { code: number; details: string } | undefined;
    stream.on('data', (response: object) => responses.push(response));
    stream.on('error', () => {});
    stream.on('status', (end: { code: number; details: string }) => (ended = end));
    closing.push(() => {
      stream.cancel();
      client.close();
    });
    return {
      send: (request: object) => void stream.write(request),
      responses,
      status: () => ended,
      /** Resolves with the status of a stream that ended, or undefined after a response. */
      async outcome(responsesBefore = 0) {
        await until(() => responses.length > responsesBefore || ended !== undefined, 'a response or the end');
        return ended;
      },
    };
  }

  interface Asked {
    readonly method?: (typeof METHODS)[number];
    readonly node?: NodeMessage;
    readonly type_url?: string;
  }

  async function outcomeOf(port: number, own: ChannelCredentials, asked: Asked = {}) {
    const { method = METHODS[0], node = nodeOf('gateway-proxy'), type_url = TYPE.secret } = asked;
    const stream = open(port, own, method);
    stream.send(method === 'StreamLoadStats' ? { node } : { node, type_url });
    return stream.outcome();
  }

  const types = [TYPE.secret, ENVOY_TYPE.secret, ENVOY_TYPE.listener];
  const services = METHODS.flatMap((method) =>
    (method === 'StreamLoadStats' ? [TYPE.secret] : types).map((type_url) => ({ method, type_url })),
  );

  it('allows the proxy that it names, for every service and type', async () => {
    const { port } = await start();
    const own = certificate(NAME);
    for (const each of services) expect(await outcomeOf(port, own, each)).to.equal(undefined);
  });

  it('does not allow another proxy, for any service and type', async () => {
    const { port, server } = await start();
    const own = certificate(NAME.replace('/gateway-proxy', '/other'));
    for (const each of services) {
      const ended = await outcomeOf(port, own, each);
      expect(ended).to.deep.include({
        code: status.PERMISSION_DENIED,
        details:
          'the client certificate does not allow proxy gateway-proxy: it has URI spiffe://example.com/ns/gw-system/proxy/other, ' +
          'and must have URI spiffe://*/ns/gw-system/proxy/gateway-proxy',
      });
    }
    expect(server.proxies()).to.deep.equal([]);
  });

  it('allows several proxies with several names', async () => {
    const { port } = await start();
    const own = certificate(`DNS:localhost,${NAME},${NAME.replace('/gateway-proxy', '/other')}`);
    const named = await Promise.all(
      ['gateway-proxy', 'other'].map((each) => outcomeOf(port, own, { node: nodeOf(each) })),
    );
    expect(named).to.deep.equal([undefined, undefined]);
    expect((await outcomeOf(port, own, { node: nodeOf('third') }))?.code).to.equal(status.PERMISSION_DENIED);
  });

  it('does not allow the proxies of another namespace, whatever namespace the node claims', async () => {
    const { port } = await start();
    const own = certificate(NAME.replace('gw-system', 'other'));
    for (const namespace of ['gw-system', 'other'])
      expect((await outcomeOf(port, own, { node: nodeOf('gateway-proxy', namespace) }))?.code).to.equal(
        status.PERMISSION_DENIED,
      );
  });

  const malformed = [
    'URI:spiffe://example.com/ns/*/proxy/*',
    'URI:spiffe://example.com/ns/gw-system/proxy/*',
    'URI:spiffe://example.com/ns/gw-system/proxy/gateway-proxy/',
    'URI:spiffe://example.com/ns/gw-system/proxy/gateway%2Dproxy',
    'URI:spiffe://example.com/ns/gw-system/proxy/',
    'URI:spiffe://example.com/ns/gw-system/proxy',
    'URI:SPIFFE://example.com/ns/gw-system/proxy/gateway-proxy',
  ];
  for (const each of malformed)
    it(`allows nothing with ${each}`, async () => {
      const { port } = await start();
      expect((await outcomeOf(port, certificate(each)))?.code).to.equal(status.PERMISSION_DENIED);
    });

  it('allows every proxy without a name of a proxy, unless names are required', async () => {
    const [free, bound] = [await start(), await start({ clientNames: parseClientNames('{proxy}.{namespace}.svc') })];
    for (const alternatives of [undefined, 'DNS:localhost', 'DNS:*.gw-system.svc']) {
      // The common name of a subject is no name.
      const own = certificate(alternatives, 'gateway-proxy.gw-system.svc');
      expect(await outcomeOf(free.port, own)).to.equal(undefined);
      expect((await outcomeOf(bound.port, own))?.code).to.equal(status.PERMISSION_DENIED);
    }
    expect(await outcomeOf(bound.port, certificate('DNS:gateway-proxy.gw-system.svc'))).to.equal(undefined);
    // A URI is not a DNS name, even if it has the same text.
    expect((await outcomeOf(bound.port, certificate('URI:gateway-proxy.gw-system.svc')))?.code).to.equal(
      status.PERMISSION_DENIED,
    );
    expect((await outcomeOf(bound.port, certificate(NAME)))?.code).to.equal(status.PERMISSION_DENIED);
  });

  for (const method of METHODS)
    it(`is not used for another node later in a stream: ${method}`, async () => {
      const { port } = await start();
      const stream = open(port, certificate(`${NAME},${NAME.replace('/gateway-proxy', '/other')}`), method);
      const request = (node: NodeMessage) =>
        method === 'StreamLoadStats' ? { node } : { node, type_url: TYPE.secret };
      stream.send(request(nodeOf('gateway-proxy')));
      expect(await stream.outcome()).to.equal(undefined);
      // Envoys may repeat their node.
      stream.send(request(nodeOf('gateway-proxy')));
      stream.send(request(nodeOf('other')));
      expect(await stream.outcome(stream.responses.length + 1)).to.deep.include({
        code: status.INVALID_ARGUMENT,
        details:
          'the node of a stream must not change: it was gw-system~gateway-proxy node-of-gateway-proxy, not gw-system~other node-of-other',
      });
    });

  for (const method of METHODS)
    it(`ends a stream that it does not allow, whatever follows: ${method}`, async () => {
      const { port, server } = await start();
      const stream = open(port, certificate(NAME), method);
      for (const proxy of ['other', 'gateway-proxy', 'gateway-proxy'])
        stream.send({ node: nodeOf(proxy), ...(method !== 'StreamLoadStats' && { type_url: TYPE.secret }) });
      await until(() => stream.status() !== undefined, 'the end of the stream');
      expect(stream.status()?.code).to.equal(status.PERMISSION_DENIED);
      expect(stream.responses).to.deep.equal([]);
      expect(server.proxies()).to.deep.equal([]);
    });

  it('is named in the log of the proxy that is not allowed', async () => {
    const { port } = await start();
    const { cert, key } = authority.issue('other', NAME.replace('/gateway-proxy', '/other'));
    const reasons: string[] = [];
    const proxy = startProxy([port], {
      tls: () => ({ ca: text(authority.ca), certificate: text(cert), key: text(key) }),
      onFailure: (_server, reason) => void reasons.push(reason),
    });
    closing.push(proxy.close);
    await until(() => reasons.length > 0, 'a failure');
    expect(reasons[0]).to.contain('does not allow proxy gateway-proxy').and.to.contain('proxy/other');
    expect(proxy.applied).to.deep.equal([]);
  });

  it('is required if names are', async () => {
    const clientNames = parseClientNames('{proxy}');
    const tls = { certificate: text(authority.cert), key: text(authority.key) };
    for (const at of [{ clientNames }, { clientNames, tls }]) {
      const failed = await startServer({}, at).then(
        (server) => server.close(),
        (error: Error) => error.message,
      );
      expect(failed).to.equal('clientNames requires tls.clientCa');
    }
  });
});
