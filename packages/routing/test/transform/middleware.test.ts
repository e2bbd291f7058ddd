import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import express from 'express';
import { GatewayError } from '@edge-gateway/core';
import type { TransformationTemplate } from '@edge-gateway/core/schema';
import { transform } from '../../src/transform/concern.ts';

const agent = (text: string, onRefusal: 'respond' | 'next' = 'respond') =>
  transform({
    onRefusal,
    requestTransforms: [
      {
        requestTransformation: {
          transformationTemplate: {
            headers: { 'x-agent': { text }, ':path': { text: '/changed' }, ':method': { text: 'POST' } },
            headersToRemove: ['cookie'],
          },
        },
      },
    ],
  });

async function fetchFrom(handler: Parameters<typeof createServer>[1], headers: Record<string, string>) {
  const server = createServer(handler);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/a`, { headers });
    return { status: answer.status, body: await answer.text() };
  } finally {
    server.close();
  }
}

const seen = ({ method, url, headers, rawHeaders }: IncomingMessage) =>
  [method, url, headers['x-agent'], headers.cookie, rawHeaders.includes('x-agent')].join(' ');

describe('transform in a server of one’s own', () => {
  const handler = agent('{{ upper(header("x-in")) }}{{ env("PATH") }}');

  it('changes the request before the next handler of plain node:http', async () => {
    const { body } = await fetchFrom((req, res) => handler(req, res, () => res.end(seen(req))), {
      'x-in': 'a',
      cookie: 'b=c',
    });
    expect(body).to.equal('POST /changed A  true');
  });

  it('changes the request before the routes of Express', async () => {
    const app = express();
    app.use(handler);
    app.post('/changed', (req, res) => void res.end(seen(req)));
    expect((await fetchFrom(app, { 'x-in': 'a' })).body).to.equal('POST /changed A  true');
  });

  it('passes requests that it cannot transform to the error handler', async () => {
    const app = express();
    app.use(agent('{{ base64_decode(header("x-in")) }}', 'next'));
    app.use((error: GatewayError, _req: unknown, res: express.Response, _next: unknown) => {
      res.status(error.status).end(error.code);
    });
    const refused = { status: 400, body: 'ERR_ROUTING_TRANSFORMATION' };
    expect(await fetchFrom(app, { 'x-in': 'YQ0KYg==' })).to.deep.equal(refused);
  });

  it('throws when it is made with a template that does not parse', () => {
    expect(() => agent('{{ upper( }}'))
      .to.throw(/headers\.x-agent\.text: template line 1, column 11: a value is missing/)
      .with.property('code', 'ERR_ROUTING_OPTION');
  });

  const names: readonly [string, TransformationTemplate][] = [
    ['a name that is none', { headers: { 'x y': { text: '1' } } }],
    ['no name', { headersToAppend: [{ value: { text: '1' } }] }],
    ['a header that frames the message', { headers: { 'Transfer-Encoding': { text: 'chunked' } } }],
    ['another host beside the first', { headersToAppend: [{ key: 'Host', value: { text: 'b' } }] }],
    ['a pseudo header of an answer', { headers: { ':status': { text: '200' } } }],
    ['a request without path', { headersToRemove: [':path'] }],
  ];
  for (const [what, transformationTemplate] of names) {
    it(`throws for ${what}`, () => {
      expect(() => transform({ requestTransforms: [{ requestTransformation: { transformationTemplate } }] }))
        .to.throw(GatewayError, /header/)
        .with.property('code', 'ERR_CORE_MIDDLEWARE');
    });
  }
});
