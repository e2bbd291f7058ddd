import { expect } from 'chai';
import { portEndpoints } from '../../src/discovery/service-endpoints.ts';
import { service, slice } from './objects.ts';

const web = service('apps/web');
const at = (address: string, conditions?: object, more: object = {}) => ({
  addresses: [address],
  ...(conditions && { conditions }),
  ...more,
});
const pod = (name: string) => ({ targetRef: { kind: 'Pod', namespace: 'apps', name } });
const NO_LABELS = new Map<string, Record<string, string>>();

function endpointsOf(slices: ReturnType<typeof slice>[], { of = web, podLabels = NO_LABELS } = {}) {
  return portEndpoints(of, of.ports[0]!, { slices, podLabels });
}
const addressesOf = (slices: ReturnType<typeof slice>[]) =>
  endpointsOf(slices).map(({ address, port, alternatives = [] }) => [`${address}:${port}`, ...alternatives].join(' '));

describe('endpoints of a port', () => {
  it('are those of all slices, by the name of the port, sorted', () => {
    const slices = [
      slice('apps/web-2', 'web', {
        endpoints: [at('10.0.0.9')],
        ports: [{ name: 'http', port: 9090, protocol: 'TCP' }],
      }),
      slice('apps/web-1', 'web', { endpoints: [at('10.0.0.2'), at('10.0.0.1')] }),
      slice('apps/web-3', 'web', { endpoints: [at('10.0.0.7')], ports: [{ name: 'admin', port: 1, protocol: 'TCP' }] }),
    ];
    expect(addressesOf(slices)).to.deep.equal(['10.0.0.1:8080', '10.0.0.2:8080', '10.0.0.9:9090']);
  });

  it('of a port without a name are those of a slice port without one', () => {
    const plain = service('apps/web', { spec: { ports: [{ port: 80 }] } });
    for (const name of [undefined, null, ''])
      expect(
        endpointsOf([slice('a/s', 'web', { endpoints: [at('10.0.0.1')], ports: [{ name, port: 8080 }] })], {
          of: plain,
        }),
      ).to.have.length(1);
  });

  it('are ready: unready and terminating ones are left out, an unknown condition counts as ready', () => {
    const endpoints = [
      at('10.0.0.1'),
      at('10.0.0.2', { ready: true }),
      at('10.0.0.3', { ready: false }),
      at('10.0.0.4', { ready: false, serving: true, terminating: true }),
      at('10.0.0.5', { ready: true, serving: true, terminating: true }),
      at('10.0.0.6', { ready: null, serving: null, terminating: null }),
    ];
    const left = addressesOf([slice('apps/web-1', 'web', { endpoints })]);
    expect(left).to.deep.equal(['10.0.0.1:8080', '10.0.0.2:8080', '10.0.0.6:8080']);
  });

  it('are those that still serve while terminating if none is ready', () => {
    const endpoints = [
      at('10.0.0.3', { ready: false, serving: false }),
      at('10.0.0.4', { ready: false, serving: true, terminating: true }),
      at('10.0.0.5', { ready: false, serving: false, terminating: true }),
    ];
    expect(addressesOf([slice('apps/web-1', 'web', { endpoints })])).to.deep.equal(['10.0.0.4:8080']);
  });

  it('in several slices count once, and only as ready if all slices say so', () => {
    const [one, other] = [at('10.0.0.1', { ready: true }, pod('a')), at('10.0.0.1', { ready: false }, pod('a'))];
    const slices = (first: object, second: object) => [
      slice('apps/web-1', 'web', { endpoints: [first, at('10.0.0.2')] }),
      slice('apps/web-2', 'web', { endpoints: [second] }),
    ];
    expect(addressesOf(slices(one, one))).to.deep.equal(['10.0.0.1:8080', '10.0.0.2:8080']);
    expect(addressesOf(slices(one, other))).to.deep.equal(['10.0.0.2:8080']);
    expect(addressesOf(slices(other, one))).to.deep.equal(['10.0.0.2:8080']);
  });

  it('of one pod with addresses of both families are one, the preferred family first', () => {
    const slices = [
      slice('apps/web-4', 'web', { endpoints: [at('10.0.0.1', undefined, pod('a'))] }),
      slice('apps/web-6', 'web', {
        type: 'IPv6',
        endpoints: [at('fd00::1', undefined, pod('a')), at('fd00::2', undefined, pod('b'))],
      }),
    ];
    expect(addressesOf(slices)).to.deep.equal(['10.0.0.1:8080 fd00::1', 'fd00::2:8080']);
    const six = service('apps/web', { spec: { ipFamilies: ['IPv6', 'IPv4'] } });
    expect(endpointsOf(slices, { of: six })[0]).to.deep.include({ address: 'fd00::1', alternatives: ['10.0.0.1'] });
  });

  it('have the zone as locality and the labels of their pod', () => {
    const endpoints = [at('10.0.0.1', undefined, { zone: 'eu-1a', ...pod('a') }), at('10.0.0.2')];
    const podLabels = new Map([['Pod/apps/a', { version: 'v1' }]]);
    const found = endpointsOf([slice('apps/web-1', 'web', { endpoints })], { podLabels });
    expect(found).to.deep.equal([
      { address: '10.0.0.1', port: 8080, weight: 1, locality: { zone: 'eu-1a' }, metadata: { version: 'v1' } },
      { address: '10.0.0.2', port: 8080, weight: 1 },
    ]);
  });

  it('may have DNS names', () => {
    const slices = [slice('apps/web-1', 'web', { type: 'FQDN', endpoints: [at('db.example.com')] })];
    expect(addressesOf(slices)).to.deep.equal(['db.example.com:8080']);
  });

  it('of an ExternalName Service are its name at the port of the Service', () => {
    const external = service('apps/ext', {
      spec: { type: 'ExternalName', externalName: 'api.example.com.', selector: undefined },
    });
    expect(endpointsOf([], { of: external })).to.deep.equal([{ address: 'api.example.com', port: 80, weight: 1 }]);
    const empty = service('apps/ext', { spec: { type: 'ExternalName' } });
    expect(endpointsOf([], { of: empty })).to.deep.equal([]);
  });

  it('of malformed slices are left out', () => {
    const slices = [
      slice('apps/web-1', 'web', {
        endpoints: [{}, { addresses: [] }, { addresses: [''] }, { addresses: null }, { addresses: [7] }],
      }),
      slice('apps/web-2', 'web', {
        endpoints: [at('10.0.0.1')],
        ports: [{ name: 'http' }, { name: 'http', port: 99999 }],
      }),
      slice('apps/web-3', 'web', { endpoints: 'many' as never, ports: null as never }),
    ];
    expect(addressesOf(slices)).to.deep.equal([]);
  });

  it('belong to the protocol of the port', () => {
    const ports = [
      { name: 'http', port: 53, protocol: 'UDP' },
      { name: 'http', port: 54, protocol: 'TCP' },
    ];
    expect(addressesOf([slice('apps/web-1', 'web', { endpoints: [at('10.0.0.1')], ports })])).to.deep.equal([
      '10.0.0.1:54',
    ]);
  });
});
