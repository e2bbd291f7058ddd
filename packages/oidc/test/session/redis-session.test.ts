import { mock } from 'node:test';
import { expect } from 'chai';
import { createRedisLock } from '../../src/session/redis-session.ts';
import type { SessionRedis } from '../../src/session/redis.ts';

describe('the lock of a session in Redis', () => {
  it('is extended three times in its lifetime until it is released', async () => {
    mock.timers.enable({ apis: ['setInterval'] });
    try {
      let scripts = 0;
      const client = { set: async () => 'OK', eval: async () => void scripts++ };
      const redis = { run: (work: (each: typeof client) => unknown) => work(client) } as unknown as SessionRedis;
      const release = await createRedisLock(redis, '', 900).acquire('a', 0);
      mock.timers.tick(900);
      expect(scripts).to.equal(3);
      await release!();
      expect(scripts).to.equal(4);
      mock.timers.tick(9000);
      expect(scripts).to.equal(4);
    } finally {
      mock.timers.reset();
    }
  });
});
