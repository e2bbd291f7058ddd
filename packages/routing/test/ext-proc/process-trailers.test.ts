import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { expect } from 'chai';
import type { ExtProc } from '@edge-gateway/core/schema';
import { served, type Served } from '../served.ts';
import { endpointOf, start, upstreamOf } from '../snapshots.ts';
import { mutation, startProcessor, type ProcessingServer, type Received } from './server.ts';

const unchanged = ({ request }: Received): object => ({ [request]: {} });
const SEND: ExtProc['processingMode'] = {
  requestHeaderMode: 'SKIP',
  responseHeaderMode: 'SKIP',
  requestTrailerMode: 'SEND',
  responseTrailerMode: 'SEND',
};

describe('trailers and extProc', () => {
  let processor: ProcessingServer;
  let gateway: Served;
  let received: NodeJS.Dict<string>;
  afterEach(async () => {
    await gateway.close();
    processor.stop();
  });

  /** Serves an upstream that sends a trailer after each response. */
  async function processing(
    answer: Parameters<typeof startProcessor>[0],
    block: ExtProc,
    enableTrailers = true,
  ): Promise<void> {
    processor = await startProcessor(answer);
    const { port } = await start((req, res) => {
      req.resume().on('end', () => {
        received = req.trailers;
        res.write('body');
        res.addTrailers({ 'x-sum': '7' });
        res.end();
      });
    });
    const connectionConfig = { http1ProtocolOptions: { enableTrailers: true } };
    const upstream = upstreamOf([endpointOf(port)]);
    const extProc: ExtProc = {
      messageTimeout: '2s',
      grpcService: { extProcServerRef: { name: 'processor', namespace: 'gw-system' } },
      ...block,
    };
    gateway = await served({
      http: { extProc, httpConnectionManagerSettings: { enableTrailers } },
      upstreams: [
        { ...upstream, spec: { ...upstream.spec, connectionConfig } },
        upstreamOf([endpointOf(processor.port)], 'processor'),
      ],
    });
  }

  async function exchange(trailers: Record<string, string> = { 'x-sent': '1' }) {
    const req = httpRequest({ port: gateway.port, host: '127.0.0.1', method: 'POST', agent: false });
    req.setHeader('transfer-encoding', 'chunked');
    req.addTrailers(trailers);
    req.write('a');
    req.end('b');
    const [res] = (await once(req, 'response')) as [IncomingMessage];
    res.resume();
    const end = await once(res, 'end').then(
      () => 'end',
      () => 'aborted',
    );
    return { status: res.statusCode, trailers: res.trailers, end };
  }

  it('are sent to the server and changed in both directions', async () => {
    await processing(
      ({ request }) => ({ [request]: { headerMutation: mutation({ [`x-${request}`]: 'new' }, ['x-sum', 'x-sent']) } }),
      { processingMode: SEND },
    );
    const { status, trailers } = await exchange();
    expect(status).equal(200);
    expect(received).deep.equal({ 'x-requesttrailers': 'new' });
    expect(trailers).deep.equal({ 'x-responsetrailers': 'new' });
    expect(processor.seen).deep.equal(['requestTrailers x-sent=1', 'responseTrailers x-sum=7']);
  });

  it('follow streamed bodies, whose last chunk is then not the end', async () => {
    const bodies = { requestBodyMode: 'STREAMED', responseBodyMode: 'STREAMED' } as const;
    await processing(unchanged, { processingMode: { ...SEND, ...bodies } });
    const { trailers } = await exchange();
    expect(received).deep.equal({ 'x-sent': '1' });
    expect(trailers).deep.equal({ 'x-sum': '7' });
    expect(processor.seen.filter((message) => message.includes('Trailers'))).length(2);
    expect(processor.seen.filter((message) => message.endsWith('.'))).deep.equal([]);
    expect(processor.seen.at(-2)).equal('responseBody body');
  });

  it('follow buffered bodies', async () => {
    await processing(unchanged, { processingMode: { ...SEND, requestBodyMode: 'BUFFERED' } });
    await exchange();
    expect(received).deep.equal({ 'x-sent': '1' });
    expect(processor.seen).deep.equal(['requestBody ab', 'requestTrailers x-sent=1', 'responseTrailers x-sum=7']);
  });

  for (const bodyMutation of [{ body: Buffer.from('c') }, { clearBody: true }]) {
    it(`follow bodies with the mutation ${Object.keys(bodyMutation)}, and are sent to the server`, async () => {
      const headerMutation = mutation({ 'x-new': '1' }, ['x-sent']);
      const processingMode = { ...SEND, requestBodyMode: 'BUFFERED' } as const;
      await processing(
        (message) => {
          if (message.request === 'requestBody') return { requestBody: { response: { bodyMutation } } };
          return message.request === 'requestTrailers' ? { requestTrailers: { headerMutation } } : unchanged(message);
        },
        { processingMode },
      );
      await exchange();
      expect(received).deep.equal({ 'x-new': '1' });
      expect(processor.seen).deep.equal(['requestBody ab', 'requestTrailers x-sent=1', 'responseTrailers x-sum=7']);
    });
  }

  it('are not sent without trailers, or if they are dropped', async () => {
    await processing(unchanged, { processingMode: { ...SEND, responseBodyMode: 'BUFFERED' } });
    await exchange();
    expect(processor.seen).deep.equal(['requestTrailers x-sent=1', 'responseBody body.']);
    await gateway.close();
    processor.stop();
    await processing(unchanged, { processingMode: SEND }, false);
    await exchange();
    expect(processor.seen).deep.equal([]);
    await gateway.close();
    processor.stop();
    await processing(unchanged, { processingMode: SEND });
    await exchange({});
    expect(processor.seen).deep.equal(['responseTrailers x-sum=7']);
  });

  it('are skipped by default, unless the server changes the mode', async () => {
    await processing(unchanged, {});
    await exchange();
    expect(processor.seen).deep.equal(['requestHeaders /', 'responseHeaders 200']);
    await gateway.close();
    processor.stop();
    const modeOverride = { requestTrailerMode: 1, responseTrailerMode: 1 };
    await processing((message) => ({ ...unchanged(message), modeOverride }), { allowModeOverride: true });
    await exchange();
    expect(processor.seen.filter((message) => message.includes('Trailers'))).length(2);
  });

  it('get no headers that recipients must know before the body, nor pseudo-headers', async () => {
    const headerMutation = mutation({
      'cache-control': 'no-store',
      'set-cookie': 'a=b',
      ':status': '500',
      'x-ok': '1',
    });
    await processing(({ request }) => ({ [request]: { headerMutation } }), { processingMode: SEND });
    const { trailers } = await exchange();
    expect(received).deep.equal({ 'x-sent': '1', 'x-ok': '1' });
    expect(trailers).deep.equal({ 'x-sum': '7', 'x-ok': '1' });
  });

  it('abort the response if the server fails, unless failures are allowed', async () => {
    const failing = (message: Received, call: { emit(name: 'error', error: Error): boolean }): object | undefined => {
      if (message.request !== 'responseTrailers') return unchanged(message);
      call.emit('error', new Error('failed'));
      return undefined;
    };
    await processing(failing, { processingMode: SEND });
    expect((await exchange()).end).equal('aborted');
    await gateway.close();
    processor.stop();
    await processing(failing, { processingMode: SEND, failureModeAllow: true });
    expect(await exchange()).deep.equal({ status: 200, trailers: { 'x-sum': '7' }, end: 'end' });
  });

  it('can be answered with a response of the server', async () => {
    const immediateResponse = { status: { code: 403 }, body: Buffer.from('no') };
    await processing(
      (message) => (message.request === 'requestTrailers' ? { immediateResponse } : unchanged(message)),
      { processingMode: SEND },
    );
    expect((await exchange()).status).equal(403);
  });
});
