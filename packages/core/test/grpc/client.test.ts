import { status, type Client, type sendUnaryData, type ServerUnaryCall, type ServiceError } from '@grpc/grpc-js';
import { expect } from 'chai';
import { createGrpcClients, grpcService, listenGrpcServer, message, type GrpcServer } from '../../src/grpc/index.ts';
import { channelOptions, expireCall } from '../../src/grpc/client.ts';
import { startPausableProxy, type PausableProxy } from '../../../../test/parts/pausable-proxy.ts';

const Echo = grpcService('test.v1', 'Echo', {
  Text: message({ text: ['string', 1] }),
  Echo: { methods: { Say: { requestType: 'Text', responseType: 'Text' } } },
});
/** Too long to expire on a slow machine. */
const LONG_MS = 60_000;
const SHORT_MS = 300;

interface Text {
  readonly text: string;
}

describe('a gRPC client', () => {
  let server: GrpcServer;
  let proxy: PausableProxy;
  let clients: ReturnType<typeof createGrpcClients>;
  before(async () => {
    const implementation = {
      Say({ request }: ServerUnaryCall<Text, Text>, reply: sendUnaryData<Text>) {
        if (request.text !== 'slow') reply(null, request);
      },
    };
    const service = { name: 'test.v1.Echo', definition: Echo.service, implementation };
    server = await listenGrpcServer(service, { address: '127.0.0.1', port: 0, maxBytes: 1000 });
  });
  after(() => server.close());
  beforeEach(async () => {
    proxy = await startPausableProxy(server.port);
    const endpoints = [{ address: '127.0.0.1', port: proxy.port, weight: 1 }];
    const upstream = { name: 'a', ref: { name: 'a', namespace: '' }, spec: {}, endpoints, tls: false };
    clients = createGrpcClients(() => upstream, { secrets: { get: () => undefined }, maxBytes: 1000 });
  });
  afterEach(() => {
    clients.close();
    proxy.close();
  });

  const { path, requestSerialize, responseDeserialize } = Echo.service['Say']!;
  type Call = ReturnType<Client['makeUnaryRequest']>;

  /** Makes a call; returns its status code. */
  function say(text: string, timeoutMs: number, onStart = (_call: Call): unknown => undefined): Promise<number> {
    return new Promise((resolve) => {
      const options = { deadline: Date.now() + timeoutMs };
      const done = (error: ServiceError | null): void => resolve(error?.code ?? status.OK);
      const { client } = clients.client();
      onStart(client.makeUnaryRequest(path, requestSerialize, responseDeserialize, { text }, options, done));
    });
  }

  it('makes the next call over a new connection after a call to a silent server has reached its deadline', async () => {
    expect(await say('a', LONG_MS)).to.equal(status.OK);
    expect(await say('b', LONG_MS)).to.equal(status.OK);
    expect(proxy.connections).to.equal(1);
    proxy.silence();
    expect(await say('c', SHORT_MS)).to.equal(status.DEADLINE_EXCEEDED);
    expect(await say('d', LONG_MS)).to.equal(status.OK);
    expect(proxy.connections).to.equal(2);
  });

  it('does so after a call that its caller has ended for a limit of its own', async () => {
    expect(await say('a', LONG_MS)).to.equal(status.OK);
    proxy.silence();
    expect(await say('b', LONG_MS, expireCall)).to.equal(status.DEADLINE_EXCEEDED);
    expect(await say('c', LONG_MS)).to.equal(status.OK);
  });

  it('keeps its connection after a call that its caller has cancelled', async () => {
    expect(await say('a', LONG_MS)).to.equal(status.OK);
    expect(await say('slow', LONG_MS, (call) => call.cancel())).to.equal(status.CANCELLED);
    expect(await say('b', LONG_MS)).to.equal(status.OK);
    expect(proxy.connections).to.equal(1);
  });

  it('keeps the connection of a slow server that responds to other calls meanwhile', async () => {
    expect(await say('a', LONG_MS)).to.equal(status.OK);
    let call: Call | undefined;
    const slow = say('slow', LONG_MS, (made) => (call = made));
    expect(await say('b', LONG_MS)).to.equal(status.OK);
    expireCall(call!);
    expect(await slow).to.equal(status.DEADLINE_EXCEEDED);
    expect(await say('c', LONG_MS)).to.equal(status.OK);
    expect(proxy.connections).to.equal(1);
  });

  it('replaces its connection once for several calls that have reached their deadline', async () => {
    expect(await say('a', LONG_MS)).to.equal(status.OK);
    proxy.silence();
    const codes = await Promise.all([say('b', SHORT_MS), say('c', SHORT_MS), say('d', SHORT_MS)]);
    expect(codes).to.deep.equal(Array(3).fill(status.DEADLINE_EXCEEDED));
    const after = await Promise.all([say('e', LONG_MS), say('f', LONG_MS)]);
    expect(after).to.deep.equal([status.OK, status.OK]);
    expect(proxy.connections).to.equal(2);
  });

  it('keeps the next connection for a second, because an overloaded server is silent, too', async () => {
    const { now } = performance;
    let time = 0;
    performance.now = () => time;
    /** Makes a call, which the server answers, and then one to which it is silent. */
    const becomeSilentAt = async (at: number): Promise<Client> => {
      time = at - 1;
      expect(await say('a', LONG_MS)).to.equal(status.OK);
      proxy.silence();
      const { client } = clients.client();
      time = at;
      expect(await say('b', LONG_MS, expireCall)).to.equal(status.DEADLINE_EXCEEDED);
      return client;
    };
    try {
      const first = await becomeSilentAt(5_000);
      expect(clients.client().client).to.not.equal(first);
      const next = await becomeSilentAt(5_999);
      expect(clients.client().client).to.equal(next);
      time = 6_000;
      expect(await say('c', LONG_MS, expireCall)).to.equal(status.DEADLINE_EXCEEDED);
      expect(clients.client().client).to.not.equal(next);
    } finally {
      performance.now = now;
    }
  });

  it('sends pings at intervals that servers accept, unless they are configured', () => {
    expect(channelOptions({ maxBytes: 1 })).to.include({
      'grpc.keepalive_time_ms': 330_000,
      'grpc.keepalive_timeout_ms': 20_000,
    });
    expect(channelOptions({ maxBytes: 1, keepaliveMs: 50 })).to.include({
      'grpc.keepalive_time_ms': 50,
      'grpc.keepalive_timeout_ms': 50,
    });
  });
});
