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

  describe('of routes', () => {
    const withRoutes = (...routes: readonly string[]) => {
      const lines = routes.map((route) => {
        const [path, name] = route.split(' ');
        return `      - { ${name ? `name: ${name}, ` : ''}matchers: [{ prefix: ${path} }], directResponseAction: { status: ${200 + path!.length} } }\n`;
      });
      return snapshot(service('a', '/').replace(/      - name: first[^]*/, lines.join('')));
    };
    const routesOf = (before: readonly string[], after: readonly string[]) =>
      diffSnapshots(withRoutes(...before), withRoutes(...after)).routes.map(({ change, name, fields }) =>
        [change, name.split('-route-')[1], ...fields.map(({ field }) => field)].join(' '),
      );

    it('reports an inserted or removed route alone, although those after it are renumbered', () => {
      const [few, more] = [
        ['/', '/bb', '/ccc named', '/dddd'],
        ['/', '/x', '/bb', '/ccc named', '/dddd'],
      ];
      expect(routesOf(few, more)).to.deep.equal(['added 1']);
      expect(routesOf(more, few)).to.deep.equal(['removed 1']);
      expect(routesOf(few, ['/x', ...few, '/', '/'])).to.deep.equal(['added 0', 'added 5', 'added 6']);
    });

    it('pairs changed routes by their own name, matchers, action, or index', () => {
      expect(routesOf(['/', '/bb named'], ['/x', '/', '/ccc named'])).to.deep.equal([
        'added 0',
        'changed 2-named matchers action',
      ]);
      expect(routesOf(['/', '/bb'], ['/x', '/', '/cc'])).to.deep.equal(['added 0', 'changed 2 matchers']);
      expect(routesOf(['/', '/bb'], ['/', '/ccc'])).to.deep.equal(['changed 1 matchers action']);
    });

    it('reports the position of a moved route alone', () => {
      const routes = ['/', '/bb', '/ccc named', '/dddd'];
      expect(routesOf(routes, ['/dddd', '/', '/bb', '/ccc named'])).to.deep.equal(['changed 0 position']);
      const moved = diffSnapshots(withRoutes(...routes), withRoutes('/x', '/bb', '/', '/ccc named', '/dddd')).routes;
      expect(moved.map(({ fields }) => fields)).to.deep.equal([[], [{ field: 'position', before: 1, after: 0 }]]);
      expect(routesOf(routes, routes.toReversed())).to.have.length.greaterThan(1);
      expect(routesOf(['/', '/x', '/bb'], ['/bb', '/x'])).to.deep.equal(['removed 0', 'changed 0 position']);
    });
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
