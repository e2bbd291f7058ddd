import { expect } from 'chai';
import { createContext, factsOf, type Concern, type Context } from '@edge-gateway/core';
import type { StagedTransformations, TransformationTemplate } from '@edge-gateway/core/schema';
import { createRouter, type Router } from '../../src/router.ts';
import { directOf, echo, endpointOf, hostOf, routeOf, snapshotOf, start, stopAll, upstreamOf } from '../snapshots.ts';

import { ask as askServer, listenOn } from '../served.ts';

type Hosts = Parameters<typeof snapshotOf>[0];

interface Received {
  readonly status: number;
  readonly body: string;
  /** What the upstream got. */
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
}

interface Setting {
  readonly concerns?: readonly Concern[];
  readonly context?: Context;
  readonly settings?: { readonly escapeCharacters?: boolean };
}

const routers: Router[] = [];

async function serve(hosts: Hosts, setting: Setting = {}): Promise<number> {
  const { settings, ...options } = setting;
  const router = createRouter(options);
  routers.push(router);
  const snapshot = snapshotOf(hosts, [upstreamOf([endpointOf((await start(echo)).port)])]);
  router.apply({ ...snapshot, settings: { ...snapshot.settings, ...settings } });
  return await listenOn(router);
}

async function ask(
  port: number,
  path = '/',
  headers: Record<string, string | string[]> = {},
  method = 'GET',
): Promise<Received> {
  const { status, body } = await askServer(port, path, { headers, method });
  const sent = status === 200 && body.startsWith('{') ? (JSON.parse(body) as Received) : undefined;
  const { method: got = '', url = '', headers: received = {} } = sent ?? {};
  return { status, body, method: got, url, headers: received };
}

/** The options of a level with one template in one stage. */
function by(template: TransformationTemplate, stage: 'early' | 'regular' = 'regular') {
  return { stagedTransformations: staged(template, stage) };
}

function staged(template: TransformationTemplate, stage: 'early' | 'regular', clearRouteCache = false) {
  const requestTransformation = { transformationTemplate: template };
  return { [stage]: { requestTransforms: [{ requestTransformation, clearRouteCache }] } } as StagedTransformations;
}

const header = (name: string, text: string): TransformationTemplate => ({ headers: { [name]: { text } } });

describe('transformations of requests', () => {
  afterEach(async () => {
    await Promise.all(routers.splice(0).map((router) => router.close()));
    await stopAll();
  });

  it('moves the id token from a cookie to a header', async () => {
    const template = {
      extractors: { token: { header: 'cookie', regex: '.*id_token=([^;]+).*', subgroup: 1 } },
      headers: { jwt: { text: '{{ token }}' } },
      headersToRemove: ['cookie'],
    };
    const port = await serve([hostOf([routeOf()], { options: by(template, 'early') })]);
    const { headers } = await ask(port, '/', { cookie: 'access_token=a; id_token=x.y.z; other=1' });
    expect(headers).to.include({ jwt: 'x.y.z' }).and.not.have.property('cookie');
    const without = await ask(port, '/', { cookie: 'other=1', jwt: 'forged' });
    expect(without.headers).to.not.have.any.keys('jwt', 'cookie');
  });

  it('runs early transformations before tokens and access control, regular ones after them', async () => {
    const seen: string[] = [];
    const note = (stage: 'extAuth' | 'jwt' | 'rbac'): Concern => ({
      name: stage,
      option: 'stagedTransformations',
      stage,
      compile: () => (req, _res, next) => {
        const facts = factsOf(req);
        seen.push(`${stage}: ${facts.header('x-early')} ${facts.header('x-regular')}`);
        next();
      },
    });
    const both = { ...staged(header('x-early', '1'), 'early'), ...staged(header('x-regular', '2'), 'regular') };
    const hosts = [hostOf([routeOf({ options: { stagedTransformations: both } })])];
    const port = await serve(hosts, { concerns: [note('rbac'), note('jwt'), note('extAuth')] });
    const { headers } = await ask(port);
    expect(headers).to.include({ 'x-early': '1', 'x-regular': '2' });
    expect(seen).to.deep.equal(['extAuth: undefined undefined', 'jwt: 1 undefined', 'rbac: 1 undefined']);
  });

  it('sets, then removes, then appends; later templates see earlier changes', async () => {
    const port = await serve([
      hostOf([
        routeOf({
          options: by({
            extractors: { first: { header: 'x-in', regex: '(.*)', subgroup: 1 } },
            headers: {
              'x-in': { text: '{{ first }}-set' },
              'x-seen': { text: '{{ header("x-in") }}' },
              'x-gone': { text: '' },
            },
            headersToRemove: ['x-remove'],
            headersToAppend: [
              { key: 'x-remove', value: { text: 'back' } },
              { key: 'x-in', value: { text: '{{ extraction("first") }}' } },
              { key: 'x-none', value: { text: '' } },
            ],
          }),
        }),
      ]),
    ]);
    const { headers } = await ask(port, '/', { 'x-in': ['one', 'two'], 'x-gone': 'g', 'x-remove': 'r' });
    expect(headers).to.include({ 'x-in': 'one-set, one', 'x-seen': 'one-set', 'x-remove': 'back' });
    expect(headers).to.not.have.any.keys('x-gone', 'x-none');
  });

  it('reads and sets path, method and authority', async () => {
    const port = await serve([
      hostOf([
        routeOf({
          options: by({
            extractors: { rest: { header: ':path', regex: '/old/(.*)', subgroup: 1 } },
            headers: {
              'x-was': { text: '{{ header(":method") }} {{ header(":authority") }}{{ header(":path") }}' },
              ':path': { text: '/new/{{ rest }}' },
              ':method': { text: 'PUT' },
              ':authority': { text: 'inner.example' },
            },
          }),
        }),
      ]),
    ]);
    const { method, url, headers } = await ask(port, '/old/a?b=c', { host: 'outer.example' });
    expect([method, url, headers['host']]).to.deep.equal(['PUT', '/new/a?b=c', 'inner.example']);
    expect(headers['x-was']).to.equal('GET outer.example/old/a?b=c');
  });

  const refusals: [string, string, TransformationTemplate][] = [
    ['dot segments in a path', '/a/../b', header(':path', '{{ header("x-in") }}')],
    ['hidden dot segments in a path', '/a/%2e%2e/b', header(':path', '{{ header("x-in") }}')],
    ['two slashes at the beginning of a path', '//evil.example/', header(':path', '{{ header("x-in") }}')],
    ['an empty path', '', header(':path', '{{ header("x-in") }}')],
    ['a path with a space', '/a b', header(':path', '{{ header("x-in") }}')],
    ['a method that nobody knows', 'STEAL', header(':method', '{{ header("x-in") }}')],
    ['CONNECT', 'CONNECT', header(':method', '{{ header("x-in") }}')],
    ['HEAD for a client that waits for a body', 'HEAD', header(':method', '{{ header("x-in") }}')],
    ['an authority with a path', 'a.example/b', header(':authority', '{{ header("x-in") }}')],
    ['no authority', '', header('host', '{{ header("x-in") }}')],
    ['a line break in a header', 'YQ0KeC1ldmlsOiAx', header('x-out', '{{ base64_decode(header("x-in")) }}')],
    ['a NUL in a header', 'YQBi', header('x-out', '{{ base64_decode(header("x-in")) }}')],
    ['an undefined variable', '', { parseBodyBehavior: 'DontParse', ...header('x-out', '{{ nobody }}') }],
    [
      'a loop without end',
      '',
      header('x-out', '{% for a in range(9999) %}{% for b in range(9999) %}x{% endfor %}{% endfor %}'),
    ],
  ];
  for (const [what, given, template] of refusals) {
    it(`rejects ${what} with 400, without showing the template to the client`, async () => {
      const port = await serve([hostOf([routeOf({ options: by(template) })])]);
      const { status, body } = await ask(port, '/', given === '' ? {} : { 'x-in': given });
      expect(status).to.equal(400);
      const { code, message } = JSON.parse(body) as { code: string; message: string };
      expect([code, message]).to.deep.equal([
        'ERR_ROUTING_TRANSFORMATION',
        'bad request: the request cannot be transformed',
      ]);
    });
  }

  it('cuts white space around a value, as block scalars bring it', async () => {
    const port = await serve([hostOf([routeOf({ options: by(header('x-out', '\n  a b \n')) })])]);
    expect((await ask(port)).headers['x-out']).to.equal('a b');
  });

  it('keeps a character whose last byte is white space in other encodings', async () => {
    const port = await serve([hostOf([routeOf({ options: by(header('x-a', '{{ header("x-in") }}')) })])]);
    const { headers } = await ask(port, '/', { 'x-in': 'voil\u00c3\u00a0' });
    expect(headers['x-a']).to.equal('voil\u00c3\u00a0');
  });

  it('uses only the first entry whose matcher fits', async () => {
    const entry = (text: string) => ({ requestTransformation: { transformationTemplate: header('x-out', text) } });
    const requestTransforms = [
      { matcher: { prefix: '/A', caseSensitive: false }, ...entry('upper') },
      { matcher: { prefix: '/a', methods: ['POST'] }, ...entry('post') },
      { matcher: { prefix: '/a', headers: [{ name: 'x-in', value: 'y' }] }, ...entry('header') },
      { matcher: { exact: '/a/none' } },
      { matcher: { prefix: '/a' }, ...entry('rest') },
    ];
    const options = { stagedTransformations: { regular: { requestTransforms } } };
    const port = await serve([hostOf([routeOf({ options })])]);
    const of = async (...args: [string, Record<string, string>?, string?]) =>
      (await ask(port, ...args)).headers['x-out'];
    expect(await of('/a', {}, 'POST')).to.equal('post');
    expect(await of('/a', { 'x-in': 'y' })).to.equal('header');
    expect(await of('/a')).to.equal('rest');
    expect(await of('/a/none')).to.equal(undefined);
    expect(await of('/b')).to.equal(undefined);
  });

  it('replaces all stages by those of the most specific level', async () => {
    const plain = routeOf({ matchers: [{ prefix: '/plain' }] });
    const own = routeOf({ matchers: [{ prefix: '/own' }], options: by(header('x-route', '1')) });
    const share = { upstream: 'up_gw-system', weight: 1, options: by(header('x-share', '1')) };
    const deep = routeOf({
      matchers: [{ prefix: '/deep' }],
      options: by(header('x-route', '1')),
      action: { type: 'forward', destinations: [share] },
    });
    const port = await serve([hostOf([plain, own, deep], { options: by(header('x-host', '1'), 'early') })]);
    const names = async (path: string) =>
      Object.keys((await ask(port, path)).headers).filter((name) => /^x-(?:host|route|share)$/.test(name));
    expect(await names('/plain')).to.deep.equal(['x-host']);
    expect(await names('/own')).to.deep.equal(['x-route']);
    expect(await names('/deep')).to.deep.equal(['x-share']);
  });

  it('uses the deprecated form as regular, unless that is set', async () => {
    const transformations = { requestTransformation: { transformationTemplate: header('x-old', '1') } };
    const routes = [
      routeOf({ matchers: [{ prefix: '/old' }], options: { transformations } }),
      routeOf({ matchers: [{ prefix: '/both' }], options: { ...by(header('x-new', '1')), transformations } }),
    ];
    const port = await serve([hostOf(routes)]);
    expect((await ask(port, '/old')).headers).to.include({ 'x-old': '1' });
    expect((await ask(port, '/both')).headers)
      .to.include({ 'x-new': '1' })
      .and.not.have.property('x-old');
  });

  it('chooses the route again after clearRouteCache, by header, path and host', async () => {
    const template = {
      extractors: {
        path: { header: 'x-path', regex: '.*' },
        host: { header: 'x-host', regex: '.*' },
      },
      headers: {
        'x-to': { text: '{{ header("x-in") }}' },
        ':path': { text: '/{{ path }}' },
        ':authority': { text: '{% if host %}{{ host }}{% else %}a.example{% endif %}' },
      },
    };
    const again = { stagedTransformations: staged(template, 'early', true) };
    const host = hostOf(
      [
        directOf('by header', { matchers: [{ prefix: '/', headers: [{ name: 'x-to', value: 'h' }] }] }),
        directOf('by path', { matchers: [{ exact: '/p' }] }),
        routeOf({ options: again }),
      ],
      { domains: ['a.example'] },
    );
    const other = hostOf([directOf('by host', { name: 'b' })], { name: 'gw-system.b', domains: ['b.example'] });
    const port = await serve([host, other]);
    const body = async (headers: Record<string, string>) =>
      (await ask(port, '/x', { host: 'a.example', ...headers })).body;
    expect(await body({ 'x-in': 'h' })).to.equal('by header');
    expect(await body({ 'x-path': 'p' })).to.equal('by path');
    expect(await body({ 'x-host': 'b.example' })).to.equal('by host');
    expect((await ask(port, '/x', { host: 'a.example', 'x-host': 'c.example' })).status).to.equal(404);
    expect(JSON.parse(await body({}))).to.include({ url: '/' });
  });

  it('runs the early stage once if the deprecated form is set too', async () => {
    const append = { headersToAppend: [{ key: 'x-seen', value: { text: 'early' } }] };
    const options = {
      stagedTransformations: staged(append, 'early', true),
      transformations: { requestTransformation: { transformationTemplate: header('x-regular', '1') } },
    };
    const chosen = { matchers: [{ prefix: '/', headers: [{ name: 'x-seen', value: 'early' }] }] };
    const port = await serve([
      hostOf([routeOf({ ...chosen, options: { prefixRewrite: '/chosen' } }), routeOf()], { options }),
    ]);
    const { url, headers } = await ask(port, '/');
    expect(url).to.equal('/chosen');
    expect(headers).to.include({ 'x-seen': 'early', 'x-regular': '1' });
  });

  it('leads past no policy of the route it chooses', async () => {
    const guard: Concern = {
      name: 'guard',
      option: 'extensions',
      stage: 'extAuth',
      compile: () => (_req, res) => void res.writeHead(403).end(),
    };
    const again = { stagedTransformations: staged(header(':path', '/secret'), 'early', true) };
    const routes = [
      directOf('secret', { matchers: [{ prefix: '/secret' }], options: { extensions: {} } }),
      routeOf({ options: again }),
    ];
    const port = await serve([hostOf(routes)], { concerns: [guard] });
    expect((await ask(port, '/open')).status).to.equal(403);
  });

  it('responds with 500 for a route whose template does not parse, and serves the others', async () => {
    const bad = routeOf({ matchers: [{ prefix: '/bad' }], options: by(header('x-out', '{{ ')) });
    const port = await serve([hostOf([bad, directOf('good')])]);
    expect((await ask(port, '/bad')).status).to.equal(500);
    expect((await ask(port, '/')).body).to.equal('good');
  });

  it('keeps JSON escapes by the template, else its block, else the settings', async () => {
    const template: TransformationTemplate = {
      extractors: { taken: { header: 'x-in', regex: '.*' } },
      headers: { 'x-out': { text: '{{ taken }}' } },
    };
    const outOf = async (own: boolean | undefined, block: boolean | undefined, settings: boolean | undefined) => {
      const early = staged({ ...template, ...(own !== undefined && { escapeCharacters: own }) }, 'early');
      const options = { stagedTransformations: { ...early, ...(block !== undefined && { escapeCharacters: block }) } };
      const given = settings === undefined ? {} : { escapeCharacters: settings };
      const port = await serve([hostOf([routeOf({ options })])], { settings: given });
      return (await ask(port, '/', { 'x-in': 'a"b' })).headers['x-out'];
    };
    expect(await outOf(undefined, undefined, undefined)).to.equal('a"b');
    expect(await outOf(undefined, undefined, true)).to.equal('a\\"b');
    expect(await outOf(undefined, false, true)).to.equal('a"b');
    expect(await outOf(true, false, undefined)).to.equal('a\\"b');
  });

  it('passes templates dynamic metadata, and only the variables of the context', async () => {
    const note: Concern = {
      name: 'note',
      option: 'stagedTransformations',
      stage: 'extAuth',
      compile: () => (req, _res, next) => {
        factsOf(req).metadata.set('auth', { user: { name: 'Zoë', roles: ['a'] } });
        next();
      },
    };
    const text =
      '{{ dynamic_metadata("user:name", "auth") }} {{ dynamic_metadata("user:roles", "auth") }}' +
      '{{ dynamic_metadata("own") }}{{ dynamic_metadata("constructor", "auth") }} [{{ env("ZONE") }}{{ env("PATH") }}]';
    const options = by({
      dynamicMetadataValues: [{ key: 'own', value: { text: '{"a":1}' }, jsonToProto: true }],
      headers: { 'x-out': { text } },
    });
    const context = createContext({ env: { ZONE: 'z1' } });
    const port = await serve([hostOf([routeOf({ options })])], { concerns: [note], context });
    const out = Buffer.from((await ask(port)).headers['x-out'] ?? '', 'latin1').toString('utf8');
    expect(out).to.equal('Zoë ["a"]{"a":1} [z1]');
  });
});
