import type { SecretValue, Secrets, Snapshot } from '@edge-gateway/core';
import { expect } from 'chai';
import { createStateDecoder, createStateEncoder, secretsOf } from '../../src/resources/index.ts';
import { service, startStates, upstream } from '../states.ts';
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
