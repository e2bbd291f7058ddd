import { expect } from 'chai';
import { createStateDecoder, createStateEncoder, TYPE, type ResourceSet } from '../../src/resources/index.ts';
import { decodeStrings, encodeStrings } from '../../src/protocol/wire.ts';
import { authConfig, secret, service, startStates, upstream } from '../states.ts';
import { transfer } from './round-trip.ts';

type Json = any;

const LISTENER = 'listener-::-8080';
const HOST = `${LISTENER}/gw-system.a`;
const PROTECTED =
  '{ extauth: { configRef: { name: keys, namespace: gw-system } }, headerManipulation: { requestHeadersToRemove: [x] } }';

const UNKNOWN = 'is not known to this version of the proxy';
const REFUSED = 'is a security field that this version of the proxy does not support';

/** A change of the content of one resource, and the field and the problem that a proxy names. */
const DAMAGES: readonly (readonly [
  what: string,
  type: string,
  name: string,
  change: (body: Json) => void,
  field: string,
  message: string,
])[] = [
  ['an unknown field beside its options', TYPE.virtualHost, HOST, (b) => (b.guard = {}), 'guard', UNKNOWN],
  [
    'an unknown field within an option',
    TYPE.virtualHost,
    HOST,
    (b) => (b.options.extauth.unless = []),
    'options.extauth.unless',
    UNKNOWN,
  ],
  [
    'an option of a route that is a text instead of a block',
    TYPE.virtualHost,
    HOST,
    (b) => (b.routes[0].options = { rbac: 'all' }),
    'routes[0].options.rbac',
    'must be an object, got text',
  ],
  [
    'a policy that is switched off by null',
    TYPE.virtualHost,
    HOST,
    (b) => (b.options.extauth = null),
    'options.extauth',
    'must be an object, got empty (leave it out, or give it a value)',
  ],
  [
    'a security field without support',
    TYPE.virtualHost,
    HOST,
    (b) => (b.options.waf = { coreRuleSet: {} }),
    'options.waf',
    REFUSED,
  ],
  [
    'a duration that is none',
    TYPE.virtualHost,
    HOST,
    (b) => (b.routes[0].options = { timeout: 'soon' }),
    'routes[0].options.timeout',
    '"soon" is not a duration',
  ],
  [
    'an expression that is not RE2',
    TYPE.virtualHost,
    HOST,
    (b) => (b.routes[0].matchers = [{ regex: '(?=a)' }]),
    'routes[0].matchers[0].regex',
    'not a valid RE2 expression',
  ],
  [
    'a matcher without a path',
    TYPE.virtualHost,
    HOST,
    (b) => (b.routes[0].matchers = [{}]),
    'routes[0].matchers[0]',
    'no path specifier provided',
  ],
  [
    'two options that exclude each other',
    TYPE.virtualHost,
    HOST,
    (b) => (b.options = { jwt: { providers: {} }, jwtStaged: {} }),
    'options.jwtStaged',
    'jwtStaged cannot be set together with jwt (only one of jwt, jwtStaged)',
  ],
  [
    'a status outside HTTP',
    TYPE.virtualHost,
    HOST,
    (b) => (b.routes[0].action.status = 99),
    'routes[0].action.status',
    'must be at least 100 and at most 599, got 99',
  ],
  [
    'an unknown action',
    TYPE.virtualHost,
    HOST,
    (b) => (b.routes[0].action = { type: 'tunnel' }),
    'routes[0].action.type',
    'tunnel is not allowed (one of forward, redirect, direct, graphql, replacement)',
  ],
  [
    'an action without its destinations',
    TYPE.virtualHost,
    HOST,
    (b) => (b.routes[0].action = { type: 'forward' }),
    'routes[0].action',
    'destinations is missing',
  ],
  [
    'a key that sets a prototype',
    TYPE.virtualHost,
    HOST,
    (b) => (b.options.extensions = JSON.parse('{"a":{"__proto__":{}}}')),
    'options.extensions.a.__proto__',
    'cannot be a key',
  ],
  [
    'an auth step of another version',
    TYPE.authConfig,
    'gw-system.keys',
    (b) => (b.spec.configs[0] = { faceAuth: {} }),
    'spec.configs[0].faceAuth',
    UNKNOWN,
  ],
  [
    'no auth step',
    TYPE.authConfig,
    'gw-system.keys',
    (b) => (b.spec.configs = []),
    'spec.configs',
    'an auth config needs at least one step',
  ],
  [
    'an unknown field of an upstream',
    TYPE.upstream,
    'up_gw-system',
    (b) => (b.spec.sslPinning = {}),
    'spec.sslPinning',
    UNKNOWN,
  ],
  [
    'a port out of range',
    TYPE.endpointSet,
    'up_gw-system',
    (b) => (b.endpoints[0].port = 70_000),
    'endpoints[0].port',
    'must be at least 0 and at most 65535, got 70000',
  ],
  [
    'a fraction as a weight',
    TYPE.endpointSet,
    'up_gw-system',
    (b) => (b.endpoints[0].weight = 0.5),
    'endpoints[0].weight',
    'must be a whole number, got a fraction',
  ],
  [
    'an unknown option of a listener',
    TYPE.listener,
    LISTENER,
    (b) => (b.httpOptions.clientCheck = {}),
    'httpOptions.clientCheck',
    UNKNOWN,
  ],
  [
    'a text as a port of a listener',
    TYPE.listener,
    LISTENER,
    (b) => (b.bindPort = '8080'),
    'bindPort',
    'must be a whole number, got text',
  ],
  [
    'an unknown field of the Settings',
    TYPE.settings,
    'settings',
    (b) => (b.requireMtls = true),
    'requireMtls',
    UNKNOWN,
  ],
  [
    'a secret whose value is no text',
    TYPE.secret,
    'gw-system/s',
    (b) => (b.data.a = { inner: 'hidden' }),
    'data.a',
    'must be text, got an object',
  ],
];

describe('resources with content that this version cannot serve', () => {
  let states: Awaited<ReturnType<typeof startStates>>;
  let valid: ResourceSet;
  before(async () => {
    states = await startStates({
      a: service('a', 'protected', PROTECTED),
      b: service('b', 'other'),
      keys: authConfig('keys'),
      up: upstream('up', 1),
      s: secret('s', 'one'),
    });
    valid = createStateEncoder().encode(states.current());
  });
  after(() => states.close());

  const damaged = (type: string, name: string, change: (body: Json) => void) => {
    const body = JSON.parse(decodeStrings(valid.types.get(type)!.byName.get(name)!.value, 1)[0]!);
    change(body);
    return { type, name, version: 'abc', value: encodeStrings([JSON.stringify(body)]) };
  };
  const hostOf = ({ snapshot }: { snapshot: ReturnType<typeof states.snapshot> }, name: string): Json =>
    snapshot.listeners[0]?.virtualHosts.find((each) => each.name === `gw-system.${name}`);

  for (const [what, type, name, change, field, message] of DAMAGES) {
    it(`are rejected with their field, and keep their last version: ${what}`, () => {
      const decoder = createStateDecoder();
      transfer(valid, decoder);
      const before = decoder.build();
      decoder.accept();
      decoder.receive(damaged(type, name, change));
      const { snapshot, rejections } = decoder.build();
      expect(rejections.map(({ type: of, resource }) => [of, resource])).to.deep.equal([[type, name]]);
      expect(rejections[0]!.field).to.equal(field);
      expect(rejections[0]!.message).to.contain(message).and.not.contain('hidden');
      expect(snapshot.listeners).to.equal(before.snapshot.listeners);
      expect(snapshot.upstreams).to.equal(before.snapshot.upstreams);
      expect(snapshot.settings).to.equal(before.snapshot.settings);
      decoder.accept();
      expect(decoder.versions(type)[name]).to.equal(valid.types.get(type)!.byName.get(name)!.version);
    });

    it(`never lead to an open route at the first start: ${what}`, () => {
      const decoder = createStateDecoder();
      transfer(valid, decoder);
      decoder.remove(type, name);
      decoder.receive(damaged(type, name, change));
      for (const state of [decoder.build(), (decoder.accept(), decoder.build())]) {
        expect(state.rejections).to.not.be.empty;
        const isOpen = hostOf(state, 'a')?.routes.some(({ action: { body } }: Json) => body === 'protected') ?? false;
        const isProtected = hostOf(state, 'a')?.options.extauth !== undefined;
        if (isOpen) expect(isProtected && hostOf(state, 'a').authConfigs.length).to.equal(1);
        if (type === TYPE.virtualHost || type === TYPE.authConfig) {
          expect(hostOf(state, 'a').routes[0].action).to.deep.equal({ type: 'direct', status: 500, body: '' });
          expect(hostOf(state, 'b').routes[0].action.body).to.equal('other');
        }
        if (type === TYPE.settings) expect(hostOf(state, 'b').routes[0].action.status).to.equal(500);
        if (type === TYPE.listener) expect(state.snapshot.listeners).to.deep.equal([]);
        if (type === TYPE.upstream || type === TYPE.endpointSet) expect(state.snapshot.upstreams).to.deep.equal([]);
      }
    });
  }

  it('are announced to a control plane without their version, so that it sends them again', () => {
    const decoder = createStateDecoder();
    transfer(valid, decoder);
    decoder.remove(TYPE.virtualHost, HOST);
    decoder.receive(damaged(TYPE.virtualHost, HOST, (body) => (body.guard = {})));
    decoder.build();
    decoder.accept();
    expect(decoder.versions(TYPE.virtualHost)[HOST]).to.equal('');
    decoder.discard();
    const { changed } = transfer(valid, decoder);
    expect(changed).to.deep.equal([HOST]);
    expect(decoder.isComplete).to.equal(true);
    expect(decoder.build().rejections).to.deep.equal([]);
  });

  it('are rejected again in each later state', () => {
    const decoder = createStateDecoder();
    transfer(valid, decoder);
    decoder.remove(TYPE.endpointSet, 'up_gw-system');
    decoder.remove(TYPE.authConfig, 'gw-system.keys');
    const { rejections } = decoder.build();
    expect(rejections.map(({ resource }) => resource)).to.have.members([HOST, 'up_gw-system']);
    decoder.accept();
    expect(decoder.build().rejections).to.deep.equal(rejections);
  });

  it('are named if the list of all resources is among them, which keeps the state incomplete', () => {
    const decoder = createStateDecoder();
    transfer(valid, decoder);
    decoder.build();
    decoder.accept();
    expect(decoder.unusable(TYPE.snapshot)).to.deep.equal([]);
    decoder.receive(damaged(TYPE.snapshot, 'gateway-proxy', (body) => (body.order = [])));
    const rejection = { type: TYPE.snapshot, resource: 'gateway-proxy', field: 'order', message: UNKNOWN };
    expect(decoder.unusable(TYPE.snapshot)).to.deep.equal([rejection]);
  });

  it('are not checked again by the workers of a proxy', () => {
    const decoder = createStateDecoder({ isTrusted: true });
    transfer(valid, decoder);
    decoder.receive(damaged(TYPE.endpointSet, 'up_gw-system', (body) => (body.endpoints[0].port = 70_000)));
    expect(decoder.build().rejections).to.deep.equal([]);
  });
});
