import { expect } from 'chai';
import { readRedisAddress } from '../../src/redis/address.ts';

describe('readRedisAddress', () => {
  const good: Record<string, object> = {
    'redis:6380': { socket: { host: 'redis', port: 6380, tls: false }, database: 0 },
    redis: { socket: { host: 'redis', port: 6379, tls: false }, database: 0 },
    '[::1]:6380': { socket: { host: '::1', port: 6380, tls: false }, database: 0 },
    'redis://redis/3': { socket: { host: 'redis', port: 6379, tls: false }, database: 3 },
    'redis://redis?db=3': { socket: { host: 'redis', port: 6379, tls: false }, database: 3 },
    'redis://redis/?db=0': { socket: { host: 'redis', port: 6379, tls: false }, database: 0 },
    'redis:6380?db=3': { socket: { host: 'redis', port: 6380, tls: false }, database: 3 },
    'rediss://redis/3?db=03': { socket: { host: 'redis', port: 6379, tls: true }, database: 3 },
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
    'redis+cluster://me:p%2540ss@a:1,b': {
      socket: { host: 'a', port: 1, tls: false },
      username: 'me',
      password: 'p%40ss',
      database: 0,
      cluster: [
        { host: 'a', port: 1 },
        { host: 'b', port: 6379 },
      ],
    },
    'rediss+cluster://[::1]:7000': {
      socket: { host: '::1', port: 7000, tls: true },
      database: 0,
      cluster: [{ host: '::1', port: 7000 }],
    },
    'rediss+sentinel://:secret@a,b:2/main?db=3&sentinelUser=you&sentinelPassword=p%2540ss': {
      socket: { host: 'a', port: 26379, tls: true },
      password: 'secret',
      database: 3,
      sentinels: {
        nodes: [
          { host: 'a', port: 26379 },
          { host: 'b', port: 2 },
        ],
        name: 'main',
        username: 'you',
        password: 'p%40ss',
      },
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
    'redis+cluster://',
    'redis+cluster://:hunter2@',
    'redis+cluster://:hunter2@a,,b',
    'redis+cluster://:hunter2@a:99999',
    'redis+cluster://:hunter2@a@b',
    'redis+cluster://:hunter2%@a,b',
    'redis+cluster://:hunter2@a,b/1',
    'redis+cluster://:hunter2@a,b?tls=hunter2',
    'redis+cluster://:hunter2@a b,c',
    'redis+sentinel://:hunter2@a,b',
    'redis+sentinel://:hunter2@a,b/',
    'redis+sentinel://:hunter2@a,b/main/other',
    'redis+sentinel://:hunter2@a,b/main?db=x',
    'redis+sentinel://a/main?password=hunter2',
    'redis+other://:hunter2@a',
    'redis://:hunter2@a/x',
    'redis://:hunter2@a/1/2',
    'rediss://:hunter2@a/-1',
    'redis://:hunter2@a/12345',
    'redis://:hunter2@a/1?db=2',
    'redis://:hunter2@a/0?db=2',
    'redis://:hunter2@a?db=1&db=2',
    'redis://:hunter2@a?db=',
    'redis://:hunter2@a?db=x',
    'redis://:hunter2@a?db=12345',
    'redis://a?password=hunter2',
  ]) {
    it(`is rejected without repeating it: ${JSON.stringify(host)}`, () => {
      expect(() => readRedisAddress({ host })).to.throw(TypeError, /^(?!.*hunter2)redis: /);
    });
  }
});
