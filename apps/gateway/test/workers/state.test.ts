import { deserialize } from 'node:v8';
import { expect } from 'chai';
import {
  createControlPlane,
  memorySource,
  type ControlPlaneState,
  type SecretValue,
  type Secrets,
  type Snapshot,
} from '@edge-gateway/core';
import type { StateChange } from '../../src/workers/messages.ts';
import { createStateDecoder } from '../../src/workers/state-decoder.ts';
import { createStateEncoder } from '../../src/workers/state-encoder.ts';
import { direct, upstream } from './resources.ts';

const service = (name: string, body: string): string =>
  direct(body).replace('name: direct', `name: ${name}`).replace("['*']", `['${name}']`);

const SAFE = service('safe', 'safe').replace(
  'spec:',
  'spec:\n  sslConfig: { sslFiles: { tlsCert: /nowhere/tls.crt, tlsKey: /nowhere/tls.key } }',
);
const SECRET = `
apiVersion: v1
kind: Secret
metadata: { name: s }
type: Opaque
stringData: { a: one }
`;

describe('the state of workers', () => {
  const files = new Map<string, SecretValue>();
  const secrets: Secrets = { get: () => undefined, files: ({ tlsCert = '' }) => files.get(tlsCert) };
  let state: ControlPlaneState;
  let source: ReturnType<typeof memorySource>;
  let close: () => Promise<void>;
  beforeEach(async () => {
    files.clear();
    source = memorySource({ a: service('a', 'one'), b: service('b', 'two'), up: upstream(1), s: SECRET, t: SAFE });
    const controlPlane = createControlPlane({ source, certificateFiles: false });
    controlPlane.subscribe((next) => (state = next));
    await controlPlane.start();
    close = () => controlPlane.close();
  });
  afterEach(() => close());

  const current = (): { snapshot: Snapshot; resources: ControlPlaneState['resources'] } => ({
    snapshot: state.snapshots.get('gateway-proxy')!,
    resources: state.resources,
  });
  const hostOf = ({ listeners }: Snapshot, name: string) =>
    listeners.flatMap(({ virtualHosts }) => virtualHosts).find((host) => host.name.endsWith(name))!;

  it('is the same in the worker, with the secrets', () => {
    const decoder = createStateDecoder();
    const { snapshot, revision } = decoder.apply(createStateEncoder(secrets).encode(current()).changeFrom(undefined));
    expect(revision).to.equal(1);
    expect(snapshot).to.deep.equal(current().snapshot);
    const ref = { name: 's', namespace: 'gw-system' };
    expect(decoder.secrets.get(ref)).to.deep.equal(state.secrets.get(ref));
    expect(decoder.secrets.get({ name: 'gone', namespace: 'gw-system' })).to.equal(undefined);
  });

  it('keeps the identity of unchanged parts, and contains only those that changed', () => {
    const encoder = createStateEncoder(secrets);
    const decoder = createStateDecoder();
    const first = encoder.encode(current());
    const before = decoder.apply(first.changeFrom(undefined)).snapshot;
    source.set('a', service('a', 'changed'));
    const second = encoder.encode(current());
    const change = second.changeFrom(first);
    const { parts, removed } = deserialize(change) as StateChange;
    // The virtual host, and its listener, which lists it.
    const { name } = current().snapshot.listeners.find(({ ssl }) => !ssl)!;
    expect(parts.map(({ body }) => (body as { name: string }).name)).to.deep.equal(['gw-system.a', name]);
    expect(removed).to.have.length(2);
    const after = decoder.apply(change).snapshot;
    expect(after).to.deep.equal(current().snapshot);
    expect(hostOf(after, '.b')).to.equal(hostOf(before, '.b'));
    expect(hostOf(after, '.a')).to.not.equal(hostOf(before, '.a'));
    expect(after.upstreams[0]).to.equal(before.upstreams[0]);
    expect(after.settings).to.equal(before.settings);
    const [was, is] = [before, after].map(({ listeners }) => listeners.find(({ ssl }) => !ssl)!);
    expect([is!.options, is!.httpOptions, is!.routeOptions]).to.deep.equal([
      was!.options,
      was!.httpOptions,
      was!.routeOptions,
    ]);
    expect(is!.httpOptions).to.equal(was!.httpOptions);
  });

  it('skips states: a worker gets the difference to the one that it has', () => {
    const encoder = createStateEncoder(secrets);
    const decoder = createStateDecoder();
    const first = encoder.encode(current());
    decoder.apply(first.changeFrom(undefined));
    for (const body of ['x', 'y', 'z']) {
      source.set('a', service('a', body));
      encoder.encode(current());
    }
    source.delete('b');
    const last = encoder.encode(current());
    const { snapshot } = decoder.apply(last.changeFrom(first));
    expect(snapshot).to.deep.equal(current().snapshot);
    expect(hostOf(snapshot, '.b')).to.equal(undefined);
    const fresh = createStateDecoder();
    expect(fresh.apply(last.changeFrom(undefined)).snapshot).to.deep.equal(snapshot);
  });

  it('contains the certificate files of the snapshot, the same objects until they change', () => {
    const encoder = createStateEncoder(secrets);
    const decoder = createStateDecoder();
    const reference = { tlsCert: '/nowhere/tls.crt', tlsKey: '/nowhere/tls.key' };
    const content: SecretValue = { type: 'kubernetes.io/tls', data: { 'tls.crt': 'YQ==', 'tls.key': 'Yg==' } };
    const first = encoder.encode(current());
    decoder.apply(first.changeFrom(undefined));
    expect(decoder.secrets.files!(reference)).to.equal(undefined);
    files.set(reference.tlsCert, content);
    const second = encoder.encode(current());
    decoder.apply(second.changeFrom(first));
    const known = decoder.secrets.files!(reference);
    expect(known).to.deep.equal(content);
    source.set('a', service('a', 'changed'));
    const third = encoder.encode(current());
    decoder.apply(third.changeFrom(second));
    expect(decoder.secrets.files!(reference)).to.equal(known);
    files.set(reference.tlsCert, { ...content });
    decoder.apply(encoder.encode(current()).changeFrom(third));
    expect(decoder.secrets.files!(reference)).to.not.equal(known);
  });

  it('contains the parts of listeners, which share virtual hosts and certificates with their listener', () => {
    const encoder = createStateEncoder(secrets);
    const decoder = createStateDecoder();
    const { snapshot, resources } = current();
    const listener = snapshot.listeners.find(({ ssl }) => !ssl)!;
    const match = { tls: false, serverNames: [], sourceRanges: [], passthroughCiphers: [] };
    const sslFiles = { tlsCert: '/nowhere/tcp.crt', tlsKey: '/nowhere/tcp.key' };
    files.set(sslFiles.tlsCert, { type: 'kubernetes.io/tls', data: {} });
    const tcp = {
      name: 'tcp',
      destinations: [],
      forwardsServerName: true,
      sslConfigurations: [{ sslConfig: { sslFiles }, sniDomains: [] }],
      options: {},
    };
    const parts = [
      { name: 'http', match, http: listener },
      { name: 'tcp', match, tcp },
    ];
    const options = { ...listener.options, socketOptions: [{ level: 1 }] } as never;
    const given: Snapshot = { ...snapshot, listeners: [{ ...listener, name: 'both', options, parts }] };
    const received = decoder.apply(encoder.encode({ snapshot: given, resources }).changeFrom(undefined)).snapshot;
    expect(received).to.deep.equal(given);
    const [both] = received.listeners;
    expect(both!.parts![0]!.http!.virtualHosts[0]).to.equal(both!.virtualHosts[0]);
    expect(decoder.secrets.files!(sslFiles)).to.deep.equal({ type: 'kubernetes.io/tls', data: {} });
  });
});
