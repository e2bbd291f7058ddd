import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { expect } from 'chai';
import { createContext, type GatewayError } from '@edge-gateway/core';
import { localRateLimitConcern } from '../../src/local/local-rate-limit.ts';

const NOW = Date.UTC(2027, 0, 5);

describe('local rate limits', () => {
  for (const [fillInterval, seconds] of [
    ['30s', '30'],
    ['0.1s', '1'],
  ] as const)
    it(`tell clients when a bucket that fills every ${fillInterval} has a token again`, () => {
      const defaultLimit = { maxTokens: 1, tokensPerFill: 1, fillInterval };
      const handler = localRateLimitConcern.compile({ defaultLimit }, createContext({ now: () => NOW }))!;
      const decide = (): GatewayError | undefined => {
        const req = new IncomingMessage(new Socket());
        let found: unknown;
        handler(req, new ServerResponse(req), (error) => (found = error));
        return found as GatewayError | undefined;
      };
      expect(decide()).to.equal(undefined);
      expect(decide()).to.include({ status: 429 });
      expect(decide()?.headers).to.deep.equal({ 'content-type': 'text/plain', 'retry-after': seconds });
    });
});
