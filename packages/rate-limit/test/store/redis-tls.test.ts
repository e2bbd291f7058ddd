import { expect } from 'chai';
import { createRedisStore } from '@edge-gateway/rate-limit';
import { makeCertificates, type Certificates } from '../../../../test/parts/certificates.ts';
import { startRedis, type RedisServer } from '../../../../test/parts/redis.ts';
import { connectedStore, DEADLINE_MS, limitOf, recordingLog } from './redis-parts.ts';

/** The commands that the documentation names. */
const COMMANDS = '+evalsha +eval +time +get +set +incrby +pexpireat +pttl +ping +hello'.split(' ');

describe('createRedisStore over TLS', function () {
  this.timeout(60_000);
  let certificates: Certificates;
  let redis: RedisServer;
  before(async () => {
    certificates = makeCertificates();
    redis = await startRedis({ tls: { ...certificates, clients: 'yes' } });
    await redis.command(['acl', 'setuser', 'gateway', 'on', '>s3cret', '~rate-limit:*', ...COMMANDS]);
    await redis.command(['acl', 'setuser', 'default', 'off']);
  });
  after(async () => {
    await redis?.close();
    certificates?.remove();
  });

  for (const algorithm of ['FIXED_WINDOW', 'SLIDING_WINDOW', 'TOKEN_BUCKET'] as const) {
    it(`counts with an authority of its own, a client certificate and an ACL user: ${algorithm}`, async () => {
      const url = `rediss://gateway:s3cret@${redis.tlsHost}`;
      const store = await connectedStore({ url, certificates: certificates.directory });
      const charge = { key: 'tls', limit: limitOf({ requests: 1, unit: 'YEAR', algorithm }), cost: 1 };
      const outcomes = [await store.count([charge], DEADLINE_MS), await store.count([charge], DEADLINE_MS)];
      expect(outcomes.map(([count]) => count!.isOver)).to.deep.equal([false, true]);
      store.close();
    });
  }

  it('rejects checks, with one warning, if another authority signed the certificate', async () => {
    const others = makeCertificates();
    const { log, lines } = recordingLog();
    const url = `rediss://gateway:s3cret@${redis.tlsHost}`;
    const store = createRedisStore({ url, certificates: others.directory, log });
    for (let i = 0; i < 3; i++) {
      const failure = await Promise.resolve(store.count([{ key: 'a', limit: limitOf(), cost: 1 }], 500)).then(
        () => undefined,
        (error: unknown) => error,
      );
      expect(failure).to.have.property('code', 'ERR_RATE_LIMIT_STORE');
    }
    expect(lines).to.deep.equal(['untrusted Redis certificate: check tlsCertMountPath']);
    store.close();
    others.remove();
  });
});
