import {
  createControlPlane,
  memorySource,
  silentLoggers,
  type ClusterService,
  type ControlPlaneState,
  type Route,
} from '@edge-gateway/core';
import { expect } from 'chai';
import type { GatewayApiInput, GatewayObject, RouteSpec } from '../../src/gateway-api/gateway-objects.ts';
import { CONTROLLER_NAME } from '../../src/gateway-api/own-gateways.ts';
import { translateGateways } from '../../src/gateway-api/translate-gateways.ts';
import type { GatewayApiTranslation } from '../../src/gateway-api/translation.ts';

const GROUP = 'gateway.networking.k8s.io';
const meta = (key: string, more: object = {}) => {
  const [namespace, name] = key.split('/') as [string, string];
  return { name, namespace, generation: 3, creationTimestamp: '2026-01-01T00:00:00Z', ...more };
};
const CLASS = { metadata: { name: 'edge-gateway', generation: 1 }, spec: { controllerName: CONTROLLER_NAME } };
const HTTP = { name: 'http', port: 8080, protocol: 'HTTP' };
const gateway = (listeners: object[] = [HTTP], more: object = {}) => ({
  metadata: meta('apps/gw'),
  spec: { gatewayClassName: 'edge-gateway', listeners, ...more } as never,
});
const route = (key: string, spec: object, more: object = {}): GatewayObject<RouteSpec> => ({
  metadata: meta(key, more),
  spec: { parentRefs: [{ name: 'gw' }], ...spec } as RouteSpec,
});
const backend = (name = 'web', more: object = {}) => ({ name, port: 80, ...more });
const to = (name = 'web') => ({ backendRefs: [backend(name)] });

interface Given extends Partial<Omit<GatewayApiInput, 'routes'>> {
  readonly http?: GatewayObject<RouteSpec>[];
  readonly grpc?: GatewayObject<RouteSpec>[];
}

function translated({ http = [], grpc = [], ...more }: Given): GatewayApiTranslation {
  const services = new Set(['apps/web', 'apps/api', 'other/far']);
  const input: GatewayApiInput = {
    classes: [CLASS],
    gateways: [gateway()],
    routes: { HTTPRoute: http, GRPCRoute: grpc },
    grants: [],
    namespaces: new Map([
      ['apps', { team: 'a' }],
      ['other', { team: 'b' }],
    ]),
    servicePorts: ({ namespace, name }) => (services.has(`${namespace}/${name}`) ? [80] : undefined),
    hasUpstream: ({ name }) => name === 'known',
    optionProblem: (kind, { name }) =>
      name === 'missing' || name === 'invalid'
        ? { isMissing: name === 'missing', message: `${kind} apps/${name} is ${name}` }
        : undefined,
    addressesOf: () => ['192.0.2.1'],
    certificate: ({ name }) =>
      name === 'cert'
        ? { type: 'kubernetes.io/tls', data: { 'tls.crt': 'YQ==', 'tls.key': 'Yg==' } }
        : { problem: `Secret ${name} not found` },
    now: 0,
    options: [],
    ...more,
  };
  return translateGateways(input, { writeNamespace: 'gw-system' });
}

type Conditions = {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}[];
const statusOf = (result: GatewayApiTranslation, name: string): any =>
  result.statuses.find(({ object }) => object.metadata.name === name)!.status;
const shown = (conditions: Conditions) => conditions.map(({ type, status, reason }) => `${type} ${status} ${reason}`);
const parentOf = (result: GatewayApiTranslation, name: string, i = 0) =>
  shown(statusOf(result, name).parents[i].conditions);
const OK = ['Accepted True Accepted', 'ResolvedRefs True ResolvedRefs'];

/** Serves the translation as a control plane does. */
async function served(
  result: GatewayApiTranslation,
  proxy = 'apps.gw',
): Promise<{ state: ControlPlaneState; hosts: Map<string, readonly Route[]> }> {
  const service = (key: string): [string, ClusterService] => {
    const [namespace, name] = key.split('/') as [string, string];
    const upstream = { kube: { serviceName: name, serviceNamespace: namespace, servicePort: 80 } };
    return [key, { ref: { name, namespace }, selector: {}, ports: [{ port: 80, upstream, endpoints: [] }] }];
  };
  const plane = createControlPlane({
    source: memorySource({ all: result.resources }),
    services: {
      start: async (onChange) => onChange(['apps/web', 'apps/api', 'other/far'].map(service)),
      close: async () => {},
    },
    log: silentLoggers,
  });
  await plane.start();
  const state = plane.state!;
  await plane.close();
  const listeners = state.snapshots.get(proxy)?.listeners ?? [];
  const hosts = listeners.flatMap(({ bindPort, virtualHosts }) =>
    virtualHosts.map(({ domains, routes }) => [`${bindPort} ${domains.join()}`, routes] as const),
  );
  return { state, hosts: new Map(hosts) };
}

describe('the translation of the Gateway API', () => {
  it('serves an HTTPRoute at its Gateway, and reports both as accepted', async () => {
    const result = translated({ http: [route('apps/r', { hostnames: ['a.example.com'], rules: [to()] })] });
    expect(parentOf(result, 'r')).to.deep.equal(OK);
    const { conditions, listeners, addresses } = statusOf(result, 'gw');
    expect(shown(conditions)).to.deep.equal(['Accepted True Accepted', 'Programmed True Programmed']);
    expect(addresses).to.deep.equal([{ type: 'IPAddress', value: '192.0.2.1' }]);
    expect(listeners[0].attachedRoutes).to.equal(1);
    expect(listeners[0].supportedKinds.map(({ kind }: { kind: string }) => kind)).to.deep.equal([
      'HTTPRoute',
      'GRPCRoute',
    ]);
    expect(shown(listeners[0].conditions)).to.deep.equal([
      'Accepted True Accepted',
      'Conflicted False NoConflicts',
      'ResolvedRefs True ResolvedRefs',
      'Programmed True Programmed',
    ]);
    expect(conditions[0]).to.have.property('observedGeneration', 3);
    const { state, hosts } = await served(result);
    const [listener] = state.snapshots.get('apps.gw')!.listeners;
    expect(listener!.routeOptions.ignorePortInHostMatching).to.equal(true);
    expect(state.issues).to.deep.equal([]);
    const [only] = hosts.get('8080 a.example.com')!;
    expect(only!.action).to.have.nested.property('destinations[0].upstream', 'kube-svc:apps-web-80_apps');
  });

  it('ignores classes of other controllers, and Gateways and routes of other classes', () => {
    const other = { metadata: { name: 'other' }, spec: { controllerName: 'example.com/other' } };
    const result = translated({
      classes: [other],
      gateways: [gateway(undefined, { gatewayClassName: 'other' })],
      http: [route('apps/r', { rules: [to()] })],
    });
    expect(result).to.deep.equal({ resources: [], statuses: [] });
  });

  it('reports the supported features, and rejects parameters of a class', () => {
    const { conditions, supportedFeatures } = statusOf(translated({}), 'edge-gateway');
    expect(shown(conditions)).to.deep.equal(['Accepted True Accepted']);
    const names = supportedFeatures.map(({ name }: { name: string }) => name);
    expect(names)
      .to.deep.equal([...names].sort())
      .and.include('HTTPRoute');
    const withParameters = { ...CLASS, spec: { ...CLASS.spec, parametersRef: { name: 'x' } } };
    const rejected = translated({ classes: [withParameters], http: [route('apps/r', { rules: [to()] })] });
    expect(shown(statusOf(rejected, 'edge-gateway').conditions)).to.deep.equal(['Accepted False InvalidParameters']);
    expect([rejected.resources, rejected.statuses.length], 'serves no Gateway of the class').to.deep.equal([[], 1]);
  });

  describe('of matches', () => {
    const matchersOf = async (rules: object[]) => {
      const { hosts } = await served(translated({ http: [route('apps/r', { rules })] }));
      return hosts.get('8080 *')!.map(({ matchers }) => matchers[0]!);
    };

    it('compares prefixes by whole segments', async () => {
      expect(await matchersOf([{ matches: [{ path: { type: 'PathPrefix', value: '/a/' } }], ...to() }])).to.deep.equal([
        { exact: '/a' },
        { prefix: '/a/' },
      ]);
      expect(await matchersOf([to()])).to.deep.equal([{ prefix: '/' }]);
    });

    it('puts exact paths first, then longer prefixes, methods, headers and query parameters', async () => {
      const path = (value: string, type = 'PathPrefix') => ({ path: { type, value } });
      const header = { headers: [{ name: 'x', value: '1' }] };
      const matches = [
        path('/a'),
        { ...path('/a'), queryParams: [{ name: 'q', value: '1', type: 'RegularExpression' }] },
        { ...path('/a'), ...header },
        { ...path('/a'), method: 'GET' },
        path('/a/long'),
        path('/a', 'Exact'),
        path('/a.*', 'RegularExpression'),
      ];
      const found = await matchersOf([{ matches, ...to() }]);
      const below = found.filter(
        (matcher) => matcher.prefix !== undefined || matcher.regex !== undefined || Object.keys(matcher).length === 1,
      );
      expect(found[0]).to.deep.equal({ exact: '/a' });
      expect(below.filter(({ prefix, regex }) => prefix ?? regex)).to.deep.equal([
        { regex: '/a.*' },
        { prefix: '/a/long/' },
        { prefix: '/a/', methods: ['GET'] },
        { prefix: '/a/', headers: [{ name: 'x', value: '1' }] },
        { prefix: '/a/', queryParameters: [{ name: 'q', value: '1', regex: true }] },
        { prefix: '/a/' },
      ]);
    });

    it('puts the older of two equal routes first, then the first by name', async () => {
      const at = (creationTimestamp: string) => ({ creationTimestamp });
      const http = [
        route('apps/young', { rules: [to('web')] }, at('2026-02-01T00:00:00Z')),
        route('apps/old', { rules: [to('api')] }, at('2025-02-01T00:00:00Z')),
      ];
      for (const order of [http, http.toReversed()]) {
        const { hosts } = await served(translated({ http: order }));
        expect(hosts.get('8080 *')![0]!.action).to.have.nested.property(
          'destinations[0].upstream',
          'kube-svc:apps-api-80_apps',
        );
      }
    });

    it('of a GRPCRoute are services and methods, over HTTP/2', async () => {
      const match = (method: object | undefined) => ({ matches: [{ method }], ...to() });
      const result = translated({
        grpc: [
          route('apps/g', {
            rules: [
              match({ service: 'a.B', method: 'C' }),
              match({ service: 'a.B' }),
              match({ method: 'C+' }),
              match({ type: 'RegularExpression', service: 'x.*' }),
              match(undefined),
            ],
          }),
        ],
      });
      expect(parentOf(result, 'g')).to.deep.equal(OK);
      const { hosts, state } = await served(result);
      expect(hosts.get('8080 *')!.map(({ matchers }) => matchers[0])).to.have.deep.members([
        { exact: '/a.B/C' },
        { regex: '/[^/]+/C\\+' },
        { regex: '/x.*/[^/]+' },
        { exact: '/a.B' },
        { prefix: '/a.B/' },
        { prefix: '/' },
      ]);
      const upstream = state.snapshots
        .get('apps.gw')!
        .upstreams.find(({ name }) => name.startsWith('gateway-api.grpc'));
      expect(upstream!.spec.useHttp2).to.equal(true);
    });
  });

  describe('of filters', () => {
    const only = async (rule: object, listeners?: object[]) => {
      const result = translated({
        http: [route('apps/r', { rules: [rule] })],
        ...(listeners && { gateways: [gateway(listeners)] }),
      });
      const { hosts } = await served(result);
      return { result, routes: [...hosts.values()][0] ?? [] };
    };
    const header = (name: string, value: string) => ({ name, value });

    it('change headers', async () => {
      const requestHeaderModifier = { set: [header('a', '1%')], add: [header('b', '2')], remove: ['c'] };
      const responseHeaderModifier = { set: [header('d', '3')] };
      const { routes } = await only({
        filters: [
          { type: 'RequestHeaderModifier', requestHeaderModifier },
          { type: 'ResponseHeaderModifier', responseHeaderModifier },
        ],
        ...to(),
      });
      expect(routes[0]!.options.headerManipulation).to.deep.equal({
        requestHeadersToAdd: [
          { header: { key: 'a', value: '1%%' }, append: false },
          { header: { key: 'b', value: '2' }, append: true },
        ],
        requestHeadersToRemove: ['c'],
        responseHeadersToAdd: [{ header: { key: 'd', value: '3' }, append: false }],
        responseHeadersToRemove: [],
      });
    });

    it('redirect, to the port of the scheme or of the listener', async () => {
      const redirect = async (requestRedirect: object, listeners?: object[]) => {
        const { routes } = await only({ filters: [{ type: 'RequestRedirect', requestRedirect }] }, listeners);
        const { action } = routes.at(-1)!;
        return action.type === 'redirect' ? action.redirect : undefined;
      };
      expect(await redirect({ scheme: 'https' })).to.deep.equal({
        responseCode: 'FOUND',
        httpsRedirect: true,
        portRedirect: 443,
      });
      expect(await redirect({ scheme: 'http' })).to.deep.equal({
        responseCode: 'FOUND',
        schemeRedirect: 'http',
        portRedirect: 80,
      });
      expect(await redirect({ hostname: 'b.example.com', statusCode: 301 })).to.deep.equal({
        responseCode: 'MOVED_PERMANENTLY',
        hostRedirect: 'b.example.com',
        portRedirect: 8080,
      });
      const on80 = [{ ...HTTP, port: 80 }];
      expect(await redirect({ hostname: 'b.example.com' }, on80)).to.have.property('portRedirect', 80);
      expect(await redirect({ port: 9000, path: { type: 'ReplaceFullPath', replaceFullPath: '/x' } })).to.deep.equal({
        responseCode: 'FOUND',
        portRedirect: 9000,
        pathRedirect: '/x',
      });
    });

    it('rewrite hosts and paths', async () => {
      const urlRewrite = {
        hostname: 'c.example.com',
        path: { type: 'ReplacePrefixMatch', replacePrefixMatch: '/new/' },
      };
      const { routes } = await only({
        matches: [{ path: { type: 'PathPrefix', value: '/old' } }],
        filters: [{ type: 'URLRewrite', urlRewrite }],
        ...to(),
      });
      expect(routes.map(({ options }) => [options.hostRewrite, options.prefixRewrite])).to.deep.equal([
        ['c.example.com', '/new'],
        ['c.example.com', '/new/'],
      ]);
      const root = { path: { type: 'ReplacePrefixMatch', replacePrefixMatch: '/' } };
      const { routes: atRoot } = await only({
        matches: [{ path: { type: 'PathPrefix', value: '/old' } }],
        filters: [{ type: 'URLRewrite', urlRewrite: root }],
        ...to(),
      });
      expect(atRoot.map(({ options }) => options.prefixRewrite)).to.deep.equal(['/', '/']);
      const full = { path: { type: 'ReplaceFullPath', replaceFullPath: '/x\\1' } };
      const { routes: replaced } = await only({ filters: [{ type: 'URLRewrite', urlRewrite: full }], ...to() });
      expect(replaced[0]!.options.regexRewrite).to.deep.equal({ pattern: { regex: '^.*$' }, substitution: '/x\\\\1' });
    });

    it('copy requests, and set timeouts', async () => {
      const filters = [
        {
          type: 'RequestMirror',
          requestMirror: { backendRef: backend('api'), fraction: { numerator: 1, denominator: 4 } },
        },
      ];
      const { routes } = await only({ filters, timeouts: { request: '10s', backendRequest: '2s' }, ...to() });
      expect(routes[0]!.options.shadowing).to.deep.equal({
        upstream: { name: 'kube-svc:apps-api-80', namespace: 'apps' },
        percentage: 25,
      });
      expect(routes[0]!.options.timeout).to.equal('2s');
      const unlimited = await only({ timeouts: { request: '10s', backendRequest: '0s' }, ...to() });
      expect(unlimited.routes[0]!.options.timeout, 'of all attempts').to.equal('10s');
    });

    it('that are not supported make the route unaccepted, and nothing else', async () => {
      const mirror = { type: 'RequestMirror', requestMirror: { backendRef: backend('api') } };
      const bad = [
        { filters: [{ type: 'ExternalAuth' }], ...to() },
        { filters: [{ type: 'ExtensionRef', extensionRef: { group: 'x', kind: 'Y', name: 'z' } }], ...to() },
        { filters: [{ type: 'ExtensionRef', extensionRef: { group: 'x', kind: 'RouteOption', name: 'z' } }], ...to() },
        { backendRefs: [backend('web', { filters: [{ type: 'RequestMirror' }] })] },
        { matches: [{ path: { type: 'RegularExpression', value: '(' } }], ...to() },
        { filters: [{ type: 'RequestRedirect', requestRedirect: { statusCode: 399 } }] },
        { filters: [mirror, mirror], ...to() },
      ];
      for (const rule of bad) {
        const result = translated({
          http: [route('apps/bad', { rules: [rule] }), route('apps/good', { rules: [to()] })],
        });
        expect(parentOf(result, 'bad')[0]).to.equal('Accepted False UnsupportedValue');
        expect(parentOf(result, 'good')).to.deep.equal(OK);
        const { hosts, state } = await served(result);
        expect(hosts.get('8080 *')).to.have.length(1);
        expect(state.issues).to.deep.equal([]);
        expect(statusOf(result, 'gw').listeners[0].attachedRoutes).to.equal(1);
      }
    });
  });

  describe('of backends', () => {
    const first = async (backendRefs: object[], more: Given = {}) => {
      const result = translated({ http: [route('apps/r', { rules: [{ backendRefs }] })], ...more });
      const { hosts } = await served(result);
      return { conditions: parentOf(result, 'r'), action: hosts.get('8080 *')![0]!.action };
    };

    it('distributes requests by weight', async () => {
      const { action } = await first([backend('web', { weight: 9 }), backend('api'), backend('web', { weight: 0 })]);
      expect(action).to.have.property('type', 'forward');
      expect(JSON.stringify(action)).to.contain('"weight":9').and.contain('"weight":1').and.contain('"weight":0');
    });

    it('may be Upstreams', async () => {
      const { action, conditions } = await first([{ group: 'gw.vendor.io', kind: 'Upstream', name: 'known' }]);
      expect(conditions).to.deep.equal(OK);
      expect(JSON.stringify(action)).to.contain('known');
    });

    it('that cannot be used are reported, and answered with 500', async () => {
      const cases: [object, string][] = [
        [backend('gone'), 'BackendNotFound'],
        [backend('web', { port: 81 }), 'BackendNotFound'],
        [{ name: 'x', kind: 'ConfigMap' }, 'InvalidKind'],
        [{ group: 'x.io', name: 'web', port: 80 }, 'InvalidKind'],
        [backend('far', { namespace: 'other' }), 'RefNotPermitted'],
        [{ group: 'gw.vendor.io', kind: 'Upstream', name: 'gone' }, 'BackendNotFound'],
      ];
      for (const [ref, reason] of cases) {
        const { action, conditions } = await first([ref]);
        expect(conditions).to.deep.equal(['Accepted True Accepted', `ResolvedRefs False ${reason}`]);
        expect(action).to.deep.include({ type: 'direct', status: 500 });
      }
      for (const refs of [[], [backend('web', { weight: 0 })]]) {
        const { action } = await first(refs);
        expect(action).to.deep.include({ type: 'direct', status: 500 });
      }
    });

    it('that cannot be used keep their share of the requests', async () => {
      const { action } = await first([backend('web', { weight: 9 }), backend('gone', { weight: 3 }), backend('gone')]);
      const { destinations } = action as unknown as { destinations: { upstream: string; weight: number }[] };
      expect(destinations.map(({ weight }) => weight)).to.deep.equal([9, 4]);
      expect(destinations[1]!.upstream).to.contain('invalid-backend');
    });

    it('in other namespaces need a grant there', async () => {
      const grant = (from: object, to_: object, namespace = 'other') => ({
        metadata: meta(`${namespace}/grant`),
        spec: {
          from: [{ group: GROUP, kind: 'HTTPRoute', namespace: 'apps', ...from }],
          to: [{ group: '', kind: 'Service', ...to_ }],
        },
      });
      const far = [backend('far', { namespace: 'other' })];
      for (const grants of [[grant({}, {})], [grant({}, { name: 'far' })]])
        expect((await first(far, { grants })).conditions).to.deep.equal(OK);
      for (const grants of [
        [grant({ kind: 'GRPCRoute' }, {})],
        [grant({ namespace: 'x' }, {})],
        [grant({}, { name: 'near' })],
        [grant({}, { kind: 'Secret' })],
        [grant({}, {}, 'apps')],
      ])
        expect((await first(far, { grants })).conditions[1]).to.equal('ResolvedRefs False RefNotPermitted');
      const ofGrpc = (kind: string) => {
        const grpc = [route('apps/g', { rules: [{ backendRefs: far }] })];
        return parentOf(translated({ grpc, grants: [grant({ kind }, {})] }), 'g')[1];
      };
      expect(ofGrpc('GRPCRoute')).to.equal('ResolvedRefs True ResolvedRefs');
      expect(ofGrpc('HTTPRoute')).to.equal('ResolvedRefs False RefNotPermitted');
    });
  });

  describe('of listeners', () => {
    const allow = (namespaces: object) => [{ ...HTTP, allowedRoutes: { namespaces } }];
    const far = (parentRef: object = {}) =>
      route('other/far', {
        parentRefs: [{ name: 'gw', namespace: 'apps', ...parentRef }],
        rules: [{ backendRefs: [backend('far')] }],
      });

    it('allows routes by namespace', () => {
      const accepted = (namespaces: object) =>
        parentOf(translated({ gateways: [gateway(allow(namespaces))], http: [far()] }), 'far')[0];
      expect(accepted({})).to.equal('Accepted False NotAllowedByListeners');
      expect(accepted({ from: 'All' })).to.equal('Accepted True Accepted');
      expect(accepted({ from: 'None' })).to.equal('Accepted False NotAllowedByListeners');
      expect(accepted({ from: 'Selector', selector: { matchLabels: { team: 'b' } } })).to.equal(
        'Accepted True Accepted',
      );
      expect(accepted({ from: 'Selector', selector: { matchLabels: { team: 'a' } } })).to.equal(
        'Accepted False NotAllowedByListeners',
      );
    });

    it('allows routes by kind, name and port', () => {
      const kinds = { allowedRoutes: { kinds: [{ kind: 'GRPCRoute' }] } };
      const listeners = [
        { ...HTTP, ...kinds },
        { ...HTTP, name: 'two', port: 8081 },
      ];
      const at = (parentRef: object) =>
        parentOf(
          translated({
            gateways: [gateway(listeners)],
            http: [route('apps/r', { parentRefs: [{ name: 'gw', ...parentRef }], rules: [to()] })],
          }),
          'r',
        )[0];
      expect(at({ sectionName: 'http' })).to.equal('Accepted False NotAllowedByListeners');
      expect(at({ sectionName: 'two' })).to.equal('Accepted True Accepted');
      expect(at({ port: 8081 })).to.equal('Accepted True Accepted');
      expect(at({ sectionName: 'none' })).to.equal('Accepted False NoMatchingParent');
      expect(at({ port: 1 })).to.equal('Accepted False NoMatchingParent');
    });

    it('reports invalid kinds, protocols and conflicts', () => {
      const listeners = [
        { ...HTTP, allowedRoutes: { kinds: [{ kind: 'TLSRoute' }, { kind: 'HTTPRoute' }] } },
        { ...HTTP, name: 'tcp', port: 1, protocol: 'TCP' },
        { ...HTTP, name: 'a', port: 2 },
        { ...HTTP, name: 'b', port: 2 },
        { ...HTTP, name: 'c', port: 3, hostname: 'x.example.com' },
        { ...HTTP, name: 'd', port: 3, hostname: 'y.example.com' },
        { ...HTTP, name: 'e', port: 4, hostname: 'x.example.com' },
        { ...HTTP, name: 'f', port: 4, protocol: 'TCP', hostname: 'y.example.com' },
      ];
      const status = statusOf(translated({ gateways: [gateway(listeners)] }), 'gw');
      const failed = status.listeners.map(({ conditions }: { conditions: Conditions }) =>
        shown(conditions).filter((text) => !/(Accepted|ResolvedRefs|Programmed) True|Conflicted False/.test(text)),
      );
      expect(failed).to.deep.equal([
        ['ResolvedRefs False InvalidRouteKinds'],
        ['Accepted False UnsupportedProtocol', 'Programmed False Invalid'],
        ['Accepted False HostnameConflict', 'Conflicted True HostnameConflict', 'Programmed False Invalid'],
        ['Accepted False HostnameConflict', 'Conflicted True HostnameConflict', 'Programmed False Invalid'],
        [],
        [],
        ['Accepted False ProtocolConflict', 'Conflicted True ProtocolConflict', 'Programmed False Invalid'],
        ['Accepted False UnsupportedProtocol', 'Conflicted True ProtocolConflict', 'Programmed False Invalid'],
      ]);
      expect(shown(status.conditions)).to.deep.equal(['Accepted True ListenersNotValid', 'Programmed True Programmed']);
      expect(status.listeners[0].supportedKinds).to.deep.equal([{ group: GROUP, kind: 'HTTPRoute' }]);
    });

    it('serves a host at the listener with the most specific name only', async () => {
      const listeners = [
        { ...HTTP, name: 'all' },
        { ...HTTP, name: 'wild', hostname: '*.example.com' },
        { ...HTTP, name: 'one', hostname: 'a.example.com' },
      ];
      const at = (name: string, spec: object) =>
        route(`apps/${name}`, {
          parentRefs: [{ name: 'gw', sectionName: name }],
          rules: [to(name === 'one' ? 'api' : 'web')],
          ...spec,
        });
      const http = [
        at('all', { hostnames: ['a.example.com', 'b.example.com', 'c.example.org'] }),
        at('wild', {}),
        at('one', {}),
      ];
      const { hosts } = await served(translated({ gateways: [gateway(listeners)], http }));
      expect([...hosts.keys()].sort()).to.deep.equal([
        '8080 *.example.com',
        '8080 a.example.com',
        '8080 c.example.org',
      ]);
      expect(hosts.get('8080 a.example.com')).to.have.length(1);
    });

    it('serves no host of a listener without a certificate at the port of another one', () => {
      const https = (name: string, secret: string) => ({
        name,
        port: 8443,
        protocol: 'HTTPS',
        hostname: `${name}.example.com`,
        tls: { certificateRefs: [{ name: secret }] },
      });
      const gateways = [gateway([https('one', 'cert'), https('two', 'gone')])];
      const { resources } = translated({ gateways, http: [route('apps/r', { rules: [to()] })] });
      const services = resources
        .filter(({ kind }) => kind === 'VirtualService')
        .map(({ spec }: any) => spec.displayName);
      expect(services).to.deep.equal(['one.example.com']);
    });

    it('reports routes without a common host name', () => {
      const listeners = [{ ...HTTP, hostname: '*.example.com' }];
      const result = translated({
        gateways: [gateway(listeners)],
        http: [route('apps/r', { hostnames: ['example.com', 'a.example.org'], rules: [to()] })],
      });
      expect(parentOf(result, 'r')[0]).to.equal('Accepted False NoMatchingListenerHostname');
    });

    it('terminates TLS with the certificate of its Secret', async () => {
      const tls = (name: string, more: object = {}) => [
        {
          name: 'tls',
          port: 8443,
          protocol: 'HTTPS',
          hostname: '*.example.com',
          tls: { certificateRefs: [{ name, ...more }] },
        },
      ];
      const result = translated({ gateways: [gateway(tls('cert'))], http: [route('apps/r', { rules: [to()] })] });
      const secret = result.resources.find(({ kind }) => kind === 'Secret')!;
      expect(secret.data).to.have.property('tls.crt');
      const service = result.resources.find(({ kind }) => kind === 'VirtualService')!.spec as any;
      expect(service.sslConfig).to.deep.equal({
        secretRef: { name: secret.metadata.name, namespace: 'gw-system' },
        sniDomains: ['*.example.com'],
      });
      const [https] = tls('cert');
      const passthrough = gateway([{ ...https!, tls: { ...https!.tls, mode: 'Passthrough' } }]);
      const unserved = translated({ gateways: [passthrough], http: [route('apps/r', { rules: [to()] })] });
      expect(shown(statusOf(unserved, 'gw').listeners[0].conditions)).to.include(
        'ResolvedRefs False InvalidCertificateRef',
      );
      const downgrade = { filters: [{ type: 'RequestRedirect', requestRedirect: { scheme: 'http' } }] };
      const plain = translated({ gateways: [gateway(tls('cert'))], http: [route('apps/r', { rules: [downgrade] })] });
      expect(parentOf(plain, 'r')).to.deep.equal(OK);
      const ftp = { filters: [{ type: 'RequestRedirect', requestRedirect: { scheme: 'ftp' } }] };
      const refused = translated({ http: [route('apps/r', { rules: [ftp] })] });
      expect(parentOf(refused, 'r')[0]).to.equal('Accepted False UnsupportedValue');
      for (const [name, more, reason] of [
        ['gone', {}, 'InvalidCertificateRef'],
        ['cert', { kind: 'ConfigMap' }, 'InvalidCertificateRef'],
        ['cert', { namespace: 'other' }, 'RefNotPermitted'],
      ] as const) {
        const bad = translated({ gateways: [gateway(tls(name, more))], http: [route('apps/r', { rules: [to()] })] });
        const { conditions, listeners } = statusOf(bad, 'gw');
        expect(shown(listeners[0].conditions))
          .to.include(`ResolvedRefs False ${reason}`)
          .and.include('Programmed False Invalid');
        expect(shown(conditions)[0]).to.equal('Accepted False ListenersNotValid');
        expect(bad.resources).to.deep.equal([]);
      }
    });
  });

  it('serves Gateways by different proxies, whatever their names are', () => {
    const of = (key: string) => ({ ...gateway(), metadata: meta(key) });
    const { resources } = translated({ gateways: [of('team/prod.gw'), of('team-prod/gw'), of('team/prod-gw')] });
    const proxies = resources.flatMap(({ kind, spec }) =>
      kind === 'Gateway' ? (spec as { proxyNames: string[] }).proxyNames : [],
    );
    expect(proxies.sort()).to.deep.equal(['team-prod.gw', 'team.prod-gw', 'team.prod.gw']);
  });

  it('serves no virtual service that somebody else wrote with the label of a Gateway', async () => {
    const result = translated({ http: [route('apps/r', { rules: [to()] })] });
    const own = result.resources.find(({ kind }) => kind === 'VirtualService');
    const foreign = {
      ...own!,
      metadata: { ...own!.metadata, name: 'foreign', namespace: 'other' },
      spec: { virtualHost: { domains: ['victim.example.com'], routes: [{ directResponseAction: { status: 200 } }] } },
    };
    const { hosts } = await served({ ...result, resources: [...result.resources, foreign] });
    expect([...hosts.keys()]).to.deep.equal(['8080 *']);
  });

  it('creates no upstream for a GRPCRoute that no listener serves', () => {
    const grpc = [route('apps/r', { parentRefs: [{ name: 'gw', sectionName: 'none' }], rules: [to()] })];
    const result = translated({ grpc });
    expect(parentOf(result, 'r')[0]).to.equal('Accepted False NoMatchingParent');
    expect(result.resources.filter(({ kind }) => kind === 'Upstream')).to.deep.equal([]);
  });

  it('reports a RouteOption and a VirtualHostOption that are not valid', () => {
    const targetRefs = (kind: string, name: string) => [{ group: GROUP, kind, name }];
    const ofRoute = {
      kind: 'RouteOption',
      name: 'invalid',
      namespace: 'apps',
      targetRefs: targetRefs('HTTPRoute', 'r'),
    } as const;
    const ofHost = { ...ofRoute, kind: 'VirtualHostOption', targetRefs: targetRefs('Gateway', 'gw') } as const;
    for (const option of [ofRoute, ofHost]) {
      const result = translated({ http: [route('apps/r', { rules: [to()] })], options: [option] });
      expect(parentOf(result, 'r')).to.deep.equal(['Accepted True Accepted', 'ResolvedRefs False InvalidOption']);
      expect(statusOf(result, 'r').parents[0].conditions[1].message).to.equal(`${option.kind} apps/invalid is invalid`);
    }
  });

  it('rejects requests whose filter refers to a RouteOption that does not exist', async () => {
    const extension = {
      type: 'ExtensionRef',
      extensionRef: { group: 'gateway.vendor.io', kind: 'RouteOption', name: 'missing' },
    };
    const result = translated({ http: [route('apps/r', { rules: [{ filters: [extension], ...to() }] })] });
    expect(parentOf(result, 'r')).to.deep.equal(['Accepted True Accepted', 'ResolvedRefs False BackendNotFound']);
    expect(statusOf(result, 'r').parents[0].conditions[1].message).to.equal('RouteOption apps/missing is missing');
    const { hosts } = await served(result);
    const actions = [...hosts.values()].flat().map(({ action }) => action);
    expect(actions.map(({ type }) => type)).to.deep.equal(['direct']);
  });

  it('attaches RouteOptions and VirtualHostOptions', () => {
    const target = (kind: string, name: string, more: object = {}) => ({ group: GROUP, kind, name, ...more });
    const option = (kind: 'RouteOption' | 'VirtualHostOption', name: string, targetRef: any, namespace = 'apps') => ({
      kind,
      name,
      namespace,
      targetRefs: [targetRef],
    });
    const extension = {
      type: 'ExtensionRef',
      extensionRef: { group: 'gateway.vendor.io', kind: 'RouteOption', name: 'inline' },
    };
    const result = translated({
      http: [route('apps/r', { rules: [{ filters: [extension], ...to() }] })],
      options: [
        option('RouteOption', 'targeting', target('HTTPRoute', 'r')),
        option('RouteOption', 'far', target('HTTPRoute', 'r'), 'other'),
        option('VirtualHostOption', 'whole', target('Gateway', 'gw')),
        option('VirtualHostOption', 'part', target('Gateway', 'gw', { sectionName: 'http' })),
        option('VirtualHostOption', 'none', target('Gateway', 'gw', { sectionName: 'x' })),
      ],
    });
    const spec = result.resources.find(({ kind }) => kind === 'VirtualService')!.spec as any;
    expect(spec.virtualHost.routes[0].optionsConfigRefs.delegateOptions).to.deep.equal([
      { name: 'inline', namespace: 'apps' },
      { name: 'targeting', namespace: 'apps' },
    ]);
    expect(spec.virtualHost.optionsConfigRefs.delegateOptions.map(({ name }: { name: string }) => name)).to.deep.equal([
      'part',
      'whole',
    ]);
  });

  it('attaches ListenerOptions and HttpListenerOptions to the listeners that they target', async () => {
    const listeners = [HTTP, { name: 'other', port: 9090, protocol: 'HTTP' }];
    const result = translated({ gateways: [gateway(listeners)], http: [route('apps/r', { rules: [to()] })] });
    const option = (kind: string, name: string, { namespace = 'apps', ...more }: any) => ({
      apiVersion: 'gateway.vendor.io/v1',
      kind,
      metadata: { name, namespace },
      spec: { targetRefs: [{ group: GROUP, kind: 'Gateway', name: 'gw', ...more.target }], options: more.options },
    });
    const part = { sectionName: 'other' };
    const { state } = await served({
      ...result,
      resources: [
        ...result.resources,
        option('ListenerOption', 'whole', { options: { perConnectionBufferLimitBytes: 2000 } }),
        option('ListenerOption', 'far', { namespace: 'other', options: { proxyProtocol: {} } }),
        option('HttpListenerOption', 'part', { target: part, options: { healthCheck: { path: '/part' } } }),
        option('HttpListenerOption', 'none', { target: { sectionName: 'x' }, options: { grpcWeb: { disable: true } } }),
      ] as never,
    });
    const ports = state.snapshots
      .get('apps.gw')!
      .listeners.map(({ bindPort, options, httpOptions }) => [bindPort, { options, httpOptions }]);
    const options = { perConnectionBufferLimitBytes: 2000 };
    expect(Object.fromEntries(ports)).to.deep.equal({
      8080: { options, httpOptions: {} },
      9090: { options, httpOptions: { healthCheck: { path: '/part' } } },
    });
    expect(state.issues.map(({ name, path, message }) => `${name} ${path.join('.')}: ${message}`).sort()).to.deep.equal(
      [
        'far spec.targetRefs.0: Gateway other.gw of gateway.networking.k8s.io not found, or no listener of it is served',
        'none spec.targetRefs.0.sectionName: Gateway apps.gw has no listener x that is served',
      ],
    );
  });
});
