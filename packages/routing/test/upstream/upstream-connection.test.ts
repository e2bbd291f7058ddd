import { once } from 'node:events';
import type { Socket } from 'node:net';
import { expect } from 'chai';
import { createMetrics } from '@edge-gateway/core';
import { HeadCache } from '../../src/http1/head-cache.ts';
import { CircuitBreakers } from '../../src/upstream/circuit-breakers.ts';
import { connectionSettings } from '../../src/upstream/cluster-settings.ts';
import type { ChannelUser } from '../../src/upstream/channel.ts';
import type { Connector } from '../../src/upstream/connector.ts';
import { createClusterStats } from '../../src/upstream/stats.ts';
import { Http1UpstreamConnection, type ConnectionOwner } from '../../src/upstream/upstream-connection.ts';
import { snapshotOf } from '../forward/harness.ts';
import { client, closeAll, tcpServer } from '../tcp/tcp-gateway.ts';

describe('a connection to an upstream', () => {
  afterEach(closeAll);

  /** A pool that notes what happens with its connection; `opened` ends the attempt to connect. */
  function poolOf() {
    const steps: string[] = [];
    const note = (step: string) => (): void => void steps.push(step);
    let opened: Parameters<Connector>[0] | undefined;
    const snapshot = snapshotOf(1);
    const metrics = createMetrics();
    const stats = createClusterStats(metrics, 'a');
    const owner: ConnectionOwner = {
      settings: connectionSettings(snapshot, new CircuitBreakers(snapshot, stats, metrics)),
      stats,
      heads: new HeadCache(),
      connect: (onConnect) => void (opened = onConnect),
      connected: note('connected'),
      disconnected: note('disconnected'),
      connectFailed: note('failed'),
      release: note('released'),
      forget: note('forgotten'),
      fill: note('filled'),
    };
    return { owner, steps, opened: (error: Error | null, socket?: Socket) => opened!(error, socket) };
  }
  const user = { onOpen() {} } as unknown as ChannelUser;

  it('is released for others when its user leaves before it is open, and once more when one leaves before sending', async () => {
    const { owner, steps, opened } = poolOf();
    const connection = new Http1UpstreamConnection(owner);
    connection.give(user);
    connection.leave();
    expect(steps).to.deep.equal([]);
    const { port } = await tcpServer(() => {});
    const socket = await client(port);
    opened(null, socket);
    expect(steps).to.deep.equal(['connected', 'released']);
    connection.give(user);
    connection.leave();
    expect(steps.splice(0)).to.deep.equal(['connected', 'released', 'released']);
    connection.destroy();
    expect(steps).to.deep.equal(['disconnected', 'forgotten', 'filled']);
    await once(socket, 'close');
    expect(steps).to.have.length(3);
  });

  it('that is closed while it is opened closes its socket', async () => {
    const { owner, steps, opened } = poolOf();
    const connection = new Http1UpstreamConnection(owner);
    connection.open(() => {});
    connection.destroy();
    expect(steps).to.deep.equal(['forgotten', 'filled']);
    const { port } = await tcpServer(() => {});
    const socket = await client(port);
    opened(null, socket);
    expect([socket.destroyed, steps.length]).to.deep.equal([true, 2]);
  });
});
