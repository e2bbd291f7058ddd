import { expect } from 'chai';
import type { StagedTransformations, TransformationTemplate } from '@edge-gateway/core/schema';
import { explainRequest } from '../../src/explain/explain.ts';
import type { Admission } from '../../src/explain/explanation.ts';
import { createRouter, type Router } from '../../src/router.ts';
import { directOf, echo, endpointOf, hostOf, routeOf, snapshotOf, start, stopAll, upstreamOf } from '../snapshots.ts';

import { ask, listenOn } from '../served.ts';

type Hosts = Parameters<typeof snapshotOf>[0];
type Headers = Readonly<Record<string, string>>;

/** What leaves for the upstream, or the answer; headers without those that differ between two requests. */
interface Result {
  readonly status?: number;
  readonly method?: string;
  readonly url?: string;
  readonly headers?: Headers;
}

const OWN = /^(?:connection|content-length|date|x-(?:envoy|forwarded|request)-.*)$/;

function withoutOwn(headers: Headers): Headers {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !OWN.test(name)));
}

/** As Node gives them: one text a name. */
function joined(headers: readonly (readonly [string, string])[]): Headers {
  const out: Record<string, string> = {};
  for (const [name, value] of headers) out[name] = name in out ? `${out[name]}, ${value}` : value;
  return out;
}

/** A template in one stage. */
function staged(stage: 'early' | 'regular', template: TransformationTemplate, clearRouteCache = false) {
  const requestTransformation = { transformationTemplate: template };
  return { [stage]: { requestTransforms: [{ requestTransformation, clearRouteCache }] } } as StagedTransformations;
}

const append = (value: string): TransformationTemplate => ({
  headersToAppend: [{ key: 'x-seen', value: { text: value } }],
});
const set = (headers: Headers): TransformationTemplate => ({
  headers: Object.fromEntries(Object.entries(headers).map(([name, text]) => [name, { text }])),
});

describe('explained transformations', () => {
  const routers: Router[] = [];
  afterEach(async () => {
    await Promise.all(routers.splice(0).map((router) => router.close()));
    await stopAll();
  });

  async function served(hosts: Hosts, headers: Headers, path: string): Promise<Result> {
    const router = createRouter();
    routers.push(router);
    router.apply(snapshotOf(hosts, [upstreamOf([endpointOf((await start(echo)).port)])]));
    const { status, body } = await ask(await listenOn(router), path, { headers: { host: 'a', ...headers } });
    if (!body.startsWith('{') || status !== 200) return { status };
    const { method, url, headers: received } = JSON.parse(body) as Required<Result>;
    return { method, url, headers: withoutOwn(received) };
  }

  function explained(hosts: Hosts, headers: Headers, path: string, admit?: Admission): Result {
    const asked = { method: 'GET', url: `http://a${path}`, headers, ...(admit && { admit }) };
    const { outcome } = explainRequest(snapshotOf(hosts, [upstreamOf([endpointOf(9001)])]), asked);
    if (outcome.type !== 'forward') return { status: outcome.status };
    const [{ method, url, headers: sent } = { method: '', url: '', headers: [] }] = outcome.destinations;
    return { method, url: url.replace('http://127.0.0.1:9001', ''), headers: withoutOwn(joined(sent)) };
  }

  const cookie = {
    extractors: { token: { header: 'cookie', regex: '.*id_token=([^;]+).*', subgroup: 1 } },
    headers: { jwt: { text: '{{ token }}' } },
    headersToRemove: ['cookie'],
  };
  const byHeader = { matchers: [{ prefix: '/', headers: [{ name: 'x-seen', value: 'early' }] }] };
  const cases: [what: string, hosts: Hosts, headers: Headers, wanted: object, path?: string][] = [
    [
      'a cookie that becomes a header',
      [hostOf([routeOf()], { options: { stagedTransformations: staged('early', cookie) } })],
      { cookie: 'a=1; id_token=x.y.z' },
      { jwt: 'x.y.z' },
    ],
    [
      'path, method and host that are set',
      [
        hostOf([
          routeOf({
            options: {
              stagedTransformations: staged(
                'regular',
                set({ ':path': '/new?b=1', ':method': 'POST', ':authority': 'b' }),
              ),
            },
          }),
        ]),
      ],
      {},
      { host: 'b' },
    ],
    [
      'both stages, of which a route without any has its virtual host’s',
      [
        hostOf([routeOf()], {
          options: {
            stagedTransformations: {
              ...staged('early', append('1')),
              ...staged('regular', set({ 'x-two': '{{ header("x-seen") }}2' })),
            },
          },
        }),
      ],
      {},
      { 'x-seen': '1', 'x-two': '12' },
    ],
    [
      'those of the destination in place of all others',
      [
        hostOf([
          routeOf({
            action: {
              type: 'forward',
              destinations: [
                {
                  upstream: 'up_gw-system',
                  weight: 1,
                  options: { stagedTransformations: staged('regular', append('destination')) },
                },
              ],
            },
            options: { stagedTransformations: staged('early', append('route')) },
          }),
        ]),
      ],
      {},
      { 'x-seen': 'destination' },
    ],
    [
      'another route behind clearRouteCache, and its stages',
      [
        hostOf(
          [
            routeOf({
              ...byHeader,
              options: { prefixRewrite: '/chosen', stagedTransformations: staged('regular', append('regular')) },
            }),
            routeOf(),
          ],
          { options: { stagedTransformations: staged('early', append('early'), true) } },
        ),
      ],
      {},
      {},
    ],
    [
      'the early stage of a route that a regular transformation leads to',
      [
        hostOf([
          routeOf({
            matchers: [{ prefix: '/', headers: [{ name: 'x-seen', value: 'regular' }] }],
            options: {
              stagedTransformations: {
                ...staged('early', set({ 'x-early': 'second' })),
                ...staged('regular', set({ 'x-regular': '{{ header("x-early") }}' })),
              },
            },
          }),
          routeOf({ options: { stagedTransformations: staged('regular', append('regular'), true) } }),
        ]),
      ],
      {},
      { 'x-seen': 'regular', 'x-early': 'second', 'x-regular': 'second' },
    ],
    [
      'another virtual host behind clearRouteCache',
      [
        hostOf([routeOf({ options: { stagedTransformations: staged('early', set({ host: 'b' }), true) } })], {
          domains: ['a'],
        }),
        hostOf([routeOf({ options: { prefixRewrite: '/of-b' } })], { domains: ['b'], name: 'gw-system.b' }),
      ],
      {},
      { host: 'b' },
    ],
  ];
  for (const [what, hosts, headers, wanted, path = '/x'] of cases) {
    it(`show what the upstream gets: ${what}`, async () => {
      const shown = explained(hosts, headers, path);
      expect(shown.headers).to.include(wanted);
      expect(shown).to.deep.equal(await served(hosts, headers, path));
    });
  }

  const failing: [string, Hosts, number][] = [
    [
      'an undefined variable',
      [
        hostOf([
          routeOf({
            options: { stagedTransformations: staged('early', { passthrough: {}, ...set({ 'x-a': '{{ nobody }}' }) }) },
          }),
        ]),
      ],
      400,
    ],
    [
      'a template that does not parse',
      [hostOf([routeOf({ options: { stagedTransformations: staged('early', set({ 'x-a': '{{ nobody(' })) } })])],
      500,
    ],
    [
      'no route any more',
      [
        hostOf([
          routeOf({
            matchers: [{ exact: '/x' }],
            options: { stagedTransformations: staged('early', set({ ':path': '/y' }), true) },
          }),
        ]),
      ],
      404,
    ],
  ];
  for (const [what, hosts, status] of failing) {
    it(`show the response to ${what}`, async () => {
      expect(explained(hosts, {}, '/x')).to.deep.equal({ status });
      expect(await served(hosts, {}, '/x')).to.deep.equal({ status });
    });
  }

  it('take the body as empty', () => {
    const template = set({ ':path': '/{{ default(id, "none") }}' });
    const options = { stagedTransformations: staged('early', template, true) };
    const routes = [directOf('a', { matchers: [{ prefix: '/a' }], options }), directOf('b')];
    const { outcome } = explainRequest(snapshotOf([hostOf(routes)]), {
      method: 'POST',
      url: 'http://a/a',
      headers: { 'content-length': '5' },
    });
    expect(outcome).to.include({ status: 200, body: 'b' });
  });

  it('state why a request cannot be transformed', () => {
    const options = { stagedTransformations: staged('early', { passthrough: {}, ...set({ 'x-a': '{{ nobody }}' }) }) };
    const { outcome } = explainRequest(snapshotOf([hostOf([directOf('x', { options })])]), {
      method: 'GET',
      url: 'http://a/',
    });
    expect(outcome).to.have.property('reason').that.includes("variable 'nobody' is not defined");
  });

  it('run if the admission requests them, and once', () => {
    const seen: unknown[] = [];
    const hosts = [
      hostOf([routeOf()], {
        options: {
          stagedTransformations: { ...staged('early', append('early')), ...staged('regular', append('regular')) },
        },
      }),
    ];
    const shown = explained(hosts, {}, '/', ({ facts, transform }) => {
      for (let i = 0; i < 2; i++) {
        transform('early');
        seen.push(facts.header('x-seen'));
      }
      return undefined;
    });
    expect(seen).to.deep.equal(['early', 'early']);
    expect(shown.headers).to.include({ 'x-seen': 'early, regular' });
  });

  it('show routes by the path that was matched, not by a later one', () => {
    const options = { stagedTransformations: staged('early', set({ ':path': '/new' })) };
    const snapshot = snapshotOf([hostOf([routeOf({ name: 'old', matchers: [{ prefix: '/old' }], options })])]);
    const { routes, request: shown } = explainRequest(snapshot, { method: 'GET', url: 'http://a/old' });
    expect(routes.map(({ name, matched }) => [name, matched])).to.deep.equal([['old', true]]);
    expect(shown).to.deep.equal({ method: 'GET', host: 'a', path: '/old' });
  });
});
