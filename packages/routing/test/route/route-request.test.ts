import { createContext, DEFAULT_SNAPSHOT_SETTINGS, type Listener } from '@edge-gateway/core';
import { expect } from 'chai';
import { compileVirtualHost } from '../../src/route/compile/virtual-host.ts';
import { createDomainIndex } from '../../src/route/match/domain.ts';
import { compileManagerSettings } from '../../src/route/options/manager-settings.ts';
import { routeRequest, type RouteDecision } from '../../src/route/route-request.ts';
import { recordOf } from '../records.ts';
import { directOf, hostOf } from '../snapshots.ts';

interface Setting {
  readonly written?: NonNullable<Listener['httpOptions']['httpConnectionManagerSettings']>;
  readonly embedded?: boolean;
  readonly failed?: string;
}

/** Decides on a request with one host, `a.example`, that has one route on `/x`. */
function decide(target: string, host: string, { written = {}, embedded = false, failed }: Setting = {}): RouteDecision {
  const settings = compileManagerSettings({ httpConnectionManagerSettings: written });
  const compiled = compileVirtualHost(hostOf([directOf('x', { matchers: [{ prefix: '/x' }] })]), {
    concerns: [],
    actions: [],
    context: createContext(),
    settings,
    shared: DEFAULT_SNAPSHOT_SETTINGS,
    mostSpecificWins: false,
    listenerOptions: {},
  });
  const findHost = createDomainIndex([{ domain: 'a.example', value: compiled }]);
  const connection = { ...recordOf().connection, tls: false, clientVerified: false };
  const req = { method: 'GET', url: target, rawHeaders: ['Host', host] };
  return routeRequest(
    { req, connection, startedAt: 0 },
    { settings, failed, findHost },
    { embedded, newRequestId: () => 'id' },
  );
}

describe('the decision on a request', () => {
  it('is the route of the host that matches the path', () => {
    const { host, entry, rejected, redirect, head } = decide('/x/y?z=1', 'a.example');
    expect(host!.domain).to.equal('a.example');
    expect(entry!.route.source.name).to.equal('gw-system.host-route-0');
    expect([rejected, redirect]).to.deep.equal([undefined, undefined]);
    expect(head).to.include({ path: '/x/y?z=1', pathname: '/x/y' });
  });

  it('has no route without a match, and no host without a domain', () => {
    expect(decide('/other', 'a.example')).to.include({ entry: undefined, rejected: undefined });
    expect(decide('/x', 'b.example')).to.include({ host: undefined, entry: undefined, rejected: undefined });
  });

  it('rejects an absolute target in a server of the user, whose handlers compare paths', () => {
    const { entry, rejected } = decide('http://a.example/x', 'a.example', { embedded: true });
    expect([entry, rejected]).to.deep.equal([undefined, 'ERR_ROUTING_BAD_TARGET']);
  });

  for (const [target, host] of [
    ['http://a.example/x', 'a.example'],
    ['http://A.Example/x', 'a.example'],
    ['http://a.example/x', 'A.Example'],
    ['HTTP://A.EXAMPLE/x', 'a.Example'],
  ] as const) {
    it(`accepts the absolute target ${target} with Host: ${host}`, () => {
      const { entry, rejected, head } = decide(target, host);
      expect(rejected).to.equal(undefined);
      expect(entry?.route.source.name).to.equal('gw-system.host-route-0');
      expect(head.path).to.equal('/x');
    });
  }

  it('accepts an absolute target with a port if ports are removed from the host', () => {
    const target = 'http://a.example:8080/x';
    const { entry, head } = decide(target, 'a.example:8080', { written: { stripAnyHostPort: true } });
    expect(entry).not.to.equal(undefined);
    expect(head.path).to.equal('/x');
  });

  for (const target of ['http://b.example/x', 'a.example:443', '*', 'x']) {
    it(`rejects the target ${target} with another host, or without a path`, () => {
      const { rejected, entry, redirect } = decide(target, 'a.example');
      expect(rejected).to.equal('ERR_ROUTING_BAD_TARGET');
      expect([entry, redirect]).to.deep.equal([undefined, undefined]);
    });
  }

  it('is a redirect to the canonical path if configured', () => {
    const written = { pathWithEscapedSlashesAction: 'UNESCAPE_AND_REDIRECT' } as const;
    const { redirect, entry, rejected } = decide('/x%2fy?z=1', 'a.example', { written });
    expect(redirect).to.deep.equal({ status: 307, location: '/x/y?z=1' });
    expect([entry, rejected]).to.deep.equal([undefined, undefined]);
  });

  it('rejects a path that is not canonical only in a server of the user', () => {
    expect(decide('/%78', 'a.example').entry).not.to.equal(undefined);
    const { rejected, entry } = decide('/%78', 'a.example', { embedded: true });
    expect(rejected).to.equal('ERR_ROUTING_NOT_CANONICAL');
    expect(entry).to.equal(undefined);
  });

  it('rejects every request if the settings of the listener are invalid', () => {
    expect(decide('/x', 'a.example', { failed: 'invalid' })).to.include({
      rejected: 'ERR_ROUTING_ROUTE',
      entry: undefined,
    });
  });
});
