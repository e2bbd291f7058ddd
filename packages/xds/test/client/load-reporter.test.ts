import { EventEmitter } from 'node:events';
import { mock } from 'node:test';
import { status, type Client } from '@grpc/grpc-js';
import type { TrafficReport } from '@edge-gateway/core';
import { expect } from 'chai';
import { reportLoad } from '../../src/client/load-reporter.ts';

/** A stream without a server. */
class FakeStream extends EventEmitter {
  sent = 0;
  writableNeedDrain = false;
  isCancelled = false;
  write(): void {
    this.sent++;
  }
  cancel(): void {
    this.isCancelled = true;
  }
  /** Sends how often the server wants reports. */
  want(seconds: number): void {
    this.emit('data', { load_reporting_interval: { seconds, nanos: 0 } });
  }
  end(code: status): void {
    this.emit('status', { code });
  }
}

describe('a reporter of traffic', () => {
  let streams: FakeStream[];
  let reads: number;
  let reporter: ReturnType<typeof reportLoad>;
  beforeEach(() => {
    mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
    [streams, reads] = [[], 0];
    const client = {
      makeBidiStreamRequest() {
        const stream = new FakeStream();
        streams.push(stream);
        return stream;
      },
    } as unknown as Client;
    const total = { name: '', requests: 0, clientErrors: 0, serverErrors: 0 };
    const report: TrafficReport = { seconds: 1, total, listeners: [], upstreams: [] };
    reporter = reportLoad(client, { id: 'a', cluster: 'a' } as never, async () => {
      reads++;
      return report;
    });
  });
  afterEach(() => {
    reporter.close();
    mock.timers.reset();
  });
  const settled = () => new Promise(setImmediate);
  /** Lets seconds pass; returns how many reports were read meanwhile. */
  async function readsIn(seconds: number): Promise<number> {
    await settled();
    const before = reads;
    mock.timers.tick(1000 * seconds);
    await settled();
    return reads - before;
  }

  it('reports at the interval that the server wanted last, until it is closed', async () => {
    const [stream] = streams;
    expect(await readsIn(60)).to.equal(0);
    stream!.want(2);
    expect(await readsIn(10)).to.equal(5);
    stream!.want(5);
    expect(await readsIn(10)).to.equal(2);
    reporter.close();
    expect(stream!.isCancelled).to.equal(true);
    stream!.end(status.CANCELLED);
    expect(await readsIn(3600)).to.equal(0);
    expect(streams).to.have.length(1);
  });

  it('leaves a report out while the last one was not sent', async () => {
    const [stream] = streams;
    stream!.want(1);
    await settled();
    const { sent } = stream!;
    stream!.writableNeedDrain = true;
    await readsIn(5);
    expect(stream!.sent).to.equal(sent);
    stream!.writableNeedDrain = false;
    await readsIn(1);
    expect(stream!.sent).to.equal(sent + 1);
  });

  it('tries again half a minute after the stream ended, and reports nothing meanwhile', async () => {
    streams[0]!.want(1);
    streams[0]!.end(status.UNAVAILABLE);
    expect(await readsIn(29)).to.equal(0);
    expect(streams).to.have.length(1);
    await readsIn(1);
    expect(streams).to.have.length(2);
    streams[1]!.want(1);
    expect(await readsIn(3)).to.equal(3);
  });

  it('does not try again at a server without reports', async () => {
    streams[0]!.end(status.UNIMPLEMENTED);
    await readsIn(3600);
    expect(streams).to.have.length(1);
  });
});
