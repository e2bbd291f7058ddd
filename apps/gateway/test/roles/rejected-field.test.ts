import { createControlPlane, memorySource, silentLoggers, type ControlPlane } from '@edge-gateway/core';
import { TYPE } from '@edge-gateway/xds/resources';
import { expect } from 'chai';
import { locateRejection, rejectedField } from '../../src/roles/rejected-field.ts';

const RESOURCES = `
apiVersion: gateway.vendor.io/v1
kind: Gateway
metadata: { name: web }
spec: { bindAddress: '127.0.0.1', bindPort: 8080, httpGateway: {} }
---
apiVersion: gw.vendor.io/v1
kind: Upstream
metadata: { name: app }
spec: { static: { hosts: [{ addr: 127.0.0.1, port: 9 }] } }
---
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: shop }
spec:
  virtualHost:
    domains: [shop.test]
    routes:
      - { matchers: [{ prefix: /a }], routeAction: { single: { upstream: { name: app } } }, options: { timeout: 1s } }
`;
const ENVOY = 'type.googleapis.com/envoy.config';
const LISTENER = 'listener-127.0.0.1-8080';
const SHOP = 'VirtualService/gw-system/shop';
const WEB = 'Gateway/gw-system/web';
const APP = 'Upstream/gw-system/app';

describe('the field of a rejection by a proxy', () => {
  let controlPlane: ControlPlane;
  before(async () => {
    controlPlane = createControlPlane({ source: memorySource({ 'all.yaml': RESOURCES }), log: silentLoggers });
    await controlPlane.start();
  });
  after(() => controlPlane.close());

  const fieldOf = (type: string, resource: string, field = '', proxy = 'gateway-proxy') => {
    const found = rejectedField(proxy, { type, resource, field }, controlPlane.state!);
    return found && [found.resource, found.field.key, found.field.path.join('.')];
  };
  const OPTIONS = 'spec.virtualHost.routes.0.options.timeout';

  type Given = readonly [type: string, resource: string, field?: string, proxy?: string];
  const known: readonly (readonly [what: string, given: Given, found: readonly string[]])[] = [
    ['a route', [TYPE.virtualHost, `${LISTENER}/gw-system.shop`, 'routes[0].options.timeout'], [SHOP, SHOP, OPTIONS]],
    ['a listener that is not open', [TYPE.snapshot, LISTENER], [WEB, WEB, 'spec.bindPort']],
    ['options of a listener', [TYPE.listener, LISTENER, 'options.tcpStats'], [WEB, WEB, 'spec.options.tcpStats']],
    [
      'HTTP options of a listener',
      [TYPE.listener, LISTENER, 'httpOptions.gzip'],
      [WEB, WEB, 'spec.httpGateway.options.gzip'],
    ],
    ['options of its routes', [TYPE.listener, LISTENER, 'routeOptions.a'], [WEB, WEB, 'spec.routeOptions.a']],
    ['the address of a listener', [TYPE.listener, LISTENER, 'bindPort'], [WEB, WEB, 'spec.bindPort']],
    ['what a Gateway does not contain', [TYPE.listener, LISTENER, 'sslConfigurations[0]'], [WEB, WEB, 'spec']],
    ['the routes of an Envoy', [`${ENVOY}.route.v3.RouteConfiguration`, `${LISTENER}-routes`], [WEB, WEB, 'spec']],
    ['a listener of an Envoy', [`${ENVOY}.listener.v3.Listener`, LISTENER], [WEB, WEB, 'spec']],
    ['a cluster of an Envoy', [`${ENVOY}.cluster.v3.Cluster`, 'app_gw-system'], [APP, APP, 'spec']],
    ['its endpoints', [`${ENVOY}.endpoint.v3.ClusterLoadAssignment`, 'app_gw-system'], [APP, APP, 'spec']],
    ['an upstream', [TYPE.upstream, 'app_gw-system', 'spec.static.hosts'], [APP, APP, 'spec.static.hosts']],
    ['endpoints', [TYPE.endpointSet, 'app_gw-system', 'endpoints[0].port'], [APP, APP, 'spec']],
    [
      'an AuthConfig in an earlier version',
      [TYPE.authConfig, 'team.users.v2@0123', 'spec.configs'],
      ['AuthConfig/team/users.v2', 'AuthConfig/team/users.v2', 'spec.configs'],
    ],
    [
      'a RateLimitConfig',
      [TYPE.rateLimitConfig, 'team.few', 'spec.raw'],
      ['RateLimitConfig/team/few', 'RateLimitConfig/team/few', 'spec.raw'],
    ],
    [
      'a GraphQLApi',
      [TYPE.graphqlApi, 'team.api', 'subschemas'],
      ['GraphQLApi/team/api', 'GraphQLApi/team/api', 'spec'],
    ],
    [
      'the Settings',
      [TYPE.settings, 'settings', 'extauth.requestTimeout'],
      ['Settings/gw-system/default', 'Settings/gw-system/default', 'spec.extauth.requestTimeout'],
    ],
  ];
  for (const [what, given, found] of known) {
    it(`is that of ${what}`, () => {
      expect(fieldOf(...given)).to.deep.equal(found);
    });
  }

  const unknown: readonly (readonly [what: string, given: Given])[] = [
    ['a state of a proxy', [TYPE.snapshot, 'gateway-proxy']],
    ['another proxy', [TYPE.listener, LISTENER, '', 'other']],
    ['a virtual host that no longer exists', [TYPE.virtualHost, `${LISTENER}/gw-system.gone`]],
    ['a listener that no longer exists', [TYPE.listener, 'listener-127.0.0.1-1']],
    ['an upstream that no longer exists', [TYPE.upstream, 'gone_gw-system']],
    ['another type', [TYPE.secret, 'gw-system/tls']],
  ];
  for (const [what, given] of unknown) {
    it(`is unknown for ${what}`, () => {
      expect(fieldOf(...given)).to.equal(undefined);
    });
  }

  it('is located in its file', () => {
    const rejection = {
      type: TYPE.virtualHost,
      resource: `${LISTENER}/gw-system.shop`,
      field: 'routes[0]',
      message: 'no',
    };
    expect(locateRejection('gateway-proxy', rejection, controlPlane)).to.deep.include({
      ...rejection,
      origin: { file: 'memory:all.yaml', line: 19, column: 9 },
    });
    const gone = { ...rejection, resource: 'gone' };
    expect(locateRejection('gateway-proxy', gone, controlPlane)).to.equal(gone);
  });
});
