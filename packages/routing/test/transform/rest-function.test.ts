import { expect } from 'chai';
import type { RestCall } from '@edge-gateway/core';
import type { RouteOptions } from '@edge-gateway/core/schema';
import { ask, serve, stop, type Setting } from './served.ts';

const FIND: RestCall = {
  functionName: 'findPetById',
  template: {
    body: {},
    headers: {
      ':method': { text: 'GET' },
      ':path': { text: '/api/pets/{{ default(id, "") }}' },
      'content-length': { text: '0' },
      'content-type': {},
      'transfer-encoding': {},
    },
  },
  parameters: { headers: { ':path': '/pets/{id}' } },
};

const ECHO: RestCall = {
  functionName: 'echo',
  template: { headers: { 'x-id': { text: '{{ id }}' }, 'x-all': { text: '{{ tenant }}|{{ user }}' } } },
};

function calling(rest: RestCall, options: RouteOptions = {}, more: Setting = {}): Promise<number> {
  const destinations = [{ upstream: 'up_gw-system', weight: 1, options: {}, rest }];
  return serve({}, { ...more, route: { action: { type: 'forward', destinations }, options } });
}

describe('functions of REST services', () => {
  afterEach(stop);

  it('replace method, path and body by those of the function', async () => {
    const port = await calling(FIND);
    const { received } = await ask(port, {
      path: '/pets/7',
      body: '{"a":1}',
      headers: { 'content-type': 'application/json' },
    });
    expect(received).to.include({ method: 'GET', url: '/api/pets/7' });
    expect(received.headers).to.not.have.any.keys('content-type', 'transfer-encoding');
    expect(received.headers['content-length'] ?? '0').to.equal('0');
  });

  it('read parameters of a JSON body', async () => {
    const port = await calling({ ...FIND, parameters: {} });
    const { received } = await ask(port, { path: '/find', body: '{"id": 12}' });
    expect(received.url).to.equal('/api/pets/12');
  });

  it('have empty parameters for a missing header, which exist for default()', async () => {
    const template = {
      headers: {
        'x-default': { text: '[{{ default(kind, "any") }}]' },
        'x-kind': { text: '{% if kind == "" %}any{% else %}{{ kind }}{% endif %}' },
      },
    };
    const port = await calling({ functionName: 'find', template, parameters: { headers: { 'x-type': '{kind}' } } });
    const missing = await ask(port, { path: '/find' });
    expect(missing.received.headers).to.include({ 'x-default': '[]', 'x-kind': 'any' });
    const present = await ask(port, { path: '/find', headers: { 'x-type': 'cat' } });
    expect(present.received.headers).to.include({ 'x-default': '[cat]', 'x-kind': 'cat' });
  });

  it('match the path without its query, unless the pattern has one', async () => {
    const found = async (pattern: string, path: string) =>
      (await ask(await calling({ ...FIND, parameters: { path: pattern } }), { path })).received.url;
    expect(await found('/pets/{id}', '/pets/7?x=1')).to.equal('/api/pets/7');
    expect(await found('/pets?id={id}', '/pets?id=8')).to.equal('/api/pets/8');
    expect(await found('/pets?id={id}', '/pets?id=8&x=1')).to.equal('/api/pets/');
    expect(await found('/a.b/{id}', '/axb/7')).to.equal('/api/pets/');
  });

  it('read several parameters of one header', async () => {
    const port = await calling({
      ...ECHO,
      parameters: { headers: { 'X-Who': '{tenant}/({ user })' }, path: '/x/{id}' },
    });
    const { received } = await ask(port, { path: '/x/1', headers: { 'x-who': 'acme/(ada.l)' } });
    expect(received.headers).to.include({ 'x-id': '1', 'x-all': 'acme|ada.l' });
    expect(received.url).to.equal('/x/1');
  });

  it('extract nothing that separates segments or query parameters', async () => {
    const port = await calling({ ...FIND, parameters: { headers: { 'x-id': '{id}' } } });
    for (const value of ['a/b', '..%2f', 'a?b', 'a&b=c', 'a b', 'a#b', 'é']) {
      const { received } = await ask(port, { headers: { 'x-id': Buffer.from(value).toString('latin1') } });
      expect(received.url, value).to.equal('/api/pets/');
    }
  });

  it('reject a value that becomes a dot segment', async () => {
    const port = await calling({ ...FIND, parameters: { headers: { 'x-id': '{id}' } } });
    expect((await ask(port, { headers: { 'x-id': '..' } })).status).to.equal(400);
  });

  it('reject a body that is not JSON', async () => {
    const port = await calling({ ...FIND, parameters: {} });
    expect((await ask(port, { body: 'id=1' })).status).to.equal(400);
  });

  it('match the path before rewrites, and replace the rewritten path', async () => {
    const port = await calling(FIND, { prefixRewrite: '/rewritten' });
    expect((await ask(port, { path: '/pets/7' })).received.url).to.equal('/api/pets/7');
    const template = { headers: { 'x-id': { text: '{{ id }}' } } };
    const kept = await calling(
      { ...ECHO, template, parameters: { path: '/pets/{id}' } },
      { prefixRewrite: '/rewritten/' },
    );
    const { received } = await ask(kept, { path: '/pets/7' });
    expect([received.url, received.headers['x-id']]).to.deep.equal(['/rewritten/pets/7', '7']);
  });

  it('run before the transformations of postRouting', async () => {
    const transformationTemplate = {
      headers: { 'x-seen': { text: '{{ request_header(":path") }}' } },
      passthrough: {},
    };
    const postRouting = { requestTransforms: [{ requestTransformation: { transformationTemplate } }] };
    const port = await calling(FIND, { stagedTransformations: { postRouting } });
    expect((await ask(port, { path: '/pets/7' })).received.headers['x-seen']).to.equal('/api/pets/7');
  });

  it('transform the response', async () => {
    const responseTransformation = { body: { text: 'the name is {{ name }}' } };
    const port = await calling(
      { ...FIND, responseTransformation },
      {},
      { upstream: (_req, res) => void res.end('{"name":"Rex"}') },
    );
    expect((await ask(port, { path: '/pets/7' })).body).to.equal('the name is Rex');
  });

  it('respond with 500 if the function is missing', async () => {
    const port = await calling({ functionName: 'gone' });
    expect((await ask(port)).status).to.equal(500);
  });
});
