import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { createStore } from '../../src/control/store.ts';
import { REPLACEMENT_BODY } from '../../src/translate/translation-settings.ts';
import { translate } from '../../src/translate/translate.ts';
import { load, splitDocuments } from './load.ts';

const golden = (name: string) =>
  splitDocuments(readFileSync(join(import.meta.dirname, `../golden/${name}.in.yaml`), 'utf8'));

const listenersOf = (documents: readonly string[], options = {}) =>
  translate({ ...load(documents), ...options }).snapshots.get('gateway-proxy')!.listeners;

const both = golden('virtual-service-same-domain-by-tls');

describe('translate', () => {
  it('creates two default gateways with the given address and ports if there is no Gateway', () => {
    const defaultGateways = { bindAddress: '127.0.0.1', httpPort: 80, httpsPort: 443 };
    const listeners = listenersOf(both, { defaultGateways });
    expect(listeners.map(({ name, ssl }) => [name, ssl])).to.deep.equal([
      ['listener-127.0.0.1-443', true],
      ['listener-127.0.0.1-80', false],
    ]);
    expect(listenersOf(both).map(({ name }) => name)).to.deep.equal(['listener-::-8080', 'listener-::-8443']);
  });

  it('treats port 0 as any free port, which several listeners may use', () => {
    const names = listenersOf(both, { defaultGateways: { httpPort: 0, httpsPort: 0 } }).map(({ name }) => name);
    expect(names).to.deep.equal(['listener-::-0-gateway-proxy', 'listener-::-0-gateway-proxy-ssl']);
  });

  it('uses the given proxy name for the default gateways', () => {
    const { snapshots, proxies } = translate({ ...load(both), defaultGateways: { proxyName: 'edge' } });
    expect([...snapshots.keys()]).to.deep.equal(['edge']);
    expect(proxies.map(({ metadata }) => metadata.name)).to.deep.equal(['edge']);
  });

  it('returns a snapshot without listeners, and no proxy, if there is nothing to serve', () => {
    const { snapshots, proxies } = translate(createStore().state);
    expect(snapshots.get('gateway-proxy')).to.deep.include({ proxy: 'gateway-proxy', listeners: [], upstreams: [] });
    expect(proxies).to.deep.equal([]);
  });

  it('puts no secret value into its output', () => {
    const state = load([...both, ...golden('virtual-service-header-secret')]);
    const { snapshots, proxies, statuses } = translate(state);
    const text = JSON.stringify([[...snapshots.values()], proxies, [...statuses]]);
    for (const { resource } of state.stored.values()) {
      if (resource?.kind !== 'Secret') continue;
      const { data } = resource.spec as { data: Record<string, string> };
      for (const value of Object.values(data)) {
        expect(text).not.to.contain(value);
        expect(text).not.to.contain(JSON.stringify(Buffer.from(value, 'base64').toString()).slice(1, -1));
      }
    }
  });

  it('does not send advice for operators to clients of a replaced route', () => {
    expect(REPLACEMENT_BODY).not.to.match(/gateway|config|administrator|check/i);
  });

  it('writes the proxy in the shape of its kind', () => {
    const [proxy] = translate(load(golden('virtual-service-missing-upstream-share'))).proxies;
    const sources = (resourceKind: string, name: string) => ({
      sources: [{ resourceKind, resourceRef: { name, namespace: 'gw-system' } }],
    });
    expect(proxy).to.deep.include({
      apiVersion: 'gw.vendor.io/v1',
      kind: 'Proxy',
      metadata: { name: 'gateway-proxy', namespace: 'gw-system', labels: { created_by: 'gw-gateway' } },
    });
    expect(proxy!.spec).to.deep.equal({
      listeners: [
        {
          name: 'listener-::-8080',
          bindAddress: '::',
          bindPort: 8080,
          options: {},
          routeOptions: {},
          sslConfigurations: [],
          metadataStatic: sources('*v1.Gateway', 'gateway-proxy'),
          httpListener: {
            options: {},
            statPrefix: 'http',
            virtualHosts: [
              {
                name: 'gw-system.shop',
                domains: ['a.example.com'],
                options: {},
                metadataStatic: sources('*v1.VirtualService', 'shop'),
                routes: [
                  {
                    name: 'gw-system.shop-route-0',
                    matchers: [{ prefix: '/' }],
                    options: {},
                    routeAction: {
                      multi: {
                        destinations: [
                          { destination: { upstream: 'fallback_cluster_for_invalid_routes' }, weight: 1, options: {} },
                          { destination: { upstream: 'echo_gw-system' }, weight: 3, options: {} },
                        ],
                      },
                    },
                    metadataStatic: sources('*v1.VirtualService', 'shop'),
                  },
                ],
              },
            ],
          },
        },
      ],
    });
  });

  it('keeps positions of resources out of the snapshot: moved lines change nothing', () => {
    const store = createStore();
    const first = translate(load(both, store));
    const moved = translate(load(['# a comment\n\n', ...both], store), first.memo);
    expect(moved.snapshots.get('gateway-proxy')).to.equal(first.snapshots.get('gateway-proxy'));
  });
});
