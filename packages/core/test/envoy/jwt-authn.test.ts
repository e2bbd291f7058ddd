import { expect } from 'chai';
import { isExpressedJwt } from '../../src/envoy/forms/route-forms.ts';
import { jwtAuthentication, jwtOfHost, jwtOfRoute, providersOf } from '../../src/envoy/jwt-authn.ts';
import type { Listener, Route, VirtualHost } from '../../src/index.ts';

const URL = 'https://idp.example/keys';
const own = { issuer: 'me', jwks: { remote: { url: URL, upstreamRef: { name: 'idp', namespace: 'gw-system' } } } };
/** The provider `idp` of the virtual host `host`. */
const OWN = '["host","idp"]';
const afterExtAuth = (block: object) => ({ jwtStaged: { afterExtAuth: block } }) as VirtualHost['options'];
const route = (options: object = {}, name = 'route') => ({ name, options }) as Route;
const host = (options: object, ...routes: readonly Route[]) =>
  ({ name: 'host', options, routes }) as unknown as VirtualHost;
const filterOf = (virtualHost: VirtualHost, services: object | undefined = {}): any =>
  jwtAuthentication({ virtualHosts: [virtualHost] } as unknown as Listener, 'afterExtAuth', { services });
const typed = (fields: object) => ({
  '@type': 'type.googleapis.com/envoy.extensions.filters.http.jwt_authn.v3.PerRouteConfig',
  ...fields,
});

describe('JWT providers for Envoys', () => {
  it('are named by their level, and pass claims on to the policies', () => {
    const provider = {
      ...own,
      audiences: ['shop'],
      keepToken: true,
      clockSkewSeconds: 5,
      claimsToHeaders: [{ claim: 'team', header: 'x-team' }],
      tokenSource: { headers: [{ header: 'x-token', prefix: 'T ' }], queryParams: ['token'] },
    };
    const { providers, requirement_map: requirements } = filterOf(host(afterExtAuth({ providers: { idp: provider } })));
    expect(providers).to.deep.equal({
      [OWN]: {
        issuer: 'me',
        audiences: ['shop'],
        remote_jwks: {
          http_uri: { uri: URL, cluster: 'idp_gw-system', timeout: '5s' },
          cache_duration: '300s',
        },
        forward: true,
        from_headers: [{ name: 'x-token', value_prefix: 'T ' }],
        from_params: ['token'],
        claim_to_headers: [{ claim_name: 'team', header_name: 'x-team' }],
        clock_skew_seconds: 5,
        payload_in_metadata: 'idp',
        clear_route_cache: true,
      },
    });
    expect(requirements).to.deep.equal({ host: { provider_name: OWN } });
  });

  it('remove tokens, and allow clocks to differ by a minute', () => {
    const { providers } = filterOf(host(afterExtAuth({ providers: { idp: own } })));
    expect(providers[OWN]).to.include({ clock_skew_seconds: 60, payload_in_metadata: 'idp' });
    expect(providers[OWN]).to.not.have.any.keys('forward', 'clear_route_cache', 'audiences');
  });

  it('are required as the level says', () => {
    const required = (more: object, providers: object = { idp: own }) =>
      filterOf(host(afterExtAuth({ providers, ...more }))).requirement_map.host;
    const any = (...requirements: object[]) => ({ requires_any: { requirements } });
    const idp = { provider_name: OWN };
    expect(required({})).to.deep.equal(idp);
    expect(required({ validationPolicy: 'REQUIRE_VALID' })).to.deep.equal(idp);
    expect(required({ allowMissingOrFailedJwt: false })).to.deep.equal(idp);
    expect(required({ validationPolicy: 'ALLOW_MISSING' })).to.deep.equal(any(idp, { allow_missing: {} }));
    for (const more of [{ validationPolicy: 'ALLOW_MISSING_OR_FAILED' }, { allowMissingOrFailedJwt: true }])
      expect(required(more)).to.deep.equal(any(idp, { allow_missing_or_failed: {} }));
    expect(required({}, { idp: own, other: own })).to.deep.equal(any(idp, { provider_name: '["host","other"]' }));
  });

  it('apply to the routes of a virtual host unless these replace or disable them', () => {
    const level = host(afterExtAuth({ providers: { idp: own } }));
    const replaced = route({ jwtProvidersStaged: { afterExtAuth: { providers: { other: own } } } });
    const disabled = route({ jwtStaged: { afterExtAuth: { disable: true } } });
    expect(jwtOfHost(level, 'afterExtAuth')).to.deep.equal(typed({ requirement_name: 'host' }));
    expect(jwtOfHost(level, 'beforeExtAuth')).to.equal(undefined);
    expect(jwtOfRoute(route(), level, 'afterExtAuth')).to.equal(undefined);
    expect(jwtOfRoute(replaced, level, 'afterExtAuth')).to.deep.equal(typed({ requirement_name: 'host route' }));
    expect(jwtOfRoute(disabled, level, 'afterExtAuth')).to.deep.equal(typed({ disabled: true }));
    expect([route(), replaced, disabled].map((each) => providersOf(level, each))).to.deep.equal([
      ['idp'],
      ['other'],
      [],
    ]);
    const both = {
      jwtStaged: { beforeExtAuth: { providers: { early: own } }, afterExtAuth: { providers: { idp: own } } },
    };
    expect(providersOf(host(both), route())).to.deep.equal(['early', 'idp']);
  });

  it('are no filter without any', () => {
    expect(filterOf(host({}))).to.equal(undefined);
    expect(filterOf(host(afterExtAuth({ providers: {} })))).to.equal(undefined);
  });

  it('are those of the level that has them, whatever it is called', () => {
    const hosts = [
      { ...host(afterExtAuth({ providers: { 'b.p': own } })), name: 'ns.a' },
      { ...host(afterExtAuth({ providers: { p: { ...own, issuer: 'other' } } })), name: 'ns.a.b' },
      { ...host(afterExtAuth({ providers: { p: own } })), name: 'ns.a-route-0' },
      {
        ...host({}, route({ jwtProvidersStaged: { afterExtAuth: { providers: { q: own } } } }, 'ns.a-route-0')),
        name: 'ns.a',
      },
    ];
    const listener = { virtualHosts: hosts } as unknown as Listener;
    const { providers, requirement_map } = jwtAuthentication(listener, 'afterExtAuth', { services: {} }) as any;
    expect(Object.values(providers).map((each: any) => each.issuer)).to.deep.equal(['me', 'other', 'me', 'me']);
    expect(Object.keys(requirement_map)).to.deep.equal(['ns.a', 'ns.a.b', 'ns.a-route-0', 'ns.a ns.a-route-0']);
  });

  it('are omitted if Envoy would reject them, or accept more tokens', () => {
    const odd = (more: object) => ({ providers: { idp: { ...own, ...more } } });
    for (const block of [
      odd({ jwks: {} }),
      odd({ clockSkewSeconds: 0 }),
      odd({ claimsToHeaders: [{ claim: '', header: 'x-a' }] }),
      odd({ claimsToHeaders: [{ claim: 'a', header: 'x a' }] }),
      odd({ tokenSource: { headers: [{ header: '' }] } }),
      odd({ tokenSource: { headers: [{ header: 'x-token', prefix: 'a\n' }] } }),
      odd({ tokenSource: { queryParams: [''] } }),
      odd({ jwks: { remote: { ...own.jwks.remote, url: 'a b' } } }),
      odd({ jwks: { remote: { ...own.jwks.remote, cacheDuration: '1us' } } }),
    ]) {
      expect(isExpressedJwt(block), JSON.stringify(block)).to.equal(false);
      expect(filterOf(host(afterExtAuth(block)))).to.equal(undefined);
    }
    for (const url of [URL, 'http://keys.test:8080/a?b=c', 'keys/jwks.json', 'https://[::1]/'])
      expect(isExpressedJwt(odd({ jwks: { remote: { ...own.jwks.remote, url } } })), url).to.equal(true);
  });
});
