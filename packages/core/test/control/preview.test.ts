import { expect } from 'chai';
import { createControlPlane, type ControlPlane } from '../../src/control/control-plane.ts';
import { silentLoggers } from '../../src/observe/logger.ts';
import { formatIssue } from '../../src/resource/problem.ts';
import { memorySource, type MemorySource } from '../../src/source/memory.ts';
import { writtenObjects } from '../../src/source/written-object.ts';
import type { SourceChange } from '../../src/source/source.ts';
import { upstream } from './upstream.ts';

const service = (name: string, upstreams: readonly string[], domain = `${name}.example.com`) => ({
  apiVersion: 'gateway.vendor.io/v1',
  kind: 'VirtualService',
  metadata: { name },
  spec: {
    virtualHost: {
      domains: [domain],
      routes: upstreams.map((one) => ({
        matchers: [{ prefix: `/${one}` }],
        routeAction: { single: { upstream: { name: one, namespace: 'gw-system' } } },
      })),
    },
  },
});
const settings = (spec: object) => ({
  apiVersion: 'settings.gw.vendor.io/v1',
  kind: 'Settings',
  metadata: { name: 'default' },
  spec,
});

describe('a preview of a change', () => {
  let source: MemorySource;
  let controlPlane: ControlPlane;

  async function start(units: Readonly<Record<string, object>>): Promise<void> {
    source = memorySource(units);
    controlPlane = createControlPlane({ source, log: silentLoggers });
    await controlPlane.start();
  }
  afterEach(() => controlPlane.close());

  /** The change that `source.set` and `source.delete` make. */
  function changeOf(units: Readonly<Record<string, object | undefined>>): SourceChange {
    return new Map(
      Object.entries(units).map(([name, resource]) => {
        const unit = `memory:${name}`;
        const origin = { file: unit, line: 1, column: 1 };
        return [unit, resource ? writtenObjects({ unit, origin }, resource) : []] as const;
      }),
    );
  }
  const messages = async (units: Readonly<Record<string, object | undefined>>) => {
    const { added, kept } = (await controlPlane.preview(changeOf(units)))!;
    return { added: added.map(formatIssue), kept: kept.map(formatIssue) };
  };

  const UNITS = { a: upstream('a'), b: upstream('b'), web: service('web', ['a', 'gone']) };
  const CHANGES: Readonly<Record<string, Readonly<Record<string, object | undefined>>>> = {
    'a valid resource': { c: upstream('c') },
    'a resource with an invalid field': { c: upstream('c', 'many') },
    'an invalid version of a good resource': { a: upstream('a', 'many') },
    'a domain of another virtual service': { other: service('other', ['b'], 'web.example.com') },
    'a missing upstream that appears': { gone: upstream('gone') },
    'a deleted upstream in use': { a: undefined },
    'a deleted upstream out of use': { b: undefined },
    'a deleted virtual service': { web: undefined },
    'a route before another with a problem': { web: service('web', ['b', 'a', 'gone']) },
    'another missing upstream': { web: service('web', ['a', 'gone', 'lost']) },
    'a document without a name': { c: { kind: 'Upstream', spec: {} } },
    'Settings that select other namespaces': { settings: settings({ watchNamespaces: ['shop'] }) },
    'Settings that replace invalid routes': {
      settings: settings({ gw: { invalidConfigPolicy: { replaceInvalidRoutes: true } } }),
    },
    'several changes': { a: undefined, web: service('web', ['b']), c: upstream('c', 'many') },
  };
  for (const [what, change] of Object.entries(CHANGES)) {
    it(`finds what the change itself would cause: ${what}`, async () => {
      await start(UNITS);
      const before = controlPlane.state!;
      const issuesBefore = before.issues.map(formatIssue);
      const { added } = await messages(change);
      expect((await messages(change)).added, 'twice').to.deep.equal(added);
      expect(controlPlane.state).to.equal(before);
      for (const [name, resource] of Object.entries(change)) {
        if (resource) source.set(name, resource);
        else source.delete(name);
      }
      const after = controlPlane.state!.issues.map(formatIssue);
      for (const issue of added) expect(after).to.include(issue);
      const withoutIndex = (text: string): string => text.replaceAll(/\[\d+\]|<unnamed-\d+>/g, '');
      const known = new Set([...issuesBefore, ...added].map(withoutIndex));
      expect(after.filter((issue) => !known.has(withoutIndex(issue)))).to.deep.equal([]);
    });

    it(`leaves the state of the control plane as it is: ${what}`, async () => {
      await start(UNITS);
      const [one] = controlPlane.state!.snapshots.values();
      await controlPlane.preview(changeOf(change));
      // The next change is applied to the same state: what it does not touch stays the same objects.
      source.set('unrelated', upstream('unrelated'));
      const [two] = controlPlane.state!.snapshots.values();
      expect(two!.listeners).to.equal(one!.listeners);
      expect(two!.upstreams.filter(({ name }) => !name.startsWith('unrelated'))).to.deep.equal(one!.upstreams);
      expect(controlPlane.state!.revision).to.equal(2);
    });
  }

  it('separates problems that a changed resource keeps from those that are new', async () => {
    await start(UNITS);
    const { added, kept } = await messages({ web: service('web', ['lost', 'gone']) });
    expect(added).to.have.length(1);
    expect(added[0]).to.contain('gw-system.lost');
    expect(kept).to.have.length(1);
    expect(kept[0]).to.contain('gw-system.gone');
  });

  it('is not available before there is a state', async () => {
    source = memorySource({});
    controlPlane = createControlPlane({ source, log: silentLoggers });
    expect(await controlPlane.preview(new Map())).to.equal(undefined);
  });
});
