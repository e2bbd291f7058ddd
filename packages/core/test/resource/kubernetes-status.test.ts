import { expect } from 'chai';
import { kubernetesStatus } from '../../src/resource/kubernetes-status.ts';
import type { ResourceStatus, StatusReport } from '../../src/resource/resource.ts';

const status = (...reports: Omit<StatusReport, 'reportedBy'>[]): ResourceStatus => ({
  statuses: Object.fromEntries(reports.map((report, i) => [`ns${i}`, { ...report, reportedBy: 'gw' }])),
});

describe('the status of a Kubernetes object', () => {
  it('of most kinds is the status itself', () => {
    const accepted = status({ state: 'Accepted' });
    expect(kubernetesStatus('VirtualService', accepted)).to.equal(accepted);
  });

  it('of a RateLimitConfig has a state and a message', () => {
    const cases: [ResourceStatus, object][] = [
      [status(), { state: 'PENDING' }],
      [status({ state: 'Pending' }), { state: 'PENDING' }],
      [status({ state: 'Accepted' }), { state: 'ACCEPTED' }],
      [status({ state: 'Warning', reason: 'warning: \n  a' }), { state: 'ACCEPTED', message: 'warning: \n  a' }],
      [status({ state: 'Accepted' }, { state: 'Rejected', reason: 'b' }), { state: 'REJECTED', message: 'b' }],
    ];
    for (const [given, wanted] of cases) expect(kubernetesStatus('RateLimitConfig', given)).to.deep.equal(wanted);
  });
});
