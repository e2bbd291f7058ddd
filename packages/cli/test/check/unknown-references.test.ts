import { expect } from 'chai';
import { unknownReferences } from '../../src/check/unknown-references.ts';
import type { StatusObject } from '../../src/resources/objects.ts';

const object = (kind: string, name: string, spec: object = {}, namespace = 'shop'): StatusObject =>
  ({ apiVersion: 'v1', kind, metadata: { name, namespace }, spec }) as unknown as StatusObject;
const service = (virtualHost: object): StatusObject => object('VirtualService', 'web', { virtualHost });
const everywhere: (namespace: string) => boolean = () => true;
const linesOf = (objects: readonly StatusObject[], readable = everywhere): string[] =>
  unknownReferences(objects, readable).map(({ origin, message }) => `${origin.file}: ${message}`);
const single = (name: string, namespace?: string) => ({ routeAction: { single: { upstream: { name, namespace } } } });

describe('references of a VirtualService', () => {
  it('to an upstream that the cluster does not have are reported once', () => {
    const routes = [single('a'), single('b', 'other'), single('b', 'other'), single('kube-svc:shop-x-80')];
    expect(linesOf([service({ routes }), object('Upstream', 'a')])).to.deep.equal([
      'Virtual service references unknown upstream: (Virtual service: shop web | Upstream: other b)',
    ]);
  });

  it('to AuthConfigs, options and rate limits are found at the host, at routes and at weighted destinations', () => {
    const options = (name: string) => ({
      extauth: { configRef: { name } },
      rateLimitConfigs: { refs: [{ name, namespace: 'limits' }] },
    });
    const delegateOptions = [{ name: 'shared' }];
    const multi = { destinations: [{ options: options('share') }] };
    const host = {
      options: options('host'),
      optionsConfigRefs: { delegateOptions },
      routes: [{ options: options('route'), optionsConfigRefs: { delegateOptions }, routeAction: { multi } }],
    };
    const known = [object('AuthConfig', 'host'), object('RateLimitConfig', 'host', {}, 'limits')];
    expect(linesOf([service(host), ...known]).map((line) => line.replace(/.*unknown /, ''))).to.deep.equal([
      'VirtualHostOption: (Virtual service: shop web | VirtualHostOption: shop shared)',
      'RouteOption: (Virtual service: shop web | RouteOption: shop shared)',
      'auth config: (Virtual service: shop web | Auth config: shop route)',
      'rate limit config: (Virtual service: shop web | Rate limit config: limits route)',
      'auth config: (Virtual service: shop web | Auth config: shop share)',
      'rate limit config: (Virtual service: shop web | Rate limit config: limits share)',
    ]);
  });

  it('to namespaces that cannot be read are not judged', () => {
    const routes = [single('a', 'other'), single('b')];
    expect(linesOf([service({ routes })], (namespace) => namespace === 'shop')).to.deep.equal([
      'Virtual service references unknown upstream: (Virtual service: shop web | Upstream: shop b)',
    ]);
  });

  it('are not looked for in malformed resources', () => {
    expect(linesOf([service({ routes: [null, 1, { routeAction: { single: 'x' } }] })])).to.deep.equal([]);
  });
});
