import { skipWithout } from '../parts/apt.ts';
import { startRedis, type RedisServer } from '../parts/redis.ts';
import { startRedisFront, type RedisFront } from './redis-front.ts';
import { startWorld, type World } from './world.ts';

/** What the tests of a suite, or each test, have for themselves. */
export interface SuiteWorld {
  readonly redis: RedisServer;
  /** Between the gateways and Redis, where it was asked for. */
  readonly front: RedisFront;
  readonly world: World;
}

export interface SuiteWorldOptions {
  readonly redisArgs?: readonly string[];
  /** A world for each test, whose gateways reach Redis through a front. */
  readonly forEach?: 'test behind a front';
  /** The provider is there only after its `start`; nobody is logged in. */
  readonly providerIsAway?: true;
}

/** Has mocha start a Redis and a world with people in it, and end them afterwards. To be called in a `describe`. */
export function suiteWorld({ redisArgs = [], forEach, providerIsAway }: SuiteWorldOptions = {}): SuiteWorld {
  const suite: { redis?: RedisServer; front?: RedisFront; world?: World } = {};
  async function start(this: Mocha.Context): Promise<void> {
    await skipWithout(this, 'redis-server');
    suite.redis = await startRedis({ args: redisArgs });
    if (forEach) suite.front = await startRedisFront(suite.redis.port);
    suite.world = await startWorld({
      redis: suite.front?.host ?? suite.redis.host,
      ...(providerIsAway && { providerIsAway }),
    });
    if (!providerIsAway) await suite.world.settle();
  }
  async function end(): Promise<void> {
    await suite.world?.close();
    await suite.front?.close();
    await suite.redis?.close();
  }
  if (forEach) {
    beforeEach(start);
    afterEach(end);
  } else {
    before(start);
    after(end);
  }
  return suite as SuiteWorld;
}
