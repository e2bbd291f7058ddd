import type { RequestListener } from 'node:http';
import { expect } from 'chai';
import { findDocument, OPENAPI_PATHS } from '../../src/discover/openapi/find-document.ts';
import { createUrlCaller } from '../../src/resolvers/upstream-urls.ts';
import { serve } from '../servers.ts';

const YAML = `# our API
openapi: 3.0.3
info: { title: pets, version: "1" }
paths:
  /pets: { get: { operationId: pets, responses: { 200: { description: OK } } } }
`;
const JSON_TEXT = JSON.stringify({ openapi: '3.1.0', paths: {} });

/** What is found at a server that answers these texts, by path, and what was told. */
async function find(
  answers: Readonly<Record<string, string | RequestListener>>,
  swaggerInfo?: { readonly url?: string; readonly inline?: string },
) {
  const server = await serve((req, res) => {
    const answer = answers[req.url!] ?? answers['*'];
    if (answer === undefined) return void res.writeHead(404).end('not here');
    if (typeof answer === 'function') return answer(req, res);
    res.end(answer);
  });
  const caller = createUrlCaller({ pets: server.url });
  const told: string[] = [];
  const ref = { name: 'pets', namespace: 'gw-system' };
  const serviceSpec = swaggerInfo && { rest: { swaggerInfo } };
  try {
    const document = await findDocument({ ref, serviceSpec }, caller.call, (path, why) => told.push(`${path}: ${why}`));
    return { document: document as { openapi: string; paths: object } | undefined, told, asked: server.asked };
  } finally {
    await caller.close();
    await server.close();
  }
}

describe('the OpenAPI document of a server', () => {
  for (const path of OPENAPI_PATHS) {
    it(`is found at ${path}, in JSON and in YAML`, async () => {
      expect((await find({ [path]: JSON_TEXT })).document!.openapi).to.equal('3.1.0');
      const { document, told } = await find({ [path]: YAML });
      expect(document!.paths).to.have.nested.property('/pets.get.operationId', 'pets');
      expect(told).to.deep.equal([]);
    });
  }

  it('may be one of Swagger 2, in JSON and in YAML', async () => {
    for (const text of ['{"swagger":"2.0","paths":{"/a":{}}}', 'swagger: "2.0"\npaths: { /a: {} }\n'])
      expect((await find({ '/swagger/docs/v1': text })).document!.paths).to.deep.equal({ '/a': {} });
  });

  it('is requested only at the URL that the upstream declares', async () => {
    const { document, asked } = await find(
      { '/docs/api.yaml?v=1': YAML },
      { url: 'https://elsewhere.example/docs/api.yaml?v=1' },
    );
    expect(document!.openapi).to.equal('3.0.3');
    expect(asked).to.deep.equal(['GET /docs/api.yaml?v=1']);
  });

  it('is that which the upstream contains, without a request', async () => {
    const { document, asked } = await find({}, { inline: YAML });
    expect(document!.openapi).to.equal('3.0.3');
    expect(asked).to.deep.equal([]);
  });

  it('is reported if the upstream contains another text', async () => {
    for (const inline of ['hello', 'openapi: 3.0.0\npaths:\n  a: [1\n']) {
      const { document, told } = await find({}, { inline });
      expect(document).to.equal(undefined);
      expect(told.join()).to.contain('serviceSpec.rest.swaggerInfo.inline: ');
    }
  });

  it('is searched at the next path after an invalid document, which is reported', async () => {
    const { document, told } = await find({
      '/openapi.yaml': 'openapi: 3.0.0\npaths:\n  a: [1\n',
      '/openapi.yml': (_req, res) => void res.destroy(),
      '/swagger.yaml': YAML,
    });
    expect(document!.openapi).to.equal('3.0.3');
    expect(told).to.have.length(2);
    expect(told[0]).to.match(/^\/openapi\.yaml: line \d+, column \d+: /);
    expect(told[1]).to.match(/^\/openapi\.yml: ./);
  });

  for (const [what, text] of [
    ['pages of HTML', '<!doctype html><title>openapi: 3</title>'],
    ['Swagger 1', '{"swaggerVersion":"1.2","apis":[]}'],
    ['another version of Swagger', 'swagger: "3.0"\npaths: {}\n'],
    ['other JSON', '{"hello":"world"}'],
    ['a number', '7'],
    ['a list that says openapi', '- openapi: 3.0.0\n'],
  ] as const) {
    it(`is not read from ${what}`, async () => {
      expect((await find({ '*': text })).document).to.equal(undefined);
    });
  }

  it('is rejected if its aliases expand too far', async () => {
    const bomb = ['openapi: 3.0.0', 'a: &a [1,1,1,1,1,1,1,1,1,1]'];
    for (let i = 1; i < 9; i++) {
      const name = String.fromCharCode(96 + i);
      bomb.push(`${String.fromCharCode(97 + i)}: &${String.fromCharCode(97 + i)} [${`*${name},`.repeat(9)}*${name}]`);
    }
    const { document, told } = await find({ '/openapi.yaml': bomb.join('\n') });
    expect(document).to.equal(undefined);
    expect(told.join()).to.include('aliases');
  });

  it('is not searched after two failures', async () => {
    const { document, told, asked } = await find({ '*': (_req, res) => void res.destroy() });
    expect(document).to.equal(undefined);
    expect(told).to.have.length(2);
    expect(new Set(asked).size).to.equal(2);
  });
});
