import { expect } from 'chai';
import { readState, reportsOf, statusCell, virtualServiceStatus } from '../../src/resources/status.ts';

const resource = (status?: unknown) => ({
  apiVersion: 'gateway.vendor.io/v1',
  kind: 'VirtualService',
  metadata: { name: 'a', namespace: 'gw-system' },
  spec: {},
  status,
});
const PROXY = '*v1.Proxy.gateway-proxy_gw-system';

describe('status', () => {
  it('reads a state by number and by name; anything else is Pending', () => {
    expect([0, 1, 2, 3].map(readState)).to.deep.equal(['Pending', 'Accepted', 'Rejected', 'Warning']);
    expect(['Accepted', 'Rejected', 'nonsense', 9, null, {}].map(readState)).to.deep.equal([
      'Accepted',
      'Rejected',
      'Pending',
      'Pending',
      'Pending',
      'Pending',
    ]);
  });

  it('shows Pending without a report, one state with one, a line each with several', () => {
    expect(statusCell(resource())).to.equal('Pending');
    expect(statusCell(resource({ statuses: 'nonsense' }))).to.equal('Pending');
    expect(statusCell(resource({ statuses: { a: { state: 2 } } }))).to.equal('Rejected');
    expect(statusCell(resource({ statuses: { a: { state: 1 }, b: { state: 'Warning' } } }))).to.equal(
      'a: Accepted\nb: Warning',
    );
  });

  it('reads the state and message of a RateLimitConfig', () => {
    expect(statusCell(resource({ state: 'ACCEPTED' }))).to.equal('Accepted');
    expect(statusCell(resource({ state: 2 }))).to.equal('Rejected');
    expect(statusCell(resource({ state: 'ACCEPTED', message: 'warning: \n  a' }))).to.equal('Warning');
    expect(statusCell(resource({ state: 'NONSENSE' }))).to.equal('Pending');
    expect(reportsOf(resource({ state: 'REJECTED', message: 'why' }))).to.deep.equal([
      { controller: '', state: 'Rejected', reason: 'why', reportedBy: '', messages: [], subresources: [] },
    ]);
  });

  it('shows that an accepted virtual service is blocked by its proxy, unless broken routes are replaced', () => {
    const blocked = resource({
      statuses: { a: { state: 1, subresourceStatuses: { [PROXY]: { state: 2, reason: 'x' } } } },
    });
    expect(virtualServiceStatus(blocked, false)).to.equal(
      `Accepted\n${PROXY} is in a Rejected state. Updates to this resource may be blocked by problems with another resource.`,
    );
    expect(virtualServiceStatus(blocked, true)).to.equal('Accepted');
  });

  it('shows the remarks of a virtual service, also if broken routes are replaced', () => {
    const messages = ['SSL secret not found'];
    const subresourceStatuses = { [PROXY]: { state: 3, reason: 'x' } };
    const object = resource({ statuses: { a: { state: 1, messages, subresourceStatuses } } });
    expect(virtualServiceStatus(object, true)).to.equal('Warning\nSSL secret not found');
    expect(virtualServiceStatus(object, false)).to.equal('Warning\nSSL secret not found');
  });

  it('shows no warnings of its proxy at a virtual service without remarks', () => {
    const subresourceStatuses = { [PROXY]: { state: 3, reason: 'gw-system.other: SSL secret not found' } };
    expect(virtualServiceStatus(resource({ statuses: { a: { state: 1, subresourceStatuses } } }), false)).to.equal(
      'Accepted',
    );
  });

  it('shows the reason of each proxy of a virtual service that is rejected without a reason', () => {
    const refused = resource({
      statuses: { a: { state: 2, subresourceStatuses: { [PROXY]: { state: 3, reason: 'why' }, ok: { state: 1 } } } },
    });
    expect(virtualServiceStatus(refused, false)).to.equal(`Rejected\n${PROXY} Warning: why`);
  });

  it('shows the own reason of a rejected virtual service, not the warnings of its proxy', () => {
    const reason = '\n  first: unknown key\nsecond: unknown key';
    const rejected = resource({ statuses: { a: { state: 2, reason } } });
    expect(virtualServiceStatus(rejected, false)).to.equal('Rejected\nfirst: unknown key');
    const subresourceStatuses = { [PROXY]: { state: 3, reason: 'Route Warning: of another virtual service' } };
    const mixed = resource({ statuses: { a: { state: 2, reason, subresourceStatuses } } });
    expect(virtualServiceStatus(mixed, false)).to.equal('Rejected\nfirst: unknown key');
    expect(virtualServiceStatus(resource({ statuses: { a: { state: 2 } } }), false)).to.equal('Rejected');
  });

  it('shows the own reason of a virtual service with warnings, not those that its proxy collected', () => {
    const reason = 'warning: \n  Route Warning: first\n  Route Warning: second';
    const proxy = { state: 3, reason: 'warning: \n  gw-system.other: Route Warning: of another virtual service' };
    const object = resource({ statuses: { a: { state: 3, reason, subresourceStatuses: { [PROXY]: proxy } } } });
    expect(virtualServiceStatus(object, false)).to.equal('Warning\nRoute Warning: first');
  });

  it('shows the proxy of a virtual service with a reason if another resource has it rejected', () => {
    const rejected = (state: number, own: string, ofProxy: string) => {
      const subresourceStatuses = { [PROXY]: { state: 2, reason: ofProxy } };
      return virtualServiceStatus(resource({ statuses: { a: { state, reason: own, subresourceStatuses } } }), false);
    };
    expect(rejected(3, 'warning: \n  mine', 'gw-system.b: theirs')).to.equal(
      `Warning\nmine\n${PROXY} Rejected: gw-system.b: theirs`,
    );
    expect(rejected(2, 'mine', 'gw-system.a: mine')).to.equal('Rejected\nmine');
    expect(rejected(2, 'mine', 'gw-system.b: theirs')).to.equal(
      `Rejected\nmine\n${PROXY} Rejected: gw-system.b: theirs`,
    );
  });
});
