import { expect } from 'chai';
import { createStateDecoder, createStateEncoder, TYPE } from '../../src/resources/index.ts';
import { decodeStrings, encodeStrings } from '../../src/protocol/wire.ts';
import { authConfig, secret, service, startStates, upstream } from '../states.ts';
import { transfer } from './round-trip.ts';

const PROTECTED = '{ extauth: { configRef: { name: keys, namespace: gw-system } } }';

describe('states as resources', () => {
  let states: Awaited<ReturnType<typeof startStates>>;
  beforeEach(async () => {
    states = await startStates({
      a: service('a', 'one'),
      b: service('b', 'two'),
      p: service('p', 'three', PROTECTED),
      q: service('q', 'four', PROTECTED),
      keys: authConfig('keys'),
      up: upstream('up', 1),
      s: secret('s', 'one'),
    });
  });
  afterEach(() => states.close());
  const hostOf = ({ snapshot }: { snapshot: ReturnType<typeof states.snapshot> }, name: string) =>
    snapshot.listeners[0]!.virtualHosts.find((host) => host.name === `gw-system.${name}`)!;

  it('are one resource for each part that can change alone', () => {
    const { types } = createStateEncoder().encode(states.current());
    const names = Object.fromEntries(
      [...types].map(([type, { byName }]) => [type.split('.').at(-1), [...byName.keys()]]),
    );
    const listener = 'listener-::-8080';
    expect(names).to.deep.equal({
      Secret: ['gw-system/s'],
      Upstream: ['up_gw-system'],
      EndpointSet: ['up_gw-system'],
      AuthConfig: ['gw-system.keys'],
      RateLimitConfig: [],
      GraphQLApi: [],
      Settings: ['settings'],
      Listener: [listener],
      VirtualHost: ['a', 'b', 'p', 'q'].map((name) => `${listener}/gw-system.${name}`),
      Snapshot: ['gateway-proxy'],
    });
  });

  it('have the same versions for the same content, whatever came before', async () => {
    const encoder = createStateEncoder();
    encoder.encode(states.current());
    states.source.set('a', service('a', 'other'));
    encoder.encode(states.current());
    states.source.set('a', service('a', 'one'));
    const again = encoder.encode(states.current());
    const fresh = createStateEncoder().encode(states.current());
    expect(again.version).to.equal(fresh.version);
    for (const [type, { version, byName }] of fresh.types) {
      expect(again.types.get(type)!.version, type).to.equal(version);
      for (const [name, resource] of byName) {
        expect(again.types.get(type)!.byName.get(name)).to.deep.equal(resource);
      }
    }
  });

  it('change in one virtual host and the snapshot when a virtual service changes', () => {
    const encoder = createStateEncoder();
    const decoder = createStateDecoder();
    transfer(encoder.encode(states.current()), decoder);
    const before = decoder.build();
    decoder.accept();
    states.source.set('a', service('a', 'changed'));
    const { changed, removed } = transfer(encoder.encode(states.current()), decoder);
    expect(changed).to.deep.equal(['listener-::-8080/gw-system.a', 'gateway-proxy']);
    expect(removed).to.deep.equal([]);
    const after = decoder.build();
    expect(after.snapshot).to.deep.equal(states.snapshot());
    expect(hostOf(after, 'a')).to.not.equal(hostOf(before, 'a'));
    for (const name of ['b', 'p', 'q']) expect(hostOf(after, name)).to.equal(hostOf(before, name));
    expect(after.snapshot.upstreams).to.equal(before.snapshot.upstreams);
    expect(after.snapshot.settings).to.equal(before.snapshot.settings);
    const [was, is] = [before, after].map(({ snapshot }) => snapshot.listeners[0]!);
    for (const field of ['options', 'httpOptions', 'routeOptions', 'sslConfigurations'] as const)
      expect(is![field], field).to.equal(was![field]);
  });

  it('replace the virtual hosts of a changed AuthConfig, which all have the same object', () => {
    const encoder = createStateEncoder();
    const decoder = createStateDecoder();
    transfer(encoder.encode(states.current()), decoder);
    const before = decoder.build();
    decoder.accept();
    states.source.set('keys', authConfig('keys', 'two'));
    expect(transfer(encoder.encode(states.current()), decoder).changed).to.deep.equal([
      'gw-system.keys',
      'gateway-proxy',
    ]);
    const after = decoder.build();
    expect(after.snapshot).to.deep.equal(states.snapshot());
    expect(hostOf(after, 'p')).to.not.equal(hostOf(before, 'p'));
    expect(hostOf(after, 'p').authConfigs[0]).to.equal(hostOf(after, 'q').authConfigs[0]);
    expect(hostOf(after, 'a')).to.equal(hostOf(before, 'a'));
  });

  it('change in the endpoints alone when only those change', () => {
    const encoder = createStateEncoder();
    const decoder = createStateDecoder();
    const { snapshot, ...rest } = states.current();
    const resolved = (address: string) => ({
      ...rest,
      snapshot: {
        ...snapshot,
        upstreams: snapshot.upstreams.map((up) => ({ ...up, endpoints: [{ address, port: 1, weight: 1 }] })),
      },
    });
    transfer(encoder.encode(resolved('10.0.0.1')), decoder);
    decoder.build();
    decoder.accept();
    const set = encoder.encode(resolved('10.0.0.2'));
    expect(transfer(set, decoder).changed).to.deep.equal(['up_gw-system', 'gateway-proxy']);
    expect(set.types.get(TYPE.upstream)!.byName.size).to.equal(1);
    expect(decoder.build().snapshot.upstreams[0]!.endpoints[0]!.address).to.equal('10.0.0.2');
  });

  it('keep a virtual host that is moved to the end of the alphabet in order', () => {
    const encoder = createStateEncoder();
    const decoder = createStateDecoder();
    transfer(encoder.encode(states.current()), decoder);
    decoder.build();
    decoder.accept();
    states.source.set('b2', service('aa', 'new'));
    states.source.delete('p');
    expect(transfer(encoder.encode(states.current()), decoder)).to.deep.equal({
      changed: ['listener-::-8080/gw-system.aa', 'gateway-proxy'],
      removed: ['listener-::-8080/gw-system.p'],
    });
    expect(decoder.build().snapshot).to.deep.equal(states.snapshot());
  });

  it('contain two versions of an AuthConfig that virtual hosts refer to', () => {
    const { snapshot, ...rest } = states.current();
    const [listener] = snapshot.listeners;
    const [newest] = hostOf({ snapshot }, 'p').authConfigs;
    const older = { ...newest!, spec: { configs: [{ apiKeyAuth: { headerName: 'x-older' } }] } };
    const virtualHosts = listener!.virtualHosts.map((host) =>
      host.name.endsWith('.q') ? { ...host, authConfigs: [older] } : host,
    );
    const given = { ...snapshot, listeners: [{ ...listener!, virtualHosts }] };
    const decoder = createStateDecoder();
    const set = createStateEncoder().encode({ ...rest, snapshot: given });
    expect([...set.types.get(TYPE.authConfig)!.byName.keys()].map((name) => name.replace(/@.*/, '@'))).to.deep.equal([
      'gw-system.keys',
      'gw-system.keys@',
    ]);
    transfer(set, decoder);
    expect(decoder.build().snapshot).to.deep.equal(given);
  });

  it('contain the secrets, the same objects until they change', () => {
    const encoder = createStateEncoder();
    const decoder = createStateDecoder();
    const ref = { name: 's', namespace: 'gw-system' };
    transfer(encoder.encode(states.current()), decoder);
    expect(decoder.secrets.get(ref)).to.equal(undefined);
    decoder.build();
    decoder.accept();
    const before = decoder.secrets.get(ref);
    expect(before).to.deep.equal({ type: 'Opaque', data: { a: 'b25l' } });
    states.source.set('a', service('a', 'changed'));
    transfer(encoder.encode(states.current()), decoder);
    decoder.build();
    decoder.accept();
    expect(decoder.secrets.get(ref)).to.equal(before);
    states.source.set('s', secret('s', 'two'));
    transfer(encoder.encode(states.current()), decoder);
    decoder.build();
    expect(decoder.secrets.get(ref)!.data).to.deep.equal({ a: 'dHdv' });
    expect(decoder.secrets.get({ ...ref, name: 'gone' })).to.equal(undefined);
  });

  it('contain the parts of listeners, which share virtual hosts with their listener', () => {
    const { snapshot, ...rest } = states.current();
    const [listener] = snapshot.listeners;
    const match = { tls: false, serverNames: [], sourceRanges: [], passthroughCiphers: [] };
    const tcp = {
      name: 'tcp',
      destinations: [],
      forwardsServerName: true,
      sslConfigurations: [{ sslConfig: { sslFiles: { tlsCert: '/nowhere' } }, sniDomains: [] }],
      options: {},
    };
    const parts = [
      { name: 'http', match, http: listener! },
      { name: 'tcp', match, tcp },
    ];
    const given = { ...snapshot, listeners: [{ ...listener!, name: 'both', parts }] };
    const encoder = createStateEncoder();
    const decoder = createStateDecoder();
    transfer(encoder.encode({ ...rest, snapshot: given }), decoder);
    const first = decoder.build().snapshot;
    decoder.accept();
    expect(first).to.deep.equal(given);
    const [both] = first.listeners;
    expect(both!.parts![0]!.http!.virtualHosts[0]).to.equal(both!.virtualHosts[0]);
    transfer(encoder.encode({ ...rest, snapshot: given, secrets: new Map() }), decoder);
    expect(decoder.build().snapshot.listeners[0]).to.equal(both);
    decoder.accept();
    const ranged = { ...match, sourceRanges: [{ addressPrefix: '10.0.0.0', prefixLen: 8 }] };
    const moved = [{ ...parts[0]!, match: ranged }, parts[1]!];
    const changed = { ...given, listeners: [{ ...given.listeners[0]!, parts: moved }] };
    transfer(encoder.encode({ ...rest, snapshot: changed }), decoder);
    const [after] = decoder.build().snapshot.listeners;
    expect(after!.parts![0]!.match).to.deep.equal(ranged);
    expect(after!.parts![1]).to.equal(both!.parts![1]);
  });

  it('keep the order of virtual hosts, and follow them to another listener', () => {
    const { snapshot, ...rest } = states.current();
    const [listener] = snapshot.listeners;
    const encoder = createStateEncoder();
    const virtualHosts = listener!.virtualHosts.toReversed();
    for (const name of [listener!.name, 'other']) {
      const given = { ...snapshot, listeners: [{ ...listener!, name, virtualHosts }] };
      const decoder = createStateDecoder();
      transfer(encoder.encode({ ...rest, snapshot: given }), decoder);
      expect(decoder.build().snapshot).to.deep.equal(given);
    }
  });
});

describe('states that cannot be used', () => {
  let states: Awaited<ReturnType<typeof startStates>>;
  beforeEach(async () => {
    states = await startStates({
      a: service('a', 'one'),
      b: service('b', 'two', PROTECTED),
      keys: authConfig('keys'),
      up: upstream('up', 1),
    });
  });
  afterEach(() => states.close());
  const name = 'listener-::-8080/gw-system.a';
  const textOf = (body: object) => {
    const json = Buffer.from(JSON.stringify(body));
    return Buffer.concat([
      Buffer.from([10, ...(json.length < 128 ? [json.length] : [(json.length & 127) | 128, json.length >> 7])]),
      json,
    ]);
  };
  const bodyOf = ({ snapshot }: { snapshot: ReturnType<typeof states.snapshot> }, host: string) =>
    (snapshot.listeners[0]!.virtualHosts.find((each) => each.name === `gw-system.${host}`)?.routes[0]!.action as any)
      ?.body;

  type Decoder = ReturnType<typeof createStateDecoder>;
  const receive = (decoder: Decoder, version: string, value: Buffer): void =>
    decoder.receive({ type: TYPE.virtualHost, name, version, value });

  function start() {
    const decoder = createStateDecoder();
    const encoder = createStateEncoder();
    transfer(encoder.encode(states.current()), decoder);
    decoder.build();
    decoder.accept();
    return { decoder, encoder };
  }

  for (const [what, value, field, message] of [
    ['bytes that are no message', Buffer.from('nonsense'), '', 'the content is not JSON'],
    ['text that is not JSON', Buffer.from([10, 3, 97, 98, 99]), '', 'the content is not JSON'],
    ['a list', Buffer.from([10, 2, 91, 93]), '', 'the content is not an object'],
    ['a missing field', textOf({ name: 'x' }), '', 'virtualService is missing'],
    [
      'a field of another type',
      textOf({ name: 'x', listener: 'l', domains: {} }),
      'domains',
      'must be a list, got an object',
    ],
    [
      'a list with other elements',
      textOf({ name: 'x', listener: 'l', domains: ['a', 1] }),
      'domains[1]',
      'must be text, got a number',
    ],
  ] as const) {
    it(`keep the last version of a virtual host after ${what}, and apply the others`, () => {
      const { decoder, encoder } = start();
      states.source.set('b', service('b', 'changed'));
      transfer(encoder.encode(states.current()), decoder);
      decoder.receive({ type: TYPE.virtualHost, name, version: 'abc', value });
      const state = decoder.build();
      expect(state.rejections).to.deep.equal([{ type: TYPE.virtualHost, resource: name, field, message }]);
      expect([bodyOf(state, 'a'), bodyOf(state, 'b')]).to.deep.equal(['one', 'changed']);
    });
  }

  it('say that other virtual hosts may respond if the domains of a new one are unknown', () => {
    const { decoder } = start();
    const resource = 'listener-::-8080/gw-system.new';
    decoder.receive({ type: TYPE.virtualHost, name: resource, version: '1', value: textOf({ domains: 7 }) });
    const { rejections, snapshot } = decoder.build();
    const effect = 'its domains are unknown: other virtual hosts may respond to their requests';
    expect(rejections.map(({ message }) => message)).to.deep.equal([`must be a list, got a number (${effect})`]);
    expect(snapshot.listeners[0]!.virtualHosts).to.have.length(2);
  });

  it('use the last version of a virtual host that was rejected, with the parts that it had', () => {
    const { decoder, encoder } = start();
    states.source.set('b', service('b', 'changed'));
    states.source.delete('keys');
    transfer(encoder.encode(states.current()), decoder);
    const rejected = {
      type: TYPE.virtualHost,
      resource: 'listener-::-8080/gw-system.b',
      field: 'routes[0]',
      message: 'x',
    };
    expect(bodyOf(decoder.build(), 'b')).to.equal('changed');
    const state = decoder.build([rejected]);
    expect(bodyOf(state, 'b')).to.equal('two');
    expect(
      state.snapshot.listeners[0]!.virtualHosts.find((each) => each.name.endsWith('.b'))!.authConfigs,
    ).to.have.length(1);
    decoder.accept();
    expect(decoder.versions(TYPE.virtualHost)).to.have.all.keys(name, rejected.resource);
  });

  it('reject a virtual host with an option that this version does not know, at any level', () => {
    const encoded = createStateEncoder().encode(states.current());
    const body = JSON.parse(decodeStrings(encoded.types.get(TYPE.virtualHost)!.byName.get(name)!.value, 1)[0]!) as {
      options: object;
      routes: { options: object; action: object }[];
    };
    const future = { timeout: '1s', futureAuth: {} };
    const [route] = body.routes;
    for (const [field, changed] of [
      ['options.futureAuth', { ...body, options: { futureAuth: {} } }],
      ['routes[0].options.futureAuth', { ...body, routes: [{ ...route, options: future }] }],
      [
        'routes[0].action.destinations[0].options.futureAuth',
        {
          ...body,
          routes: [
            {
              ...route,
              action: { type: 'forward', destinations: [{ upstream: 'u', weight: 1, options: { futureAuth: {} } }] },
            },
          ],
        },
      ],
    ] as const) {
      const { decoder } = start();
      const value = encodeStrings([JSON.stringify(changed)]);
      decoder.receive({ type: TYPE.virtualHost, name, version: 'abc', value });
      const state = decoder.build();
      const rejection = { type: TYPE.virtualHost, resource: name, field };
      expect(state.rejections).to.deep.equal([{ ...rejection, message: 'is not known to this version of the proxy' }]);
      expect(bodyOf(state, 'a')).to.equal('one');

      const fresh = createStateDecoder();
      transfer(encoded, fresh);
      fresh.remove(TYPE.virtualHost, name);
      fresh.receive({ type: TYPE.virtualHost, name, version: 'abc', value });
      expect(fresh.build().snapshot.listeners[0]!.virtualHosts[0]!.routes[0]!.action).to.include({
        status: 500,
        body: '',
      });
    }
  });

  it('respond with 500 for a virtual host that lacks a part and has no earlier version', () => {
    const decoder = createStateDecoder();
    const encoded = createStateEncoder().encode(states.current());
    const auth = 'gw-system.keys';
    transfer(encoded, decoder);
    decoder.remove(TYPE.authConfig, auth);
    for (let i = 0; i < 2; i++) {
      const state = decoder.build();
      expect(state.rejections).to.deep.equal([
        {
          type: TYPE.virtualHost,
          resource: 'listener-::-8080/gw-system.b',
          field: 'authConfigs',
          message: `${auth} is missing`,
        },
      ]);
      const { domains, options, routes } = state.snapshot.listeners[0]!.virtualHosts[1]!;
      expect([domains, options]).to.deep.equal([['b.example'], {}]);
      expect(routes.map(({ matchers, action }) => [matchers, action])).to.deep.equal([
        [[{ prefix: '/' }], { type: 'direct', status: 500, body: '' }],
      ]);
      expect(bodyOf(state, 'a')).to.equal('one');
      decoder.accept();
    }
    const { version, value } = encoded.types.get(TYPE.authConfig)!.byName.get(auth)!;
    decoder.receive({ type: TYPE.authConfig, name: auth, version, value });
    const repaired = decoder.build();
    expect(repaired.rejections).to.deep.equal([]);
    expect(bodyOf(repaired, 'b')).to.equal('two');
  });

  it('respond with 500 on the domains of a virtual host that cannot be read and has no earlier version', () => {
    const encoded = createStateEncoder().encode(states.current());
    const { version, value } = encoded.types.get(TYPE.virtualHost)!.byName.get(name)!;
    const body = JSON.parse(decodeStrings(value, 1)[0]!) as { domains: unknown };
    const hostsOf = (changed: object) => {
      const decoder = createStateDecoder();
      transfer(encoded, decoder);
      decoder.remove(TYPE.virtualHost, name);
      receive(decoder, 'abc', Buffer.from(encodeStrings([JSON.stringify({ ...body, ...changed })])));
      const states = [decoder.build()];
      decoder.accept();
      receive(decoder, 'abd', Buffer.from('nonsense'));
      states.push(decoder.build());
      receive(decoder, version, Buffer.from(value));
      states.push(decoder.build());
      return states.map(({ snapshot, rejections }) => {
        const host = snapshot.listeners[0]!.virtualHosts.find((each) => each.name === 'gw-system.a');
        return [rejections.length, host?.domains, host?.routes[0]!.action.type, bodyOf({ snapshot }, 'a')];
      });
    };
    const { domains } = body;
    const replaced = [1, domains, 'direct', ''];
    const repaired = [0, domains, 'direct', 'one'];
    expect(hostsOf({ routes: 'none' })).to.deep.equal([replaced, replaced, repaired]);
    expect(hostsOf({ options: undefined })).to.deep.equal([replaced, replaced, repaired]);
    const partly = [1, ['a.example'], 'direct', ''];
    expect(hostsOf({ domains: ['a.example', 1] })).to.deep.equal([partly, partly, repaired]);
    const lost = [1, undefined, undefined, undefined];
    expect(hostsOf({ domains: [1] })).to.deep.equal([lost, lost, repaired]);
  });

  it('are not complete before everything that the snapshot names has arrived', () => {
    const decoder = createStateDecoder();
    const { types } = createStateEncoder().encode(states.current());
    for (const [type, { byName }] of [...types].toReversed()) {
      for (const { name: resource, version, value } of byName.values()) {
        expect(decoder.isComplete).to.equal(false);
        decoder.receive({ type, name: resource, version, value });
      }
    }
    expect(decoder.isComplete).to.equal(true);
  });

  it('say that secrets are missing, until they are built with them', () => {
    const decoder = createStateDecoder();
    const secrets = new Map([['gw-system/s', { type: 'Opaque', data: {} }]]);
    const { types } = createStateEncoder().encode({ ...states.current(), secrets });
    const receive = (isWanted: (type: string) => boolean): void => {
      for (const [type, { byName }] of types)
        if (isWanted(type))
          for (const { name, version, value } of byName.values()) decoder.receive({ type, name, version, value });
    };
    receive((type) => type !== TYPE.secret);
    expect(decoder.secrets.isPending).to.equal(false);
    decoder.build();
    expect(decoder.secrets.isPending).to.equal(true);
    receive((type) => type === TYPE.secret);
    expect(decoder.secrets.isPending).to.equal(true);
    decoder.build();
    expect(decoder.secrets.isPending).to.equal(false);
    // Parts of another type do not count.
    for (const name of types.get(TYPE.upstream)!.byName.keys()) decoder.remove(TYPE.upstream, name);
    decoder.build();
    expect([decoder.isComplete, decoder.secrets.isPending]).to.deep.equal([false, false]);
  });

  it('reject an upstream without endpoints and a virtual host without its AuthConfig', () => {
    const decoder = createStateDecoder();
    transfer(createStateEncoder().encode(states.current()), decoder);
    decoder.remove(TYPE.endpointSet, 'up_gw-system');
    decoder.remove(TYPE.authConfig, 'gw-system.keys');
    const { snapshot, rejections } = decoder.build();
    expect(rejections.map(({ resource, field }) => [resource, field])).to.have.deep.members([
      ['up_gw-system', 'endpoints'],
      ['listener-::-8080/gw-system.b', 'authConfigs'],
    ]);
    expect(snapshot.upstreams).to.deep.equal([]);
    expect([bodyOf({ snapshot }, 'a'), bodyOf({ snapshot }, 'b')]).to.deep.equal(['one', '']);
  });

  it('keep the last version of what refers to something that is missing', () => {
    const { decoder } = start();
    const before = decoder.build();
    decoder.remove(TYPE.endpointSet, 'up_gw-system');
    decoder.remove(TYPE.authConfig, 'gw-system.keys');
    const { snapshot, rejections } = decoder.build();
    expect(rejections).to.have.length(2);
    expect(snapshot.upstreams).to.deep.equal(before.snapshot.upstreams);
    expect(snapshot.listeners).to.deep.equal(before.snapshot.listeners);
  });

  it('contain a virtual host that was rejected and has no earlier version: its routes return 500', () => {
    const { decoder, encoder } = start();
    states.source.set('c', service('c', 'new'));
    transfer(encoder.encode(states.current()), decoder);
    const resource = 'listener-::-8080/gw-system.c';
    const state = decoder.build([{ type: TYPE.virtualHost, resource, field: '', message: 'x' }]);
    expect(bodyOf(state, 'c')).to.equal('new');
  });

  for (const [what, end] of [
    ['replaced by one that can be read', (decoder: Decoder, valid: Buffer) => receive(decoder, '2', valid)],
    ['removed', (decoder: Decoder) => decoder.remove(TYPE.virtualHost, name)],
  ] as const) {
    it(`have no rejection of a resource that was ${what}`, () => {
      const { decoder } = start();
      const valid = encodeStrings([decoder.resources().find((each) => each.name === name)!.content]);
      receive(decoder, '1', Buffer.from('nonsense'));
      expect(decoder.build().rejections).to.have.length(1);
      end(decoder, valid);
      expect(decoder.build().rejections).to.deep.equal([]);
    });
  }

  it('are forgotten when a connection ends before they are complete', () => {
    const { decoder, encoder } = start();
    states.source.set('a', service('a', 'changed'));
    transfer(encoder.encode(states.current()), decoder);
    decoder.build();
    decoder.discard();
    expect(bodyOf(decoder.build(), 'a')).to.equal('one');
    // The same state arrives again on the next connection.
    const { types } = encoder.encode(states.current());
    const [manifest] = types.get(TYPE.snapshot)!.byName.values();
    decoder.receive({ type: TYPE.snapshot, ...manifest! });
    expect(decoder.isComplete).to.equal(false);
    transfer(encoder.encode(states.current()), decoder);
    expect(decoder.isComplete).to.equal(true);
  });
});
