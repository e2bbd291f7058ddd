import { expect } from 'chai';
import { translate } from '../../../src/translate/translate.ts';
import { createStore } from '../../../src/control/store.ts';
import { load } from '../load.ts';
import { MAX_REASON, stateReport } from '../../../src/translate/status/statuses.ts';

const problem = (i: number, length = 100): string => `${i} `.padEnd(length, 'x');
const problems = (count: number): string[] => Array.from({ length: count }, (_, i) => problem(i));

describe('the reason of a status', () => {
  it('lists errors, then warnings below a heading', () => {
    expect(stateReport(['a', 'b'], ['c', 'd'])).to.include({
      state: 'Rejected',
      reason: 'a\nb\nwarning: \n  c\n  d',
    });
  });

  it('omits whole problems above the limit, and counts them', () => {
    const { reason } = stateReport(problems(10), problems(30));
    const lines = reason!.split('\n');
    expect(reason!.length).to.be.within(MAX_REASON - 200, MAX_REASON);
    const shown = lines.slice(0, -1).filter((line) => line !== 'warning: ');
    for (const line of shown) expect(line.trim()).to.have.length(100);
    expect(lines.at(-1)).to.equal(`… and ${40 - shown.length} more problems`);
  });

  it('is never longer than the limit', () => {
    for (let length = MAX_REASON - 60; length < MAX_REASON + 20; length++) {
      for (const rest of [[], ['b'], ['b', 'c']]) {
        const { reason } = stateReport([problem(0, length), ...rest], []);
        expect(reason!.length, `${length} and ${rest.length} more`).to.be.at.most(MAX_REASON);
        const left = /… and (\d+) more problems?$/.exec(reason!);
        const shown = rest.filter((one) => reason!.split('\n').includes(one)).length;
        expect(Number(left?.[1] ?? 0)).to.equal(rest.length - shown);
      }
    }
  });
});

describe('the status of a virtual service with TLS', () => {
  const service = `apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: a }
spec:
  sslConfig: { secretRef: { name: cert } }
  virtualHost: { domains: ['*'], routes: [{ matchers: [{ prefix: / }], directResponseAction: { status: 200 } }] }
`;
  const secret = (type: string) => `apiVersion: v1
kind: Secret
metadata: { name: cert }
type: ${type}
data: {}
`;

  it('names the problem of its certificate as long as it lasts, although it is accepted', () => {
    const store = createStore();
    const messages = (translation: ReturnType<typeof translate>) => {
      const { state, messages: found = [] } =
        translation.statuses.get('VirtualService/gw-system/a')!.statuses['gw-system']!;
      expect(state).to.equal('Accepted');
      return found.join();
    };
    const missing = translate(load([service], store));
    expect(messages(missing)).to.contain('SSL secret not found: no secret gw-system.cert');
    const wrong = translate(load([service, secret('kubernetes.io/tls')], store), missing.memo);
    expect(messages(wrong)).to.contain('no certificate information found').and.not.contain('not found: no secret');
    const plain = translate(load([service.replace(/  sslConfig.*\n/, '')], store), wrong.memo);
    expect(messages(plain)).to.equal('');
  });
});
