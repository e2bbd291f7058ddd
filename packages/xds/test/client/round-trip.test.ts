import { createLoggers } from '@edge-gateway/core';
import { expect } from 'chai';
import { NODE_TRANSLATION } from '../../src/index.ts';
import { encodeStrings } from '../../src/protocol/wire.ts';
import { createStateEncoder, TYPE, type DecodedState, type StateEncoder } from '../../src/resources/index.ts';
import { startProxy, startServer, until } from '../planes.ts';
import { secret, service, startStates, upstream } from '../states.ts';

describe('two planes', () => {
  let states: Awaited<ReturnType<typeof startStates>>;
  let server: Awaited<ReturnType<typeof startServer>>;
  let proxies: ReturnType<typeof startProxy>[];
  beforeEach(async () => {
    proxies = [];
    server = await startServer();
    states = await startStates({
      a: service('a', 'one'),
      b: service('b', 'two'),
      up: upstream('up', 1),
      s: secret('s', 'x'),
    });
  });
  afterEach(async () => {
    for (const proxy of proxies) proxy.close();
    server.close();
    await states.close();
  });
  function connect(...given: Parameters<typeof startProxy> | []) {
    const proxy = startProxy(given[0] ?? [server.port], given[1]);
    proxies.push(proxy);
    return proxy;
  }
  const publish = () => server.publish(states.current());
  const version = () => states.snapshot().version;

  it('log the first of equal connection failures, and the next connection', async () => {
    const { port } = server;
    server.close();
    const lines: string[] = [];
    let failures = 0;
    connect([port], {
      random: () => 0,
      onFailure: () => void failures++,
      log: createLoggers({ level: 'info', destination: { write: (line) => void lines.push(line) } }),
    });
    await until(() => failures >= 3, 'three failures');
    const logged = () => lines.map((line) => (JSON.parse(line) as { msg: string }).msg);
    expect(logged()).to.deep.equal(['failed to connect to control plane']);
    server = await startServer({}, { address: '127.0.0.1', port });
    publish();
    await until(() => logged().length > 1, 'the connection');
    expect(logged()[1]).to.equal('connected to control plane');
  });

  it('reject an update whose list of resources is of another version, and keep the state', async () => {
    let isNewer = false;
    const create = (): StateEncoder => {
      const encoder = createStateEncoder();
      return {
        encode(state) {
          const set = encoder.encode(state);
          if (!isNewer) return set;
          const value = encodeStrings(['{"listeners":[],"order":[]}']);
          const newer = { name: 'gateway-proxy', version: 'abc', value };
          const list = { version: 'abc', byName: new Map([['gateway-proxy', newer]]) };
          return { version: 'abc', types: new Map([...set.types, [TYPE.snapshot, list]]) };
        },
      };
    };
    const other = await startServer({ translations: [{ ...NODE_TRANSLATION, create }] });
    try {
      other.publish(states.current());
      const proxy = connect([other.port]);
      await until(() => proxy.served !== undefined, 'the first state');
      const before = proxy.served;
      isNewer = true;
      states.source.set('a', service('a', 'changed'));
      other.publish(states.current());
      await until(() => other.server.rejections().length > 0, 'the rejection');
      const { rejection } = other.server.rejections()[0]!;
      expect(rejection).to.include({ type: TYPE.snapshot, resource: 'gateway-proxy', field: 'order' });
      expect(proxy.served).to.equal(before);
      isNewer = false;
      other.publish(states.current());
      await until(() => proxy.served?.version === version(), 'the next usable state');
      await until(() => other.server.rejections().length === 0, 'no rejection');
    } finally {
      other.close();
    }
  });

  it('report what is not available in the served state, until it is', async () => {
    let unavailable = [{ name: 'listener-::-80', reason: 'not open' }];
    const { client, applied } = connect([server.port], { unavailable: () => unavailable });
    publish();
    const status = () => server.server.proxies()[0];
    await until(() => status()?.nack !== undefined, 'the rejection');
    expect(status()!.nack).to.deep.equal({
      type: 'Snapshot',
      resource: 'listener-::-80',
      field: '',
      message: 'not open',
    });
    expect(status()!.current).to.equal(false);
    unavailable = [];
    client.refresh();
    await until(() => status()!.current, 'acknowledged');
    expect(status()).to.not.have.property('nack');
    // A repeated state is not applied again.
    expect(applied).to.have.length(1);
  });

  it('have the same snapshot, which the proxy acknowledges', async () => {
    const proxy = connect();
    publish();
    await until(() => server.server.proxies()[0]?.current === true, 'acknowledged');
    expect(proxy.served).to.deep.equal(states.snapshot());
    expect(proxy.decoder.secrets.get({ name: 's', namespace: 'gw-system' })?.data).to.deep.equal({ a: 'eA==' });
    const [status] = server.server.proxies();
    expect(status).to.include({ node: `node~${server.port}`, proxy: 'gateway-proxy', version: version(), age: 0 });
    expect(status!.address).to.match(/^127\.0\.0\.1:\d+$/);
    expect(status!.lastAck).to.be.a('string');
    expect(proxy.stat('control_plane.connected_state')!.value).to.equal(1);
    expect(proxy.stat('listener_manager.lds.update_success')!.value).to.equal(1);
    expect(proxy.applied).to.have.length(1);
  });

  it('apply a state in slices, and a newer one after it', async () => {
    const log: string[] = [];
    const gate = { isOpen: false };
    connect([server.port], {
      *apply({ snapshot }) {
        log.push(`begin ${snapshot.version}`);
        while (!gate.isOpen) yield;
        log.push(`end ${snapshot.version}`);
        return { failed: [] };
      },
    });
    publish();
    await until(() => log.length > 0, 'applying');
    states.source.set('a', service('a', 'newer'));
    publish();
    gate.isOpen = true;
    await until(() => server.server.proxies()[0]?.current === true, 'acknowledged');
    await until(() => log.at(-1) === `end ${version()}`, 'the newest is applied');
    const versions = log.filter((each) => each.startsWith('begin')).map((each) => each.slice('begin '.length));
    expect(log).to.deep.equal(versions.flatMap((each) => [`begin ${each}`, `end ${each}`]));
    expect(versions).to.have.lengthOf(2);
  });

  it('end the steps of a state when they are closed', async () => {
    let hasBegun = false;
    let hasEnded = false;
    const proxy = connect([server.port], {
      *apply() {
        try {
          for (hasBegun = true; ;) yield;
        } finally {
          hasEnded = true;
        }
      },
    });
    publish();
    await until(() => hasBegun, 'applying');
    proxy.client.close();
    await until(() => hasEnded, 'ended');
    expect(server.server.proxies().some(({ lastAck }) => lastAck !== undefined)).to.equal(false);
  });

  it('apply nothing if the first state cannot be served, and go on', async () => {
    let isBroken = true;
    const states: string[] = [];
    connect([server.port], {
      *apply({ snapshot }) {
        yield;
        states.push(snapshot.version);
        if (isBroken) throw new Error('no memory');
        return { failed: [] };
      },
    });
    publish();
    await until(
      () => server.server.proxies().some(({ nack }) => nack?.message === 'no memory') || states.length > 1,
      'tried',
    );
    isBroken = false;
    await until(() => server.server.proxies()[0]?.current === true, 'acknowledged');
    expect(new Set(states)).to.deep.equal(new Set([version()]));
  });

  it('send nothing before the first state', async () => {
    const proxy = connect();
    await until(() => server.server.proxies().length === 1, 'connected');
    expect(server.server.proxies()[0]).to.include({ version: '', current: false });
    expect(proxy.applied).to.deep.equal([]);
  });

  it('apply each change once, and keep what did not change', async () => {
    const proxy = connect();
    publish();
    await until(() => proxy.applied.length === 1, 'the first state');
    for (const [i, body] of ['x', 'y', 'z'].entries()) {
      states.source.set('a', service('a', body));
      publish();
      await until(() => proxy.applied.length === i + 2, body);
    }
    const [first, , , last] = proxy.applied;
    expect(last).to.deep.equal(states.snapshot());
    expect(last!.listeners[0]!.virtualHosts[1]).to.equal(first!.listeners[0]!.virtualHosts[1]);
    expect(last!.upstreams).to.equal(first!.upstreams);
    expect(proxy.stat('xds.virtual_host.update_attempt')!.value).to.equal(4);
    expect(proxy.stat('cluster_manager.cds.update_attempt')!.value).to.equal(1);
  });

  it('apply the newest of many changes', async () => {
    const proxy = connect();
    publish();
    await until(() => proxy.applied.length === 1, 'the first state');
    for (let i = 0; i < 50; i++) {
      states.source.set('a', service('a', String(i)));
      publish();
    }
    await until(() => proxy.served!.version === version(), 'the newest state');
    expect(proxy.applied.length).to.be.lessThan(10);
    expect(proxy.served).to.deep.equal(states.snapshot());
  });

  it('remove everything when the last virtual service is gone', async () => {
    const proxy = connect();
    publish();
    await until(() => proxy.served?.listeners.length === 1, 'a listener');
    server.server.update(new Map());
    await until(() => proxy.served!.listeners.length === 0, 'no listener');
    expect(proxy.served!.upstreams).to.deep.equal([]);
  });

  const bodyOf = ({ snapshot }: Pick<DecodedState, 'snapshot'>, name: string) =>
    (snapshot.listeners[0]!.virtualHosts.find((host) => host.name.endsWith(`.${name}`))!.routes[0]!.action as any).body;
  const resource = 'listener-::-8080/gw-system.a';

  it('keep the last version of resources that do not compile, and report the rejection until it is fixed', async () => {
    const proxy = connect([server.port], {
      failing: (state) =>
        bodyOf(state, 'a') === 'bad'
          ? [{ type: TYPE.virtualHost, resource, field: 'routes[0]', message: 'cannot be compiled' }]
          : [],
    });
    publish();
    await until(() => proxy.applied.length === 1, 'the first state');
    states.source.set('a', service('a', 'bad'));
    states.source.set('b', service('b', 'new'));
    publish();
    await until(() => server.server.rejections().length === 1, 'a rejection');
    const nack = { type: 'VirtualHost', resource, field: 'routes[0]', message: 'cannot be compiled' };
    expect(server.server.proxies()[0]!.nack).to.deep.equal(nack);
    expect(server.server.proxies()[0]!.current).to.equal(false);
    expect(proxy.client.rejections).to.have.length(1);
    const at = { snapshot: proxy.served! };
    expect([bodyOf(at, 'a'), bodyOf(at, 'b')]).to.deep.equal(['one', 'new']);
    states.source.set('b', service('b', 'newer'));
    publish();
    await until(() => bodyOf({ snapshot: proxy.served! }, 'b') === 'newer', 'another change');
    expect(bodyOf({ snapshot: proxy.served! }, 'a')).to.equal('one');
    expect(server.server.rejections()).to.have.length(1);
    states.source.set('a', service('a', 'good'));
    publish();
    await until(() => server.server.proxies()[0]!.current, 'accepted');
    expect(server.server.rejections()).to.deep.equal([]);
    expect(bodyOf({ snapshot: proxy.served! }, 'a')).to.equal('good');
  });

  it('keep the previous state when an update cannot be applied at all, and retry later', async () => {
    let isBroken = false;
    const proxy = connect([server.port], {
      failing(state) {
        if (isBroken && bodyOf(state, 'a') === 'bad') throw new Error('no memory');
        return [];
      },
      random: () => 0,
    });
    publish();
    await until(() => server.server.proxies()[0]?.current === true, 'the first state');
    isBroken = true;
    states.source.set('a', service('a', 'bad'));
    publish();
    await until(() => proxy.client.connectedTo === undefined, 'the stream is closed');
    expect(bodyOf({ snapshot: proxy.served! }, 'a')).to.equal('one');
    isBroken = false;
    await until(() => bodyOf({ snapshot: proxy.served! }, 'a') === 'bad', 'applied later');
  });

  it('send only what changed after a reconnect', async () => {
    const proxy = connect([server.port], { random: () => 0 });
    publish();
    await until(() => proxy.accepted > 0, 'the first state');
    const { port } = server;
    server.close();
    await until(() => proxy.client.connectedTo === undefined, 'disconnected');
    expect(proxy.stat('control_plane.connected_state')!.value).to.equal(0);
    server = await startServer({}, { port });
    const before = proxy.applied.length;
    publish();
    await until(() => server.server.proxies()[0]?.current === true, 'connected again');
    expect(proxy.applied).to.have.length(before);
    states.source.set('a', service('a', 'changed'));
    publish();
    await until(() => proxy.applied.length === before + 1, 'changed');
    expect(proxy.served).to.deep.equal(states.snapshot());
  });

  it('forget the part of an update that arrived before the connection was lost', async () => {
    let isHalf = false;
    /** Sends a virtual host before the list that contains its version. */
    const create = (): StateEncoder => {
      const encoder = createStateEncoder();
      return {
        encode(state) {
          const set = encoder.encode(state);
          if (!isHalf) return set;
          const list = set.types.get(TYPE.virtualHost)!;
          const byName = new Map(Array.from(list.byName, ([name, each]) => [name, { ...each, version: 'abc' }]));
          return { version: 'abc', types: new Map([...set.types, [TYPE.virtualHost, { version: 'abc', byName }]]) };
        },
      };
    };
    const other = await startServer({ translations: [{ ...NODE_TRANSLATION, create }] });
    other.publish(states.current());
    const proxy = connect([other.port]);
    await until(() => proxy.accepted > 0, 'the first state');
    const received = (): number => proxy.stat('xds.virtual_host.update_attempt')!.value;
    const before = received();
    isHalf = true;
    states.source.set('up', upstream('up', 2));
    other.publish(states.current());
    await until(() => received() > before, 'a part');
    other.close();
    server.close();
    server = await startServer({}, { port: other.port });
    states.source.set('up', upstream('up', 3));
    publish();
    await until(() => proxy.served?.version === version(), 'the state');
  });

  it('connect the proxy to another control plane, which has the same versions', async () => {
    const other = await startServer();
    try {
      const proxy = connect([server.port, other.port], { random: () => 0 });
      publish();
      other.publish(states.current());
      await until(() => proxy.client.connectedTo === `127.0.0.1:${server.port}`, 'the first');
      await until(() => proxy.accepted > 0, 'the first state');
      server.close();
      await until(() => other.server.proxies()[0]?.current === true, 'the second');
      expect(proxy.applied).to.have.length(1);
    } finally {
      other.close();
    }
  });

  it('do not count a failure when the proxy is closed, and do not reconnect', async () => {
    let failures = 0;
    const proxy = connect([server.port], { onFailure: () => void failures++ });
    publish();
    await until(() => proxy.accepted > 0, 'the state');
    proxy.close();
    await until(() => proxy.client.connectedTo === undefined && server.server.proxies().length === 0, 'closed');
    expect([failures, proxy.stat('xds.virtual_host.update_failure')!.value]).to.deep.equal([0, 0]);
  });

  it('pass a state of several megabytes in parts', async () => {
    const large = Object.fromEntries(
      Array.from({ length: 1000 }, (_, i) => [`f${i}`, service(`large-${i}`, 'x'.repeat(3_500))]),
    );
    const many = await startStates(large);
    try {
      const proxy = connect();
      server.publish(many.current());
      await until(() => proxy.accepted > 0, 'the state');
      expect(proxy.served).to.deep.equal(many.snapshot());
      expect(proxy.stat('xds.virtual_host.update_attempt')!.value).to.be.within(3, 5);
      await until(() => server.server.proxies()[0]!.current, 'acknowledged');
    } finally {
      await many.close();
    }
  });
});
