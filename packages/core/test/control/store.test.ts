import { expect } from 'chai';
import { parseDocuments } from '../../src/parse/parse.ts';
import type { ResourceKey } from '../../src/resource/resource.ts';
import { createStore, secretsOf, type Store } from '../../src/control/store.ts';

const upstream = (name: string, port: number | string = 80): string => `apiVersion: gw.vendor.io/v1
kind: Upstream
metadata: {name: ${name}}
spec: {static: {hosts: [{addr: 127.0.0.1, port: ${port}}]}}
`;
const KEY = 'Upstream/gw-system/a';

describe('createStore', () => {
  let store: Store;
  const put = (texts: Record<string, string | undefined>): string[] => {
    const change = new Map(
      Object.entries(texts).map(([unit, text]) => [unit, text === undefined ? [] : parseDocuments(text, unit)]),
    );
    return [...store.apply(change)].sort();
  };
  const stored = (key = KEY) => store.state.stored.get(key as typeof KEY);
  const codes = (key = KEY) => stored(key)?.issues.map(({ code }) => code);
  const port = (key = KEY) =>
    (stored(key)?.resource?.spec as { static: { hosts: { port: number }[] } } | undefined)?.static.hosts[0]!.port;

  beforeEach(() => (store = createStore()));

  it('counts applied changes, from 1, including an empty first one', () => {
    expect(store.state.revision).to.equal(0);
    put({});
    expect(store.state.revision).to.equal(1);
    put({ 'a.yaml': upstream('a') });
    expect(store.state.revision).to.equal(2);
  });

  it('records observations of several resources as one change', () => {
    put({ 'a.yaml': `${upstream('a')}---\n${upstream('b')}` });
    const { revision } = store.state;
    const observed = { problems: [], notes: ['certificate replaced'] };
    const keys = [KEY, 'Upstream/gw-system/b'] as const;
    expect([...store.observe(keys.map((key) => [key, observed]))]).to.deep.equal(keys);
    expect(store.state.revision).to.equal(revision + 1);
    expect([...store.observe([['Upstream/gw-system/c', undefined]])]).to.deep.equal([]);
    expect(store.state.revision).to.equal(revision + 1);
  });

  it('returns the changed keys', () => {
    expect(put({ 'a.yaml': `${upstream('a')}---\n${upstream('b')}` })).to.deep.equal([KEY, 'Upstream/gw-system/b']);
    expect(put({ 'a.yaml': `${upstream('a')}---\n${upstream('b', 81)}` })).to.deep.equal(['Upstream/gw-system/b']);
    expect(put({ 'a.yaml': undefined })).to.deep.equal([KEY, 'Upstream/gw-system/b']);
    expect(store.state.stored.size).to.equal(0);
  });

  it('treats the same content as no change', () => {
    put({ 'a.yaml': upstream('a'), 'b.yaml': 'x: [' });
    const { state } = store;
    expect(put({ 'a.yaml': upstream('a'), 'b.yaml': 'x: [' })).to.deep.equal([]);
    expect(store.state).to.equal(state);
  });

  it('keeps the spec of a resource that only moved', () => {
    put({ 'a.yaml': upstream('a') });
    const before = stored()!;
    put({ 'a.yaml': `# comment\n${upstream('a')}` });
    expect(stored()!.resource!.origin.line).to.equal(2);
    expect(stored()!.resource!.spec).to.equal(before.resource!.spec);
  });

  it('keeps the document of a resource that was never good, without secret values', () => {
    put({ 'a.yaml': `${upstream('a', 'many')}password: MARKER\n` });
    const { resource, written } = stored()!;
    expect(resource).to.equal(undefined);
    const hosts = [{ addr: '127.0.0.1', port: '<redacted>' }];
    expect(written).to.deep.include({ kind: 'Upstream', spec: { static: { hosts } }, password: '<redacted>' });
    put({ 'a.yaml': upstream('a') });
    put({ 'a.yaml': upstream('a', 'many') });
    expect(stored()).not.to.have.property('written');
  });

  it('keeps the last good version of a rejected resource', () => {
    put({ 'a.yaml': upstream('a', 80) });
    put({ 'a.yaml': upstream('a', 'many') });
    expect(stored()).to.deep.include({ key: KEY, stale: true });
    expect([port(), codes()]).to.deep.equal([80, ['WRONG_TYPE']]);
    put({ 'a.yaml': upstream('a', 'none') });
    expect([port(), stored()!.stale]).to.deep.equal([80, true]);
    put({ 'a.yaml': upstream('a', 81) });
    expect([port(), stored()!.stale, codes()]).to.deep.equal([81, false, []]);
  });

  it('uses nothing of a resource that was never good, or was deleted in between', () => {
    put({ 'a.yaml': upstream('a', 'many') });
    expect(stored()).to.deep.include({ resource: undefined, stale: false });
    put({ 'a.yaml': upstream('a') });
    put({ 'a.yaml': undefined });
    put({ 'a.yaml': upstream('a', 'many') });
    expect(stored()).to.deep.include({ resource: undefined, stale: false });
  });

  it('keeps all resources of a file that becomes unreadable', () => {
    put({ 'a.yaml': `${upstream('a')}---\n${upstream('b')}` });
    for (const broken of ['', '- list', '{', 'a: 1\na: 2']) {
      put({ 'a.yaml': broken });
      expect([port(), port('Upstream/gw-system/b')], broken).to.deep.equal([80, 80]);
      expect([stored()!.stale, stored()!.issues.length], broken).to.deep.equal([true, 1]);
      expect(store.state.unfiled, broken).to.have.length(1);
    }
    put({ 'a.yaml': upstream('b') });
    expect([stored(), port('Upstream/gw-system/b')]).to.deep.equal([undefined, 80]);
    expect(store.state.unfiled).to.deep.equal([]);
  });

  it('keeps nothing of a resource that was never good, beside a last good one in the same file', () => {
    const never = 'Upstream/gw-system/b';
    put({ 'a.yaml': `${upstream('a', 80)}---\n${upstream('b', 'many')}` });
    put({ 'a.yaml': `${upstream('a', 'many')}---\n${upstream('b', 'none')}` });
    expect(stored()).to.deep.include({ stale: true });
    expect([port(), codes()]).to.deep.equal([80, ['WRONG_TYPE']]);
    expect(stored(never)).to.deep.include({ resource: undefined, stale: false });
    expect(codes(never)).to.deep.equal(['WRONG_TYPE']);
    put({ 'a.yaml': 'kind: [' });
    expect([port(), codes()]).to.deep.equal([80, ['YAML_SYNTAX']]);
    expect(stored(never)).to.equal(undefined);
  });

  it('keeps a resource whose kind or name becomes unreadable, and applies its neighbors', () => {
    put({ 'a.yaml': `${upstream('a')}---\n${upstream('b')}` });
    put({ 'a.yaml': `${upstream('a').replace('Upstream', 'Upstraem')}---\n${upstream('b', 81)}` });
    expect([port(), stored()!.stale, codes()]).to.deep.equal([80, true, ['UNKNOWN_KIND']]);
    expect(port('Upstream/gw-system/b')).to.equal(81);
  });

  it('keeps a resource that a broken document of its file may contain', () => {
    put({ 'a.yaml': `${upstream('a')}---\n${upstream('b')}---\n${upstream('c')}` });
    const changed = put({ 'a.yaml': `${upstream('a')}${upstream('b')}---\n${upstream('c', 81)}` });
    expect(changed).to.deep.equal([KEY, 'Upstream/gw-system/b', 'Upstream/gw-system/c']);
    expect([port(), port('Upstream/gw-system/b'), port('Upstream/gw-system/c')]).to.deep.equal([80, 80, 81]);
    const issues = ['Upstream/gw-system/a', 'Upstream/gw-system/b'].map((key) => stored(key)!.issues.at(-1)!);
    const [missing, own] = issues;
    expect(own).to.include({ code: 'DUPLICATE_KEY', name: 'b' });
    expect(missing).to.include({
      code: 'UNREADABLE',
      name: 'a',
      message: 'may be in this document, which cannot be read',
      hint: "fix the document: is a '---' missing?",
    });
    expect(missing!.origin).to.include({ file: 'a.yaml', line: 1 });
    expect(put({ 'a.yaml': upstream('a') })).to.deep.equal([KEY, 'Upstream/gw-system/b', 'Upstream/gw-system/c']);
    expect([...store.state.stored.keys()]).to.deep.equal([KEY]);
  });

  it('removes a resource with its document, or with a file that has only comments', () => {
    put({ 'a.yaml': upstream('a') });
    put({ 'a.yaml': '# nothing\n' });
    expect(stored()).to.equal(undefined);
    expect(store.state.unfiled.map(({ code }) => code)).to.deep.equal(['NO_DOCUMENT']);
  });

  it('assigns a broken document to its resource', () => {
    put({ 'a.yaml': upstream('a') });
    put({ 'a.yaml': `${upstream('a')}  bad: indentation\n` });
    expect([port(), codes()]).to.deep.equal([80, ['YAML_SYNTAX']]);
    expect(store.state.unfiled).to.deep.equal([]);
  });

  describe('with one kind, namespace and name twice', () => {
    it('rejects all of them in any order, and names all positions', () => {
      const results = [
        [{ 'a.yaml': upstream('a', 1), 'b.yaml': upstream('a', 2) }],
        [{ 'b.yaml': upstream('a', 2), 'a.yaml': upstream('a', 1) }],
      ].map((changes) => {
        store = createStore();
        for (const change of changes) put(change as Record<string, string>);
        return stored();
      });
      expect(results[0]).to.deep.equal(results[1]);
      expect(results[0]!.resource).to.equal(undefined);
      expect(results[0]!.issues.map(({ origin, message }) => `${origin.file}: ${message}`)).to.deep.equal([
        'a.yaml: Upstream gw-system/a is also written at b.yaml:1:1',
        'b.yaml: Upstream gw-system/a is also written at a.yaml:1:1',
      ]);
    });

    it('rejects both in one file', () => {
      put({ 'a.yaml': `${upstream('a', 1)}---\n${upstream('a', 2)}` });
      expect(codes()).to.deep.equal(['DUPLICATE_RESOURCE', 'DUPLICATE_RESOURCE']);
      expect(stored()!.issues.map(({ origin }) => origin.line)).to.deep.equal([1, 6]);
    });

    it('keeps the version that was in use', () => {
      put({ 'b.yaml': upstream('a', 2) });
      put({ 'a.yaml': upstream('a', 1) });
      expect([port(), stored()!.stale]).to.deep.equal([2, true]);
      put({ 'b.yaml': upstream('a', 3) });
      expect(port()).to.equal(2);
    });

    it('recovers when one is left', () => {
      put({ 'a.yaml': upstream('a', 1), 'b.yaml': upstream('a', 2), 'c.yaml': upstream('a', 3) });
      put({ 'a.yaml': undefined });
      expect(codes()).to.have.length(2);
      put({ 'c.yaml': upstream('other') });
      expect([port(), stored()!.stale, codes()]).to.deep.equal([2, false, []]);
    });

    it('does not treat a move to another file as a duplicate', () => {
      put({ 'a.yaml': upstream('a', 1) });
      put({ 'b.yaml': upstream('a', 1), 'a.yaml': undefined });
      expect([port(), codes(), stored()!.resource!.origin.file]).to.deep.equal([1, [], 'b.yaml']);
    });

    it('prefers a document over the last good version of an unreadable file', () => {
      put({ 'a.yaml': upstream('a', 1) });
      put({ 'a.yaml': '{', 'b.yaml': upstream('a', 2) });
      expect([port(), codes()]).to.deep.equal([2, []]);
    });
  });

  describe('with rejected Settings', () => {
    const SETTINGS = 'Settings/gw-system/default' as ResourceKey;
    const settings = (spec: string): Record<string, string> => ({
      's.yaml': `{apiVersion: settings.gw.vendor.io/v1, kind: Settings, metadata: {name: default}, spec: ${spec}}`,
    });
    const inUse = () => {
      const { resource, stale, partial } = store.state.stored.get(SETTINGS)!;
      return { spec: resource?.spec, stale, partial };
    };

    it('uses the first ones without the invalid fields', () => {
      put(settings('{extauth: {userIdHeader: x-who, statusOnError: 999, requestTimeout: soon}, unknown: 1}'));
      const extauth = { userIdHeader: 'x-who', failureModeAllow: false };
      expect(inUse()).to.deep.equal({ spec: { extauth }, stale: true, partial: true });
      expect(codes(SETTINGS)).to.have.length(3);
    });

    it('follows changes while none was good', () => {
      put(settings('{extauth: {userIdHeader: x-who, statusOnError: 999}}'));
      put(settings('{extauth: {userIdHeader: x-whom, statusOnError: 999}}'));
      expect(inUse().spec).to.deep.equal({ extauth: { userIdHeader: 'x-whom', failureModeAllow: false } });
    });

    it('returns to the last good ones, not to a part', () => {
      put(settings('{extauth: {userIdHeader: x-who, statusOnError: 999}}'));
      put(settings('{extauth: {userIdHeader: x-who}}'));
      expect(inUse()).to.deep.equal({ spec: { extauth: { userIdHeader: 'x-who' } }, stale: false, partial: undefined });
      put(settings('{extauth: {userIdHeader: x-whom, statusOnError: 999}}'));
      expect(inUse()).to.deep.equal({ spec: { extauth: { userIdHeader: 'x-who' } }, stale: true, partial: undefined });
    });

    it('requires policies if a field of rbac is invalid', () => {
      put(settings('{rbac: {requireRbac: maybe}}'));
      expect(inUse().spec).to.deep.equal({ rbac: { requireRbac: true } });
    });

    it('fails closed if a field of extauth is invalid, and not otherwise', () => {
      put(settings('{extauth: {failureModeAllow: true, statusOnError: 999}}'));
      expect(inUse().spec).to.deep.equal({ extauth: { failureModeAllow: false } });
      put(settings('{extauth: {failureModeAllow: true}, unknown: 1}'));
      expect(inUse().spec).to.deep.equal({ extauth: { failureModeAllow: true } });
    });

    it('uses nothing if the spec is not an object', () => {
      put(settings('7'));
      expect(inUse()).to.deep.equal({ spec: undefined, stale: false, partial: undefined });
    });
  });

  it('returns secrets, the same object while a secret does not change', () => {
    const secret = (value: string): string =>
      `apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ntype: Opaque\nstringData: {key: ${value}}\n`;
    const get = () => secretsOf(store.state.stored).get({ name: 's', namespace: 'gw-system' });
    put({ 's.yaml': secret('one') });
    const first = get()!;
    expect(first).to.deep.equal({ type: 'Opaque', data: { key: Buffer.from('one').toString('base64') } });
    put({ 's.yaml': `# moved\n${secret('one')}` });
    expect(get()).to.equal(first);
    put({ 's.yaml': secret('two') });
    expect(get()).to.not.equal(first);
    put({ 's.yaml': undefined });
    expect(get()).to.equal(undefined);
  });
});
