import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { asMiddleware, createContext, factsOf, fromByteString, toByteString, type Route } from '@edge-gateway/core';
import { forwardTo } from '../src/index.ts';
import { explainRequest } from '../src/explain/explain.ts';
import { ask, served, type Served } from './served.ts';
import { directOf, echo, hostOf, routeOf, snapshotOf, start, stopAll, upstreamOf, endpointOf } from './snapshots.ts';

const NAMES = ['José', 'Mikołaj', '東京', '😀'];
const text = (value: string | string[] | undefined): string => fromByteString(String(value));

describe('text beyond ASCII in headers', () => {
  let gateway: Served | undefined;
  afterEach(async () => {
    await gateway?.close();
    gateway = undefined;
    await stopAll();
  });

  for (const name of NAMES)
    it(`is UTF-8 on the wire in both directions: ${name}`, async () => {
      const secrets = new Map([['people', { 'x-secret': name }]]);
      const context = createContext({
        secrets: {
          get: ({ name: ref }) => {
            const data = secrets.get(ref);
            const encoded = Object.entries(data ?? {}).map(([key, value]) => [
              key,
              Buffer.from(value).toString('base64'),
            ]);
            return data && { type: 'Opaque', data: Object.fromEntries(encoded) as Record<string, string> };
          },
        },
      });
      const options: Route['options'] = {
        headerManipulation: {
          requestHeadersToAdd: [
            { header: { key: 'x-name', value: name } },
            { header: { key: 'x-mixed', value: `${name}/%REQ(x-sent)%/%DYNAMIC_METADATA(people:name)%` } },
            { headerSecretRef: { name: 'people', namespace: 'gw-system' } },
          ],
          responseHeadersToAdd: [{ header: { key: 'x-reply', value: `${name} %REQ(x-sent)%` } }],
        },
      };
      const noted = asNoted(name);
      gateway = await served({
        options: { ...options, ...noted.options } as Route['options'],
        context,
        concerns: [noted.concern],
      });
      const reply = await gateway.ask('/', { headers: { 'x-sent': toByteString(name) } });
      expect(reply.status).to.equal(200);
      const { headers } = JSON.parse(reply.body) as { headers: Record<string, string> };
      expect(text(headers['x-name'])).to.equal(name);
      expect(text(headers['x-secret'])).to.equal(name);
      expect(text(headers['x-mixed'])).to.equal(`${name}/${name}/${name}`);
      expect(text(reply.headers['x-reply'])).to.equal(`${name} ${name}`);
    });

  const matching = (value: string, rest: object): Route[] => [
    directOf('matched', { matchers: [{ prefix: '/', headers: [{ name: 'x-city', value, ...rest }] }] }),
    directOf('other', { name: 'other', matchers: [{ prefix: '/' }] }),
  ];

  for (const [title, value, rest, expected] of [
    ['an exact value', 'Zürich', {}, 'matched'],
    ['a negated value', 'Zürich', { invertMatch: true }, 'other'],
    ['an expression', 'Z.rich', { regex: true }, 'matched'],
    ['a negated expression', 'Z[üu]rich', { regex: true, invertMatch: true }, 'other'],
    ['another exact value', 'Zurich', {}, 'other'],
  ] as const)
    it(`compares as UTF-8 with ${title}`, async () => {
      gateway = await served({ routes: matching(value, rest) });
      const { body } = await gateway.ask('/', { headers: { 'x-city': toByteString('Zürich') } });
      expect(body).to.equal(expected);
    });

  it('compares as UTF-8 in an explanation, and is shown as text', () => {
    const routes = [
      routeOf({
        matchers: [{ prefix: '/', headers: [{ name: 'x-city', value: 'Zürich' }] }],
        options: { headerManipulation: { requestHeadersToAdd: [{ header: { key: 'x-name', value: 'Mikołaj' } }] } },
      }),
    ];
    const snapshot = snapshotOf([hostOf(routes)], [upstreamOf([endpointOf(9001)])]);
    const asked = { method: 'GET', url: 'http://a.example/', headers: { 'x-city': 'Zürich' } };
    const { outcome } = explainRequest(snapshot, asked);
    if (outcome.type !== 'forward') throw new Error(outcome.type);
    expect(Object.fromEntries(outcome.destinations[0]!.headers)).to.include({
      'x-city': 'Zürich',
      'x-name': 'Mikołaj',
    });
  });

  it('is escaped in a Location', async () => {
    const redirect = { pathRedirect: '/ok?name=Mikołaj' };
    gateway = await served({ routes: [routeOf({ action: { type: 'redirect', redirect } })] });
    const { status, headers } = await gateway.ask('/');
    expect([status, headers['location']]).to.deep.equal([301, 'http://a.example/ok?name=Miko%C5%82aj']);
  });

  it('is UTF-8 in the headers that forwardTo and a middleware set', async () => {
    const { port: target } = await start(echo);
    const name = asMiddleware<object>({
      name: 'name',
      option: 'name',
      stage: 'extAuth',
      compile: () => (req, _res, next) => {
        factsOf(req).responseChanges.push({ op: 'set', name: 'x-reply', value: toByteString('Mikołaj') });
        next();
      },
    })({});
    const forward = forwardTo({ target: `http://127.0.0.1:${target}`, headers: { 'x-name': 'Mikołaj' } });
    const server = createServer((req, res) => name(req, res, () => forward(req, res, () => res.destroy())));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      const reply = await ask((server.address() as AddressInfo).port, '/');
      const { headers } = JSON.parse(reply.body) as { headers: Record<string, string> };
      expect([text(headers['x-name']), text(reply.headers['x-reply'])]).to.deep.equal(['Mikołaj', 'Mikołaj']);
    } finally {
      await forward.close?.();
      await new Promise((resolve) => server.close(resolve));
    }
  });
});

/** A concern that leaves a name as text in the dynamic metadata. */
function asNoted(name: string) {
  return {
    options: { extauth: {} },
    concern: {
      name: 'noted',
      option: 'extauth',
      stage: 'extAuth',
      compile: () =>
        function noted(req: Parameters<typeof factsOf>[0], _res: unknown, next: () => void) {
          factsOf(req).metadata.set('people', { name });
          next();
        },
    } as const,
  };
}
