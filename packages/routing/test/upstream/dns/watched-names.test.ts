import { expect } from 'chai';
import { createLocalNames } from '../../../src/upstream/dns/local-names.ts';
import { createLookup } from '../../../src/upstream/dns/lookup.ts';
import { createWatchedNames } from '../../../src/upstream/dns/watched-names.ts';
import { closeAll, until, whenDone } from '../../forward/harness.ts';
import { dnsServer } from './dns-server.ts';

const DAY_MS = 86_400_000;
const NO_FILES = createLocalNames({ hosts: '/nonexistent', resolver: '/nonexistent' });

describe('a watched name', () => {
  afterEach(closeAll);

  it('keeps its last addresses for a day if lookups fail', async () => {
    const dns = await dnsServer({ 'a.test': { a: ['192.0.2.1'] } });
    let now = 0;
    const names = createWatchedNames(createLookup({ servers: [dns.address], localNames: NO_FILES }), () => now);
    const found: unknown[] = [];
    let failures = 0;
    const rules = { family: 'v4', rateMs: 5, respectTtl: false, backoff: { baseMs: 5, maxMs: 5 } } as const;
    whenDone(
      names.watch('a.test', rules, {
        onAddresses: (addresses) => found.push(addresses?.v4),
        onFailure: () => failures++,
      }),
    );
    await until(() => found.length > 0, 'an address');
    dns.zones.set('a.test', { fails: 'SERVFAIL' });
    await until(() => failures > 0, 'a failure');
    now = DAY_MS;
    const before = failures;
    await until(() => failures > before + 1, 'a failure after a day');
    expect(found).not.to.include(undefined);
    now = DAY_MS + 1;
    await until(() => found.includes(undefined), 'no address');
    expect(found.indexOf(undefined)).to.equal(found.length - 1);
  });
});
