import { expect } from 'chai';
import { readRedisAddress } from '../../src/redis/address.ts';

describe('readRedisAddress', () => {
  const good: Record<string, object> = {
    'redis:6380': { socket: { host: 'redis', port: 6380, tls: false }, database: 0 },
    redis: { socket: { host: 'redis', port: 6379, tls: false }, database: 0 },
    '[::1]:6380': { socket: { host: '::1', port: 6380, tls: false }, database: 0 },
    'redis://redis/3': { socket: { host: 'redis', port: 6379, tls: false }, database: 3 },
    'rediss://redis': { socket: { host: 'redis', port: 6379, tls: true }, database: 0 },
    'redis://me:p%40ss@redis': {
      socket: { host: 'redis', port: 6379, tls: false },
      username: 'me',
      password: 'p@ss',
      database: 0,
    },
    'redis://:p%40ss@redis': { socket: { host: 'redis', port: 6379, tls: false }, password: 'p@ss', database: 0 },
    'unix:///run/redis.sock': { socket: { path: '/run/redis.sock' }, database: 0 },
    'unix://me:p%40ss@/run/redis.sock': {
      socket: { path: '/run/redis.sock' },
      username: 'me',
      password: 'p@ss',
      database: 0,
    },
  };
  for (const [host, expected] of Object.entries(good)) {
    it(`parses ${host}`, () => expect(readRedisAddress({ host })).to.deep.equal(expected));
  }

  it('prefers `db` over the database in the URL', () => {
    expect(readRedisAddress({ host: 'redis://redis/3', db: 5 }).database).to.equal(5);
  });

  for (const host of [
    '',
    ':6379',
    'redis:99999',
    'http://redis',
    'redis://',
    'unix://relative',
    'a b',
    ':hunter2@redis:6379',
    'redis\n:6379',
    'redis://:hunter2%@redis',
    'unix://:hunter2%@/run/redis.sock',
    'redis://:hunter2@:x',
  ]) {
    it(`is rejected without repeating it: ${JSON.stringify(host)}`, () => {
      expect(() => readRedisAddress({ host })).to.throw(TypeError, /^(?!.*hunter2)redis: /);
    });
  }
});
