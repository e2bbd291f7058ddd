import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import express from 'express';
import { createContext, createLoggers, GatewayError, type Concern } from '@edge-gateway/core';
import type { Transformation, TransformationTemplate } from '@edge-gateway/core/schema';
import { transform } from '../../src/transform/concern.ts';
import { start } from '../snapshots.ts';
import { ask, onRequests, onResponses, serve, stop } from './served.ts';

const by = (transformationTemplate: TransformationTemplate): Transformation => ({ transformationTemplate });
const header = (name: string, text: string): TransformationTemplate => ({
  passthrough: {},
  headers: { [name]: { text } },
});
const json = { 'x-type': 'application/json' };

describe('transformations of responses', () => {
  afterEach(stop);

  it('keep the error of a request that cannot be transformed if they fail for it too', async () => {
    const lines: Record<string, unknown>[] = [];
    const destination = { write: (line: string) => void lines.push(JSON.parse(line)) };
    const log = createLoggers({ level: 'info', destination });
    const stage = {
      ...onRequests({ headers: { 'x-a': { text: '{{ items }}' } } }),
      ...onResponses({ headers: { ':status': { text: '202' }, 'x-b': { text: '{{ items }}' } } }),
    };
    const port = await serve({ regular: stage }, { context: createContext({ log }) });
    const [missing, invalid] = [await ask(port, { body: '{}' }), await ask(port, { body: '{bad' })];
    expect(missing.status).to.equal(400);
    expect(JSON.parse(missing.body).message).to.equal('bad request: the request cannot be transformed');
    expect(missing.headers['content-type']).to.equal('application/json');
    expect([invalid.status, invalid.body]).to.deep.equal([400, 'bad request: the body is not JSON: unexpected byte 2']);
    const failures = lines.filter(({ msg }) => String(msg).includes('cannot be transformed'));
    expect(failures.map(({ msg, route, reason }) => [msg, route, reason])).to.deep.equal([
      [
        'request cannot be transformed',
        'gw-system.host-route-0-matcher-0',
        "headers.x-a.text: variable 'items' is not defined",
      ],
      [
        'request cannot be transformed',
        'gw-system.host-route-0-matcher-0',
        'bad request: the body is not JSON: unexpected byte 2',
      ],
    ]);
    const shaped = await serve({ regular: { ...stage, ...onResponses(header('x-shape', 'ours')) } });
    expect((await ask(shaped, { body: '{}' })).headers['x-shape']).to.equal('ours');
  });

  it('changes status, headers and body, and reads those of the request', async () => {
    const template: TransformationTemplate = {
      extractors: { first: { body: {}, regex: '.*"name":"(\\w).*', subgroup: 1 } },
      headers: {
        ':status': { text: '{% if error %}418{% else %}201{% endif %}' },
        'x-was': {
          text: '{{ header(":status") }} {{ first }} {{ request_header(":path") }} {{ request_header("x-in") }}',
        },
        'x-received': { text: '' },
      },
      headersToAppend: [{ key: 'set-cookie', value: { text: 'b=2' } }],
      headersToRemove: ['date'],
      body: { text: '{{ name | upper }}' },
    };
    const port = await serve({ regular: onResponses(template) });
    const { status, headers, body } = await ask(port, {
      path: '/p',
      headers: { ...json, 'x-in': 'i' },
      body: '{"name":"ada","error":true}',
    });
    expect({ status, body }).to.deep.equal({ status: 418, body: 'ADA' });
    expect(headers).to.include({ 'x-was': '418 a /p i', 'content-length': '3' }).and.not.have.property('x-received');
    expect(headers['set-cookie']).to.deep.equal(['b=2']);
  });

  it('uses the transformation of the request entry, or the first that matches the response', async () => {
    const regular = {
      requestTransforms: [
        { matcher: { prefix: '/own' }, responseTransformation: by(header('x-by', 'own')) },
        { matcher: { prefix: '/none' }, requestTransformation: by(header('x-a', 'b')) },
        { matcher: { prefix: '/never' }, responseTransformation: by(header('x-by', 'never')) },
      ],
      responseTransforms: [
        {
          matchers: [
            { name: 'x-type', value: 'a' },
            { name: ':status', value: '404' },
          ],
          responseTransformation: by(header('x-by', '404')),
        },
        {
          matchers: [{ name: 'x-type', value: 'a.*', regex: true }],
          responseTransformation: by(header('x-by', 'type')),
        },
        { matchers: [{ name: 'x-absent', invertMatch: true }], responseTransformation: by(header('x-by', 'rest')) },
      ],
    };
    const upstream = (req: { url?: string; headers: object }, res: import('node:http').ServerResponse): void => {
      const { type, status = '200' } = Object.fromEntries(new URL(`http://a${req.url}`).searchParams);
      if (type) res.setHeader('x-type', type);
      res.writeHead(Number(status)).end();
    };
    const port = await serve({ regular }, { upstream });
    const by404 = await ask(port, { path: '/none?type=a&status=404' });
    expect(by404.headers['x-by']).to.equal('404');
    for (const [path, expected] of [
      ['/own?type=a', 'own'],
      ['/none?type=ab', 'type'],
      ['/other', 'rest'],
    ] as const) {
      expect((await ask(port, { path })).headers['x-by'], path).to.equal(expected);
    }
  });

  it('matches the details of the response code', async () => {
    const regular = {
      responseTransforms: [
        {
          responseCodeDetails: 'denied_here',
          responseTransformation: by({
            headers: { ':status': { text: '404' } },
            body: { text: 'nothing' },
            parseBodyBehavior: 'DontParse',
          }),
        },
        { responseCodeDetails: 'via_upstream', responseTransformation: by(header('x-by', 'upstream')) },
      ],
    };
    const denying: Concern = {
      name: 'denying',
      option: 'stagedTransformations',
      stage: 'extAuth',
      compile: () => (req, _res, next) => {
        const reply = { body: 'denied', details: 'denied_here' };
        next(req.url === '/deny' ? new GatewayError('denied', { code: 'ERR_TEST', status: 403, reply }) : undefined);
      },
    };
    const port = await serve({ regular }, { concerns: [denying] });
    const { status, body } = await ask(port, { path: '/deny' });
    expect({ status, body }).to.deep.equal({ status: 404, body: 'nothing' });
    expect((await ask(port)).headers['x-by']).to.equal('upstream');
  });

  it('runs postRouting, regular and early in this order on responses', async () => {
    const add = (text: string) =>
      onResponses({ parseBodyBehavior: 'DontParse', body: { text: `{{ body() }}${text}` } });
    const port = await serve({ early: add('early'), regular: add('regular '), postRouting: add('post ') });
    expect((await ask(port, { body: '-' })).body).to.equal('-post regular early');
  });

  it('turns a response that it cannot read into a 400', async () => {
    const upstream = (req: { url?: string }, res: import('node:http').ServerResponse): void => {
      res.setHeader('x-kept', 'yes');
      res.setHeader('etag', '"1"');
      const bodies: Record<string, Buffer | string> = { '/gzip': gzipSync('{}'), '/text': 'no json' };
      res.end(bodies[req.url!] ?? '{}');
    };
    const port = await serve({ regular: onResponses({ body: { text: '{{ missing }}' } }) }, { upstream });
    const expected = [
      ['/gzip', 'bad request: the body is not UTF-8'],
      ['/text', 'bad request: the body is not JSON: unexpected byte 1'],
      ['/', 'bad request: the response cannot be transformed'],
    ];
    for (const [path, reason] of expected) {
      const { status, body, headers } = await ask(port, { path: path! });
      expect({ status, body }).to.deep.equal({ status: 400, body: reason });
      expect(headers).to.include({ 'x-kept': 'yes', 'content-type': 'text/plain' }).and.not.have.property('etag');
    }
    const passing = await serve(
      { regular: onResponses({ passthrough: {}, headers: { 'x-a': { text: '{{ missing }}' } } }) },
      { upstream },
    );
    const { status, body } = await ask(passing);
    expect({ status, body }).to.deep.equal({ status: 400, body: 'bad request: the response cannot be transformed' });
  });

  it('ignores invalid JSON with ignoreErrorOnParse, and streams bodies with passthrough', async () => {
    const upstream = (_req: unknown, res: import('node:http').ServerResponse): void => void res.end(gzipSync('{}'));
    const ignoring = await serve(
      { regular: onResponses({ ignoreErrorOnParse: true, headers: { 'x-a': { text: 'b' } } }) },
      { upstream },
    );
    const { bytes, headers } = await ask(ignoring);
    expect(headers['x-a']).to.equal('b');
    expect(bytes.equals(gzipSync('{}'))).to.equal(true);
    const large = (_req: unknown, res: import('node:http').ServerResponse): void =>
      void res.end(Buffer.alloc(3_000_000));
    const passing = await serve({ regular: onResponses(header('x-a', 'b')) }, { upstream: large });
    const passed = await ask(passing);
    expect(passed.headers['x-a']).to.equal('b');
    expect(passed.bytes.length).to.equal(3_000_000);
  });

  it('responds with 413 to a body above the limit', async () => {
    const upstream = (_req: unknown, res: import('node:http').ServerResponse): void =>
      void res.end(Buffer.alloc(1_048_577));
    const port = await serve(
      { regular: onResponses({ parseBodyBehavior: 'DontParse', body: { text: 'x' } }) },
      { upstream },
    );
    const { status, body } = await ask(port);
    expect({ status, body }).to.deep.equal({ status: 413, body: 'payload too large' });
  });

  it('keeps HEAD and 304 without a body', async () => {
    const upstream = (req: { url?: string }, res: import('node:http').ServerResponse): void =>
      void res.writeHead(req.url === '/304' ? 304 : 200, { 'content-type': 'text/a' }).end();
    const port = await serve(
      { regular: onResponses({ headers: { 'x-a': { text: 'b' } }, body: { text: 'x' } }) },
      { upstream },
    );
    for (const asked of [{ method: 'HEAD' }, { path: '/304' }]) {
      const { body, headers } = await ask(port, asked);
      expect(body).to.equal('');
      expect(headers).to.include({ 'x-a': 'b', 'content-type': 'text/a' });
    }
    expect((await ask(port)).body).to.equal('x');
  });

  it('wraps a response into JSON, and the deprecated form works too', async () => {
    const responseTransformation: Transformation = { headerBodyTransform: { addRequestMetadata: true } };
    const port = await serve({}, { route: { options: { transformations: { responseTransformation } } } });
    const { body, headers } = await ask(port, { body: 'abc' });
    expect(headers['content-type']).to.equal('application/json');
    const wrapped = JSON.parse(body) as { headers: Record<string, string> };
    expect(wrapped).to.have.all.keys('headers', 'body').and.include({ body: 'abc' });
    expect(wrapped.headers).to.include({ ':status': '200', 'content-type': 'text/plain' });
  });

  it('keeps dynamic metadata of a response for the access log', async () => {
    const template: TransformationTemplate = {
      dynamicMetadataValues: [
        { key: 'id', value: { text: '{{ id }}' } },
        { metadataNamespace: 'own', key: 'all', value: { text: '{{ context() }}' }, jsonToProto: true },
      ],
      headers: { 'x-again': { text: '{{ dynamic_metadata("all:list", "own") }}' } },
    };
    const port = await serve({ regular: onResponses(template) });
    const { headers } = await ask(port, { body: '{"id":"a","list":[1]}', headers: json });
    expect(headers['x-again']).to.equal('[1]');
  });

  it('transforms requests in your own server after a body parser', async () => {
    const app = express();
    app.use(express.json());
    app.use(
      transform({ ...onRequests({ mergeJsonKeys: { jsonKeys: { name: { tmpl: { text: '{{ name | upper }}' } } } } }) }),
    );
    app.post('/', (req, res) => void res.json((req as { body?: unknown }).body));
    const { port } = await start(app as never);
    const { body } = await ask(port, {
      body: '{"id":1,"name":"ada"}',
      headers: { 'content-type': 'application/json' },
    });
    expect(JSON.parse(body)).to.deep.equal({ id: 1, name: 'ADA' });
  });

  it('transforms responses in your own server', async () => {
    const app = express();
    app.use(
      transform({
        ...onResponses({ body: { text: '{{ name }}' }, headers: { 'content-type': { text: 'text/plain' } } }),
      }),
    );
    app.get('/', (_req, res) => void res.json({ name: 'ada' }));
    const { port } = await start(app as never);
    const { body, headers } = await ask(port);
    expect(body).to.equal('ada');
    expect(headers).to.include({ 'content-type': 'text/plain', 'content-length': '3' });
  });
});

describe('transformations after routing', () => {
  afterEach(stop);

  it('see the rewritten request and the metadata of the endpoint', async () => {
    const postRouting = {
      ...onRequests({
        headers: {
          'x-seen': {
            text: '{{ header(":path") }} {{ header("x-added") }} {{ host_metadata("version", "envoy.lb") }}',
          },
          ':path': { text: '/last' },
        },
        body: { text: 'body of {{ header(":path") }}' },
      }),
    };
    const options = {
      stagedTransformations: { postRouting },
      prefixRewrite: '/rewritten',
      headerManipulation: { requestHeadersToAdd: [{ header: { key: 'x-added', value: 'yes' } }] },
    };
    const port = await serve({}, { route: { options, matchers: [{ prefix: '/old' }] }, metadata: { version: 'v1' } });
    const { received, body } = await ask(port, { path: '/old/a' });
    expect(received.url).to.equal('/last');
    expect(received.headers['x-seen']).to.equal('/rewritten/a yes v1');
    expect(body).to.equal('body of /rewritten/a');
  });

  it('leave local replies unchanged, and reject what they cannot transform', async () => {
    const stage = onResponses(header('x-by', 'post'));
    const port = await serve({ postRouting: stage });
    expect((await ask(port)).headers['x-by']).to.equal('post');
    const failing = await serve({
      postRouting: { ...stage, ...onRequests({ headers: { 'x-a': { text: '{{ no }}' } } }) },
    });
    const { status, headers } = await ask(failing);
    expect(status).to.equal(400);
    expect(headers).to.not.have.property('x-by');
  });
});
