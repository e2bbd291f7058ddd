import { expect } from 'chai';
import type { Snapshot } from '../../../src/contract/snapshot.ts';
import { diffSnapshots, isSame } from '../../../src/translate/snapshot/diff.ts';
import { translate } from '../../../src/translate/translate.ts';
import { load, splitDocuments } from '../load.ts';

const upstream = (port: number) => `
kind: Upstream
apiVersion: gw.vendor.io/v1
metadata: { name: echo }
spec: { static: { hosts: [{ addr: 127.0.0.1, port: ${port} }] } }
`;
const service = (name: string, prefix: string) => `
kind: VirtualService
apiVersion: gateway.vendor.io/v1
metadata: { name: ${name} }
spec:
  virtualHost:
    domains: [${name}.example.com]
    routes:
      - name: first
        matchers: [{ prefix: ${prefix} }]
        routeAction: { single: { upstream: { name: echo } } }
`;

function snapshot(...documents: string[]): Snapshot {
  return translate(load(splitDocuments(documents.join('---\n')))).snapshots.get('gateway-proxy')!;
}

const short = (parts: ReturnType<typeof diffSnapshots>['routes']) =>
  parts.map(({ change, name }) => `${change} ${name}`);

describe('diffSnapshots', () => {
  it('finds no difference between equal snapshots built separately', () => {
    const [one, two] = [snapshot(service('a', '/'), upstream(80)), snapshot(upstream(80), service('a', '/'))];
    expect(isSame(diffSnapshots(one, two))).to.equal(true);
  });

  it('lists additions, removals and changes, with the fields before and after', () => {
    const before = snapshot(service('a', '/'), service('gone', '/'), upstream(80));
    const after = snapshot(service('a', '/new'), service('added', '/'), upstream(81));
    const diff = diffSnapshots(before, after);
    expect(diff.listeners).to.deep.equal([]);
    expect(short(diff.virtualHosts)).to.deep.equal([
      'added listener-::-8080/gw-system.added',
      'removed listener-::-8080/gw-system.gone',
    ]);
    expect(diff.routes).to.deep.equal([
      {
        change: 'changed',
        name: 'listener-::-8080/gw-system.a-route-0-first',
        fields: [{ field: 'matchers', before: [{ prefix: '/' }], after: [{ prefix: '/new' }] }],
      },
    ]);
    expect(short(diff.upstreams)).to.deep.equal(['changed echo_gw-system']);
    expect(diff.upstreams[0]!.fields.map(({ field }) => field)).to.deep.equal(['spec', 'endpoints']);
  });

  it('treats a missing snapshot as empty', () => {
    const only = snapshot(service('a', '/'), upstream(80));
    const added = diffSnapshots(undefined, only);
    expect([added.listeners, added.virtualHosts, added.routes, added.upstreams].map(short)).to.deep.equal([
      ['added listener-::-8080'],
      ['added listener-::-8080/gw-system.a'],
      [],
      ['added echo_gw-system'],
    ]);
    expect(short(diffSnapshots(only, undefined).listeners)).to.deep.equal(['removed listener-::-8080']);
    expect(isSame(diffSnapshots(undefined, undefined))).to.equal(true);
  });
});
