import { expect } from 'chai';
import { MAX_ROUTES } from '../../../src/translate/route/delegation.ts';
import { translate } from '../../../src/translate/translate.ts';
import { load } from '../load.ts';

const top = (...tables: string[]) => `
kind: VirtualService
apiVersion: gateway.vendor.io/v1
metadata: { name: a }
spec: { virtualHost: { routes: [${tables.map(delegate).join()}] } }
`;
const delegate = (table: string) => `{ delegateAction: { ref: { name: ${table} } } }`;
const table = (name: string, ...routes: string[]) => `
kind: RouteTable
apiVersion: gateway.vendor.io/v1
metadata: { name: ${name} }
spec: { routes: [${routes.join()}] }
`;
const answer = '{ directResponseAction: { status: 200 } }';

function run(...documents: string[]) {
  const { snapshots, statuses } = translate(load(documents));
  const [host] = snapshots.get('gateway-proxy')!.listeners[0]!.virtualHosts;
  const { state, reason } = statuses.get('VirtualService/gw-system/a')!.statuses['gw-system']!;
  return { routes: host?.routes.length, state, reason };
}

describe('delegation', () => {
  it('may reach a table twice on different paths', () => {
    const documents = [top('b', 'c'), table('b', delegate('d')), table('c', delegate('d')), table('d', answer, answer)];
    expect(run(...documents)).to.deep.equal({ routes: 4, state: 'Accepted', reason: undefined });
  });

  it('follows any depth', () => {
    const tables = Array.from({ length: 200 }, (_, i) => table(`t${i}`, i === 199 ? answer : delegate(`t${i + 1}`)));
    expect(run(top('t0'), ...tables).routes).to.equal(1);
  });

  it('rejects exponentially growing tables quickly', () => {
    const tables = Array.from({ length: 40 }, (_, i) =>
      table(`t${i}`, ...(i === 39 ? [answer] : [delegate(`t${i + 1}`), delegate(`t${i + 1}`)])),
    );
    const { routes, state, reason } = run(top('t0'), ...tables);
    expect([routes, state]).to.deep.equal([undefined, 'Rejected']);
    expect(reason).to.contain(`more than ${MAX_ROUTES}`);
  });
});
