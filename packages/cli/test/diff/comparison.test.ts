import type { Snapshot } from '@edge-gateway/core';
import { expect } from 'chai';
import { compareServed, partsOf, renderComparison } from '../../src/diff/comparison.ts';

const REF = { name: 'todos', namespace: 'gw-system' };

/** A virtual host with one GraphQLApi, as far as a comparison looks at it. */
function served(api: object): Snapshot {
  const host = { name: 'gw-system.shop', domains: ['*'], options: {}, routes: [], graphqlApis: [api] };
  const listener = { name: 'listener', virtualHosts: [host] };
  return { proxy: 'gateway-proxy', listeners: [listener], upstreams: [], settings: {} } as unknown as Snapshot;
}

describe('compareServed', () => {
  const spec = { executableSchema: { executor: { remote: {} } } };
  const api = { ref: REF, spec, subschemas: [] };
  const changes = (after: object) => partsOf(compareServed([served(api)], [served(after)])).map(({ name }) => name);

  it('leaves out the schema that the server of a GraphQLApi declares', () => {
    const serverSchema = 'type Query { todo: String }';
    expect(changes({ ...api, serverSchema })).to.deep.equal([]);
    expect(changes({ ...api, subschemas: [{ ...api, serverSchema }] })).to.have.length(1);
  });

  it('compares addresses without the secrets in them, which only one side may have hidden', () => {
    const withAddress = (address: string) => ({ ...api, spec: { ...spec, address } });
    const [open, hidden] = ['redis://:pass@redis:6379', 'redis://<redacted>@redis:6379'].map(withAddress);
    expect(partsOf(compareServed([served(open!)], [served(hidden!)]))).to.deep.equal([]);
    const moved = compareServed([served(open!)], [served(withAddress('redis://:pass@other:6379'))]);
    expect(JSON.stringify(moved)).to.include('other:6379').and.not.include('pass@');
  });

  it('finds what was written', () => {
    expect(changes({ ...api, spec: { ...spec, statPrefix: 'other' } })).to.deep.equal(['listener/gw-system.shop']);
    expect(changes({ ...api, spec: { ...spec, serverSchema: 'written' } })).to.deep.equal(['listener/gw-system.shop']);
  });
});

describe('renderComparison', () => {
  const colors = Object.fromEntries(['green', 'red', 'yellow', 'bold'].map((name) => [name, (text: string) => text]));
  function rendered(before: object, after: object): string | undefined {
    const [old, now] = [before, after].map((action) => {
      const host = {
        name: 'shop',
        domains: [],
        options: {},
        routes: [{ name: 'route', matchers: [], options: {}, action }],
      };
      return { proxy: 'p', listeners: [{ name: 'l', virtualHosts: [host] }], upstreams: [] } as unknown as Snapshot;
    });
    return renderComparison(compareServed([old!], [now!]), colors as never).split('\n')[2];
  }
  const to = (upstream: string, more: object = {}) => ({ upstream, weight: 1, options: {}, ...more });
  const forward = (...destinations: object[]) => ({ type: 'forward', destinations });
  const broken = { status: 503, body: 'no healthy upstream', reason: 'upstream b not found' };

  it('prints the changed values of options by their paths, which a long value beside them does not hide', () => {
    const linesOf = (...options: readonly object[]) => {
      const [old, now] = options.map((one) => ({ ...served({}), upstreams: [{ name: 'u', options: one }] }) as never);
      return renderComparison(compareServed([old!], [now!]), colors as never)
        .split('\n')
        .slice(2, -2);
    };
    const withClaim = (email: string) => ({
      extauth: { configRef: { name: 'x'.repeat(300) } },
      rbac: { policies: { x: { claims: { email } } } },
    });
    expect(linesOf(withClaim('admin'), withClaim('boss'))).to.deep.equal([
      '    options.rbac.policies.x.claims.email: "admin" -> "boss"',
    ]);
    const secrets = ['hunter2', 'hunter3'].map((value) => ({ oauth: { clientSecret: value, retries: value.length } }));
    expect(linesOf(secrets[0]!, { ...secrets[1], added: true })).to.deep.equal(['    options.added: nothing -> true']);
    const many = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`option-${i}`, i]));
    expect(linesOf({}, many)).to.have.length(21);
    expect(linesOf({}, many).at(-1)).to.equal('    … and 10 more changes of options (-o json)');
    // A line that says that there is one more would take as much space.
    const oneMore = Object.fromEntries(Object.entries(many).slice(0, 21));
    expect(linesOf({}, oneMore).at(-1)).to.equal('    options.option-20: nothing -> 20');
  });

  it('prints the actions of routes as text', () => {
    expect(rendered(forward(to('a')), { type: 'replacement', ...broken })).to.equal(
      '    action: forward to a -> 503 "no healthy upstream" instead of its destination (upstream b not found)',
    );
    expect(
      rendered(forward(to('a'), to('b', { weight: 2, broken })), { type: 'direct', status: 204, body: '' }),
    ).to.equal(
      '    action: forward to a (weight 1), b (weight 2): 503 "no healthy upstream" instead of its destination (upstream b not found) -> respond with 204',
    );
    expect(rendered({ type: 'graphql', api: REF }, { type: 'redirect', redirect: { pathRedirect: '/b' } })).to.equal(
      '    action: GraphQLApi gw-system.todos -> redirect {"pathRedirect":"/b"}',
    );
  });
});
