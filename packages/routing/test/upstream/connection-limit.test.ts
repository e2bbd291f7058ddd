import { expect } from 'chai';
import { request, type ClientRequest, type ServerResponse } from 'node:http';
import { closeAll, gateway, httpUpstream, snapshotOf, until, type Gateway } from '../forward/harness.ts';

interface Backend {
  readonly port: number;
  /** Responses that are not sent yet. */
  readonly held: ServerResponse[];
  readonly connections: Set<unknown>;
}

async function holding(): Promise<Backend> {
  const held: ServerResponse[] = [];
  const connections = new Set<unknown>();
  const port = await httpUpstream((req, res) => {
    connections.add(req.socket);
    held.push(res);
  });
  return { port, held, connections };
}

function send(gw: Gateway): ClientRequest & { readonly status: Promise<number> } {
  const req = request(gw.url, { agent: false });
  const status = new Promise<number>((resolve) => {
    req.on('response', (res) => res.resume().on('end', () => resolve(res.statusCode!))).on('error', () => resolve(0));
  });
  return Object.assign(req.end(), { status });
}

describe('the limit of connections of a cluster', () => {
  let one: Backend;
  let other: Backend;
  let gw: Gateway;
  afterEach(closeAll);

  /** Serves two hosts in turn. */
  async function serving(maxConnections: number): Promise<void> {
    one = await holding();
    other = await holding();
    const endpoints = [one, other].map(({ port }) => ({ address: '127.0.0.1', port, weight: 1 }));
    gw = await gateway({
      upstream: snapshotOf(one.port, { endpoints, spec: { circuitBreakers: { maxConnections } } }),
    });
  }

  const isHeld = (count: number): boolean => one.held.length + other.held.length === count;

  it('applies to all hosts together', async () => {
    await serving(3);
    const sent = Array.from({ length: 8 }, () => send(gw));
    await until(() => isHeld(3) && gw.stat('upstream_rq_pending_active') === 5);
    expect([one.connections.size, other.connections.size].toSorted()).to.deep.equal([1, 2]);
    expect(gw.stat('upstream_cx_active')).to.equal(3);
    expect(gw.stat('upstream_cx_overflow')).to.equal(5);
    const timer = setInterval(() => [one, other].forEach(({ held }) => held.splice(0).forEach((res) => res.end())), 5);
    const statuses = await Promise.all(sent.map(({ status }) => status));
    clearInterval(timer);
    expect(statuses).to.deep.equal(Array.from({ length: 8 }, () => 200));
    expect(gw.stat('upstream_cx_total')).to.equal(3);
    expect(gw.stat('upstream_rq_pending_active')).to.equal(0);
  });

  it('allows one connection to each host', async () => {
    await serving(1);
    const sent = Array.from({ length: 4 }, () => send(gw));
    await until(() => isHeld(2) && gw.stat('upstream_rq_pending_active') === 2);
    expect([one.connections.size, other.connections.size]).to.deep.equal([1, 1]);
    expect(gw.stat('circuit_breakers.default.cx_open')).to.equal(1);
    for (const { held } of [one, other]) held.shift()!.end();
    await until(() => isHeld(2) && gw.stat('upstream_rq_pending_active') === 0);
    for (const { held } of [one, other]) held.shift()!.end();
    expect(await Promise.all(sent.map(({ status }) => status))).to.deep.equal([200, 200, 200, 200]);
    expect(gw.stat('upstream_cx_total')).to.equal(2);
  });

  it('lets requests to another host open a connection when one is closed', async () => {
    await serving(3);
    const sent = Array.from({ length: 4 }, () => send(gw));
    await until(() => isHeld(3) && gw.stat('upstream_rq_pending_active') === 1);
    const [full, waiting] = one.held.length === 2 ? [one, other] : [other, one];
    full.held[0]!.socket!.destroy();
    await until(() => waiting.held.length === 2);
    expect(waiting.connections.size).to.equal(2);
    expect(gw.stat('upstream_cx_active')).to.equal(3);
    for (const res of [full.held[1]!, ...waiting.held]) res.end();
    const statuses = await Promise.all(sent.map(({ status }) => status));
    expect(statuses.toSorted()).to.deep.equal([200, 200, 200, 503]);
  });
});
