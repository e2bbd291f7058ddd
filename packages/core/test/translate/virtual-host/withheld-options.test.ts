import { expect } from 'chai';
import type { Route } from '../../../src/contract/snapshot.ts';
import { createStore } from '../../../src/control/store.ts';
import { translate, type Translation } from '../../../src/translate/translate.ts';
import { load } from '../load.ts';

const LABELS = 'labels: { created_by: gw-kube-gateway-api }';
const GATEWAY = `apiVersion: gateway.vendor.io/v1
kind: Gateway
metadata: { name: gw, ${LABELS} }
spec:
  bindPort: 8080
  proxyNames: [apps.gw]
  httpGateway: { virtualServiceSelector: { created_by: gw-kube-gateway-api } }`;
const refs = (...names: string[]): string =>
  names.length > 0 ? `optionsConfigRefs: { delegateOptions: [${names.map((name) => `{ name: ${name} }`)}] },` : '';
const DIRECT = 'directResponseAction: { status: 200, body: open }';
const REDIRECT = 'redirectAction: { hostRedirect: b.example.com }';

interface Host {
  readonly host?: readonly string[];
  /** Options of the first of two routes. */
  readonly route?: readonly string[];
  readonly action?: string;
}

const service = ({ host = [], route = [], action = DIRECT }: Host): string => `apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: a, ${LABELS} }
spec:
  virtualHost: { domains: ['*'], ${refs(...host)} routes: [
    { matchers: [{ prefix: /first }], ${refs(...route)} ${action} }, { matchers: [{ prefix: / }], ${DIRECT} }] }`;
const option = (kind: 'RouteOption' | 'VirtualHostOption', name: string, options: string): string =>
  `apiVersion: gateway.vendor.io/v1\nkind: ${kind}\nmetadata: { name: ${name} }\nspec: { options: ${options} }`;

/** Translates each step beside what the one before it served. */
function after(...steps: (readonly string[])[]): Translation {
  const store = createStore();
  let translation: Translation | undefined;
  for (const documents of steps) translation = translate(load([GATEWAY, ...documents], store), translation?.memo);
  return translation!;
}

const routesOf = ({ snapshots }: Translation): readonly Route[] =>
  snapshots.get('apps.gw')!.listeners[0]!.virtualHosts[0]!.routes;
const statuses = (translation: Translation): (string | number)[] =>
  routesOf(translation).map(({ action }) => ('status' in action ? action.status : action.type));
const VALID = '{ timeout: 5s }';
const INVALID = '{ timeout: soon }';

describe('routes from the Gateway API whose shared options are not known', () => {
  it('respond with 500, and leave their neighbours alone', () => {
    const translation = after([service({ route: ['jwt'] })]);
    expect(statuses(translation)).to.deep.equal([500, 200]);
    const [{ action }] = routesOf(translation) as [Route];
    expect(action).to.deep.include({ type: 'replacement', reason: 'RouteOption gw-system.jwt not found' });
  });

  it('respond with 500 if they are redirects', () => {
    expect(statuses(after([service({ route: ['jwt'], action: REDIRECT })]))).to.deep.equal([500, 200]);
  });

  it('respond with 500 if one of several options is missing', () => {
    const known = option('RouteOption', 'known', VALID);
    expect(statuses(after([known, service({ route: ['known', 'jwt'] })]))).to.deep.equal([500, 200]);
  });

  it('all respond with 500 if an option of their host is missing', () => {
    expect(statuses(after([service({ host: ['auth'] })]))).to.deep.equal([500, 500]);
  });

  it('respond with 500 if an option was never valid, and leave their neighbours alone', () => {
    const ofRoute = [option('RouteOption', 'jwt', INVALID), service({ route: ['jwt'] })];
    expect(statuses(after(ofRoute))).to.deep.equal([500, 200]);
    const ofHost = [option('VirtualHostOption', 'auth', INVALID), service({ host: ['auth'] })];
    expect(statuses(after(ofHost))).to.deep.equal([500, 500]);
  });

  it('are served once the options are known', () => {
    const options = [option('RouteOption', 'jwt', VALID), option('VirtualHostOption', 'auth', '{}')];
    const written = service({ route: ['jwt'], host: ['auth'] });
    expect(statuses(after([written], [written, ...options]))).to.deep.equal([200, 200]);
  });

  it('keep the last good version of the options', () => {
    const written = service({ route: ['jwt'] });
    const translation = after(
      [written, option('RouteOption', 'jwt', VALID)],
      [written, option('RouteOption', 'jwt', INVALID)],
    );
    expect(statuses(translation)).to.deep.equal([200, 200]);
    expect(routesOf(translation)[0]!.options.timeout).to.equal('5s');
  });
});

describe('routes of VirtualServices whose shared options are missing', () => {
  it('are served without them', () => {
    const own = service({ route: ['jwt'], host: ['auth'] }).replace(`, ${LABELS}`, '');
    const translation = after([own]);
    const [host] = translation.snapshots.get('gateway-proxy')!.listeners[0]!.virtualHosts;
    expect(host!.routes.map(({ action }) => action.type)).to.deep.equal(['direct', 'direct']);
  });
});
