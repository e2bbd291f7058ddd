import type { SecretValue, Secrets, Snapshot } from '@edge-gateway/core';
import { expect } from 'chai';
import { createStateDecoder, createStateEncoder, secretsOf } from '../../src/resources/index.ts';
import { secret, service, startStates, upstream } from '../states.ts';
import { transfer } from './round-trip.ts';

describe('certificate files of a state', () => {
  const files = new Map<string, SecretValue>();
  const secrets: Secrets = {
    get: () => undefined,
    files: ({ tlsCert = '' }) => files.get(tlsCert),
    sds: ({ certificatesSecretName = '' }) => files.get(certificatesSecretName),
  };
  let states: Awaited<ReturnType<typeof startStates>>;
  beforeEach(async () => {
    files.clear();
    states = await startStates({
      a: service('a', 'one'),
      t: service('t', 'two').replace(
        'spec:',
        'spec:\n  sslConfig: { sslFiles: { tlsCert: /nowhere/tls.crt, tlsKey: /nowhere/tls.key } }',
      ),
      up: upstream('up', 1),
    });
  });
  afterEach(() => states.close());
  const current = (snapshot: Snapshot = states.snapshot()) => ({
    ...states.current(),
    snapshot,
    secrets: secretsOf(snapshot, states.resources(), secrets),
  });

  it('are part of it, as the same objects until they change', () => {
    const encoder = createStateEncoder();
    const decoder = createStateDecoder();
    const pass = () => {
      transfer(encoder.encode(current()), decoder);
      decoder.build();
      decoder.accept();
    };
    const reference = { tlsCert: '/nowhere/tls.crt', tlsKey: '/nowhere/tls.key' };
    const content: SecretValue = { type: 'kubernetes.io/tls', data: { 'tls.crt': 'YQ==', 'tls.key': 'Yg==' } };
    pass();
    expect(decoder.secrets.files!(reference)).to.equal(undefined);
    files.set(reference.tlsCert, content);
    pass();
    const known = decoder.secrets.files!(reference);
    expect(known).to.deep.equal(content);
    states.source.set('a', service('a', 'changed'));
    pass();
    expect(decoder.secrets.files!(reference)).to.equal(known);
    files.set(reference.tlsCert, { ...content, data: { ...content.data, 'ca.crt': 'Yw==' } });
    pass();
    expect(decoder.secrets.files!(reference)!.data).to.have.property('ca.crt', 'Yw==');
  });

  it('include those of parts of listeners, of TCP hosts, and discovered ones', () => {
    const snapshot = states.snapshot();
    const listener = snapshot.listeners.find(({ ssl }) => ssl)!;
    const match = { tls: true, serverNames: [], sourceRanges: [], passthroughCiphers: [] };
    const sds = { certificatesSecretName: 'discovered' };
    const tls = (sslConfig: object) => [{ sslConfig, sniDomains: [] }];
    const tcp = {
      name: 'tcp',
      destinations: [],
      forwardsServerName: true,
      sslConfigurations: tls({ sslFiles: { tlsCert: '/nowhere/tcp.crt' } }),
      options: {},
    };
    const parts = [
      { name: 'http', match, http: { ...listener, sslConfigurations: tls({ sds }) } },
      { name: 'tcp', match, tcp },
    ];
    const dynamicForwardProxy = {
      sslConfig: { sslFiles: { rootCa: '/nowhere/ca.crt', tlsCert: '/nowhere/proxy.crt' } },
    };
    const httpOptions = { ...listener.httpOptions, dynamicForwardProxy };
    const given = { ...snapshot, listeners: [{ ...listener, name: 'both', httpOptions, parts }] } as Snapshot;
    files.set('/nowhere/proxy.crt', { type: 'kubernetes.io/tls', data: { b: '' } });
    files.set('/nowhere/tcp.crt', { type: 'kubernetes.io/tls', data: {} });
    files.set('discovered', { type: 'kubernetes.io/tls', data: { a: '' } });
    const decoder = createStateDecoder();
    transfer(createStateEncoder().encode(current(given)), decoder);
    expect(decoder.build().snapshot).to.deep.equal(given);
    expect(decoder.secrets.files!({ tlsCert: '/nowhere/tcp.crt' })!.data).to.deep.equal({});
    const { sslFiles } = dynamicForwardProxy.sslConfig;
    expect(decoder.secrets.files!(sslFiles)!.data).to.deep.equal({ b: '' });
    expect(decoder.secrets.sds!(sds as never)!.data).to.deep.equal({ a: '' });
  });
});

describe('the secrets of a proxy', () => {
  const header = (name: string) =>
    `{ headerManipulation: { requestHeadersToAdd: [{ headerSecretRef: { name: ${name}, namespace: gw-system } }] } }`;
  const names = (states: Awaited<ReturnType<typeof startStates>>) =>
    [...secretsOf(states.snapshot(), states.resources(), { get: () => undefined }).keys()].sort();

  it('are those that its resources refer to, as references come and go, and the signing key', async () => {
    const states = await startStates({
      a: service('a', 'one'),
      one: secret('one', 'x'),
      two: secret('two', 'x'),
      key: secret('extauth-signing-key', 'x'),
    });
    try {
      expect(names(states)).to.deep.equal(['gw-system/extauth-signing-key']);
      states.source.set('a', service('a', 'one', header('one')));
      expect(names(states)).to.deep.equal(['gw-system/extauth-signing-key', 'gw-system/one']);
      states.source.set('a', service('a', 'one', header('two')));
      expect(names(states)).to.deep.equal(['gw-system/extauth-signing-key', 'gw-system/two']);
      states.source.delete('a');
      expect(names(states)).to.deep.equal(['gw-system/extauth-signing-key']);
    } finally {
      await states.close();
    }
  });

  it('include those at any depth: of upstreams, TLS, AuthConfigs, listeners and their parts', () => {
    const ref = (name: string) => ({ name, namespace: 'n' });
    const host = {
      name: 'h',
      options: {},
      routes: [{ options: { o: [{ headerSecretRef: { name: 'default' } }] } }],
      authConfigs: [{ spec: { configs: [{ a: { apiKeySecretRefs: [ref('k1'), ref('k2')] } }] } }],
    };
    const listener = (inner: object) => ({
      name: 'l',
      gateway: ref('gateway'),
      bindPort: 1,
      httpOptions: {},
      sslConfigurations: [{ sslConfig: { secretRef: ref('tls') } }],
      virtualHosts: [host],
      ...inner,
    });
    const snapshot = {
      listeners: [
        listener({
          parts: [
            {
              tcp: { sslConfigurations: [{ secretRef: ref('tcp') }] },
              http: listener({ httpOptions: { x: { keyRef: ref('part') } } }),
            },
          ],
        }),
      ],
      upstreams: [{ name: 'other', spec: { sslConfig: { secretRef: ref('up') }, ref: ref('plain') } }],
      settings: { extauth: { signingKeyRef: ref('settings') } },
    };
    const wanted = ['default', 'k1', 'k2', 'part', 'settings', 'tcp', 'tls', 'up'];
    const resources = new Map(
      [...wanted, 'plain', 'other'].flatMap((name) =>
        ['n', 'gw-system'].map((namespace) => [
          `Secret/${namespace}/${name}`,
          { kind: 'Secret', metadata: { name, namespace }, spec: {} },
        ]),
      ),
    );
    const found = secretsOf(snapshot as never, resources as never, { get: () => undefined });
    expect([...found.keys()].map((key) => key.split('/')[1]).sort()).to.deep.equal(wanted);
    expect(found.has('gw-system/default')).to.equal(true);
  });
});
