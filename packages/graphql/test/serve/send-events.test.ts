import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { ActionExchange } from '@edge-gateway/core';
import { expect } from 'chai';
import type { Results } from '../../src/http/answer.ts';
import { createDrain } from '../../src/serve/drain.ts';
import { sendEvents } from '../../src/serve/send-events.ts';

const HOUR_MS = 3_600_000;

describe('sending events', () => {
  it('leaves no timer when the results end, also if the connection could last for an hour', async () => {
    const timers = (): number => process.getActiveResourcesInfo().filter((type) => type === 'Timeout').length;
    const results = (async function* () {
      yield { data: { a: 1 } };
    })() as unknown as Results;
    const counted = Promise.withResolvers<readonly [before: number, after: number]>();
    const respond = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
      const exchange = { req, res, writeHead: res.writeHead.bind(res) } as unknown as ActionExchange;
      const before = timers();
      const limits = { maxConnectionMs: HOUR_MS } as never;
      await sendEvents(exchange, results, { limits, drain: createDrain(), now: Date.now });
      counted.resolve([before, timers()]);
    };
    const server = createServer((req, res) => void respond(req, res));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    try {
      const { port } = server.address() as AddressInfo;
      const [answer] = (await once(get({ port, host: '127.0.0.1', agent: false }), 'response')) as [IncomingMessage];
      expect(await text(answer)).to.equal(':\n\nevent: next\ndata: {"data":{"a":1}}\n\nevent: complete\ndata:\n\n');
      const [before, after] = await counted.promise;
      expect(after).to.equal(before);
    } finally {
      server.close();
    }
  });
});
