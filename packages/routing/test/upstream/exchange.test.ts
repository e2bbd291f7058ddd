import { expect } from 'chai';
import { closeAll, gateway, get, rawUpstream, snapshotOf } from '../forward/harness.ts';

/** Responds with this many headers, `content-length` included. */
const responding = (count: number) => {
  const lines = Array.from({ length: count - 1 }, (_, i) => `x-${i}: 1\r\n`).join('');
  return rawUpstream((socket) => void socket.write(`HTTP/1.1 200 OK\r\n${lines}content-length: 2\r\n\r\nok`));
};

async function statusOf(count: number, maxHeadersCount?: number): Promise<number> {
  const { port } = await responding(count);
  const connectionConfig = { commonHttpProtocolOptions: maxHeadersCount === undefined ? {} : { maxHeadersCount } };
  const gw = await gateway({ upstream: snapshotOf(port, { spec: { connectionConfig } }) });
  return (await get(gw.url)).status;
}

describe('maxHeadersCount of upstreams', () => {
  afterEach(closeAll);

  it('is 100 by default', async () => {
    expect(await statusOf(100)).to.equal(200);
    expect(await statusOf(101)).to.equal(502);
  });

  it('can be more or less', async () => {
    expect(await statusOf(150, 150)).to.equal(200);
    expect(await statusOf(3, 2)).to.equal(502);
  });
});
