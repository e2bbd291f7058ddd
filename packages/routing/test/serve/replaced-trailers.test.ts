import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { expect } from 'chai';
import { filterRequestBody, replaceBody, readWholeBody, type Concern, type Route } from '@edge-gateway/core';
import { served, type Served } from '../served.ts';
import { endpointOf, start, upstreamOf } from '../snapshots.ts';

interface Parts {
  readonly options: object;
  readonly concerns?: readonly Concern[];
  readonly listenerPasses?: boolean;
  readonly upstreamPasses?: boolean;
}

/** What the upstream received. */
interface Received {
  readonly body: string;
  readonly length: string | undefined;
  readonly trailers: NodeJS.Dict<string>;
}

/** Replaces each body by this text, or passes it through a filter. */
const replacing = (text: string | undefined, stage: Concern['stage'] = 'rbac'): Concern => ({
  name: stage,
  option: 'changing',
  stage,
  compile: () =>
    async function change(req, _res, next) {
      if (text === undefined) filterRequestBody(req, (chunks) => chunks);
      else {
        await readWholeBody(req, 1000);
        replaceBody(req, Buffer.from(text));
      }
      next();
    },
});

const transformation = (template: object): object => ({
  stagedTransformations: {
    regular: { requestTransforms: [{ requestTransformation: { transformationTemplate: template } }] },
  },
});
const CHANGING = { changing: {} };
const BUFFER = { bufferPerRoute: { buffer: { maxRequestBytes: 100 } } };

describe('trailers of buffered and replaced request bodies', () => {
  let gateway: Served;
  afterEach(() => gateway.close());

  /** Sends `hello` with two trailers, of which one must not be forwarded. */
  async function exchange({
    options,
    concerns,
    listenerPasses = true,
    upstreamPasses = true,
  }: Parts): Promise<Received> {
    let received: Received | undefined;
    const { port } = await start(async (req, res) => {
      let body = '';
      for await (const chunk of req) body += String(chunk);
      received = { body, length: req.headers['content-length'], trailers: req.trailers };
      res.end();
    });
    const upstream = upstreamOf([endpointOf(port)]);
    const connectionConfig = { http1ProtocolOptions: { enableTrailers: upstreamPasses } };
    gateway = await served({
      options: options as Route['options'] & object,
      http: { httpConnectionManagerSettings: { enableTrailers: listenerPasses } },
      upstreams: [{ ...upstream, spec: { ...upstream.spec, connectionConfig } }],
      ...(concerns && { concerns }),
    });
    const req = request({ port: gateway.port, host: '127.0.0.1', method: 'POST', agent: false });
    req.setHeader('transfer-encoding', 'chunked');
    req.addTrailers({ 'x-sum': '5', 'cache-control': 'no-store' });
    req.write('hel');
    req.end('lo');
    const [res] = (await once(req, 'response')) as [IncomingMessage];
    res.resume();
    expect(res.statusCode).to.equal(200);
    return received!;
  }

  const cases: [what: string, parts: Parts, body: string][] = [
    ['buffered by the route', { options: BUFFER }, 'hello'],
    [
      'transformed',
      { options: transformation({ parseBodyBehavior: 'DontParse', body: { text: '{{ body() }}!' } }) },
      'hello!',
    ],
    ['replaced', { options: CHANGING, concerns: [replacing('new')] }, 'new'],
    ['replaced by an empty one', { options: CHANGING, concerns: [replacing('')] }, ''],
    ['replaced twice', { options: { ...CHANGING, ...BUFFER }, concerns: [replacing('new')] }, 'new'],
    [
      'filtered after it was replaced',
      { options: CHANGING, concerns: [replacing('new'), replacing(undefined, 'destination')] },
      'new',
    ],
    [
      'filtered after it was cleared',
      { options: CHANGING, concerns: [replacing(''), replacing(undefined, 'destination')] },
      '',
    ],
  ];
  for (const [what, parts, body] of cases) {
    it(`follow a body that is ${what}`, async () => {
      expect(await exchange(parts)).to.deep.equal({ body, length: undefined, trailers: { 'x-sum': '5' } });
    });
    for (const side of ['listenerPasses', 'upstreamPasses'] as const) {
      it(`are dropped without ${side}: a body that is ${what}`, async () => {
        const { trailers, body: received } = await exchange({ ...parts, [side]: false });
        expect({ trailers, received }).to.deep.equal({ trailers: {}, received: body });
      });
    }
  }

  it('are sent again with a retry', async () => {
    let attempts = 0;
    const seen: unknown[] = [];
    const { port } = await start(async (req, res) => {
      let body = '';
      for await (const chunk of req) body += String(chunk);
      seen.push([body, req.trailers]);
      res.writeHead(attempts++ === 0 ? 503 : 200).end();
    });
    const upstream = upstreamOf([endpointOf(port)]);
    const connectionConfig = { http1ProtocolOptions: { enableTrailers: true } };
    gateway = await served({
      options: { ...BUFFER, retries: { retryOn: '5xx', numRetries: 1 } },
      http: { httpConnectionManagerSettings: { enableTrailers: true } },
      upstreams: [{ ...upstream, spec: { ...upstream.spec, connectionConfig } }],
    });
    const req = request({ port: gateway.port, host: '127.0.0.1', method: 'POST', agent: false });
    req.setHeader('transfer-encoding', 'chunked');
    req.addTrailers({ 'x-sum': '5' });
    req.end('hello');
    const [res] = (await once(req, 'response')) as [IncomingMessage];
    res.resume();
    const received = ['hello', { 'x-sum': '5' }];
    expect([res.statusCode, seen]).to.deep.equal([200, [received, received]]);
  });
});
