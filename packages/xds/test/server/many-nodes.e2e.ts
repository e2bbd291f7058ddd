import { expect } from 'chai';
import { RESOURCE_TYPES, TYPE } from '../../src/resources/index.ts';
import { startServer, until } from '../planes.ts';
import { service, startStates, upstream } from '../states.ts';
import { NODE, openDelta } from './scripted-client.ts';

const NODES = 200;
const SERVICES = 1000;
const LIMIT_MS = 2000;

describe(`${NODES} proxies of one control plane`, () => {
  let states: Awaited<ReturnType<typeof startStates>>;
  let server: Awaited<ReturnType<typeof startServer>>;
  let clients: ReturnType<typeof openDelta>[];
  /** Those that receive, but do not answer. */
  const silent = new Set<number>();
  beforeEach(async () => {
    silent.clear();
    server = await startServer();
    const files = Array.from({ length: SERVICES }, (_, i) => [`f${i}`, service(`s${i}`, 'one')] as const);
    states = await startStates({ ...Object.fromEntries(files), up: upstream('up', 1) });
    server.publish(states.current());
    clients = [];
    connect();
    await until(allCurrent, 'the first state everywhere');
  });
  afterEach(async () => {
    for (const client of clients) client.close();
    server.close();
    await states.close();
  });

  function connect(): void {
    clients = Array.from({ length: NODES }, (_, i) => {
      const client = openDelta(server.port);
      client.stream.on('data', ({ type_url, nonce }) => {
        if (!silent.has(i)) client.send({ type_url, response_nonce: nonce });
      });
      for (const [place, type_url] of RESOURCE_TYPES.entries())
        client.send({ type_url, ...(place === 0 && { node: { ...NODE, id: `node-${i}` } }) });
      return client;
    });
  }
  const allCurrent = (): boolean => {
    const all = server.server.proxies();
    return all.length === NODES && all.every(({ current, node }) => current || silent.has(Number(node.split('-')[1])));
  };
  function change(i: number, body: string): number {
    states.source.set(`f${i}`, service(`s${i}`, body));
    const at = Date.now();
    server.publish(states.current());
    return at;
  }

  it(`acknowledge a change within ${LIMIT_MS} ms, at the 99th percentile, and receive only that`, async () => {
    const times: number[] = [];
    for (let i = 0; i < 10; i++) {
      const received = clients.map(({ responses }) => responses.length);
      const at = change(i, `change ${i}`);
      await until(allCurrent, 'the change everywhere');
      for (const { lastAck } of server.server.proxies()) times.push(Date.parse(lastAck!) - at);
      for (const [n, { responses }] of clients.entries()) {
        const types = responses.slice(received[n]).map(({ type_url }) => type_url);
        expect(types).to.deep.equal([TYPE.virtualHost, TYPE.snapshot]);
        expect(responses.at(-2)!.resources).to.have.length(1);
      }
    }
    const p99 = times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)]!;
    console.log(`      p99 of ${times.length} acknowledgements: ${p99} ms`);
    expect(p99).to.be.lessThan(LIMIT_MS);
  });

  it('do not wait for those that do not answer, which have one update outstanding', async () => {
    for (let i = 0; i < 20; i++) silent.add(i);
    for (let i = 0; i < 10; i++) {
      change(i, `change ${i}`);
      await until(allCurrent, 'the change at the others');
    }
    for (let i = 0; i < 20; i++) expect(clients[i]!.responses.length - clients[40]!.responses.length).to.equal(-18);
  });

  it('connect again at once after the control plane was lost', async () => {
    const { port } = server;
    server.close();
    for (const client of clients) await client.ended();
    for (const client of clients) client.close();
    server = await startServer({}, { port });
    server.publish(states.current());
    connect();
    await until(allCurrent, 'all are back');
  });
});
