import { expect } from 'chai';
import { closeAll, gateway, get, rawUpstream, snapshotOf, until } from '../forward/harness.ts';

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

describe('maxStreamDuration of upstreams', () => {
  afterEach(closeAll);

  it('does not apply to an exchange that has ended', async () => {
    const { port } = await responding(1);
    const connectionConfig = { commonHttpProtocolOptions: { maxStreamDuration: '50ms' } };
    const gw = await gateway({ upstream: snapshotOf(port, { spec: { connectionConfig } }) });
    expect((await get(gw.url)).status).to.equal(200);
    const endedAt = performance.now();
    await until(() => performance.now() - endedAt > 100);
    expect(gw.stat('upstream_rq_max_duration_reached')).to.equal(0);
    expect(gw.stat('upstream_cx_active')).to.equal(1);
  });
});
