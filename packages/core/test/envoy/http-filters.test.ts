import { expect } from 'chai';
import {
  filtersOfDestination,
  filtersOfHost,
  filtersOfRoute,
  httpFilters,
  withoutFilters,
} from '../../src/envoy/http-filters.ts';
import type { Destination, Listener, Route, SnapshotSettings, VirtualHost } from '../../src/index.ts';

const EXT_AUTHZ = 'envoy.filters.http.ext_authz';
const RBAC = 'envoy.filters.http.rbac';
const BUFFER = 'envoy.filters.http.buffer';
const HEADERS = 'envoy.filters.http.header_mutation';
const LOCAL = 'envoy.filters.http.local_ratelimit';
const FILTERS = new Set([HEADERS, EXT_AUTHZ, RBAC, BUFFER, 'envoy.filters.http.router']);
const configRef = { name: 'users', namespace: 'gw-system' };
const extauth = { configRef };
const rbac = { policies: {} };

const host = (options: object = {}, more: object = {}) =>
  ({ name: 'h', options, routes: [], authConfigs: [], ...more }) as unknown as VirtualHost;
const route = (options: object = {}) => ({ name: 'r', options, action: { type: 'direct' } }) as unknown as Route;
const context = (settings: Partial<SnapshotSettings> = {}, filters: ReadonlySet<string> = FILTERS) => ({
  secrets: { get: () => undefined },
  settings: { requireRbac: false, ...settings },
  services: {},
  filters,
});
const perFilter = (message: any): any => message.typed_per_filter_config ?? {};
const ofHost = (virtualHost: VirtualHost, settings?: Partial<SnapshotSettings>, filters?: ReadonlySet<string>) =>
  perFilter(filtersOfHost(virtualHost, context(settings, filters)));
const ofRoute = (options: object, level: object = {}, settings?: Partial<SnapshotSettings>) =>
  perFilter(filtersOfRoute(route(options), host(level), context(settings)));
const namesOf = (options: object, virtualHosts: readonly VirtualHost[], settings: Partial<SnapshotSettings> = {}) =>
  httpFilters({ httpOptions: options, virtualHosts } as unknown as Listener, context(settings)).flatMap(
    ({ name, disabled }) => (disabled ? [] : [name]),
  );

describe('the filters of an Envoy', () => {
  it('are those that a level uses', () => {
    const guarded = host({ extauth, rbac, ratelimit: { localRatelimit: { maxTokens: 1 } } });
    expect(namesOf({}, [host()])).to.deep.equal(['envoy.filters.http.grpc_web', 'envoy.filters.http.router']);
    expect(namesOf({ buffer: { maxRequestBytes: 1 }, grpcWeb: { disable: true } }, [host(), guarded])).to.deep.equal([
      LOCAL,
      EXT_AUTHZ,
      RBAC,
      BUFFER,
      'envoy.filters.http.router',
    ]);
    expect(namesOf({}, [host()], { requireRbac: true })).to.include(RBAC);
    expect(namesOf({ grpcWeb: {} }, [host()], { disableGrpcWeb: true })).to.include('envoy.filters.http.grpc_web');
  });

  it('include those of policies, which a later virtual host may enable', () => {
    const listener = { httpOptions: {}, virtualHosts: [host()] } as unknown as Listener;
    const services = { extauth: { host: '127.0.0.1', port: 1 } };
    const disabled = httpFilters(listener, { ...context(), services }).filter((each) => each['disabled']);
    expect(disabled.map(({ name }) => name)).to.deep.equal([
      HEADERS,
      'envoy.filters.http.jwt_authn.before_ext_authz',
      EXT_AUTHZ,
      'envoy.filters.http.jwt_authn',
      RBAC,
      'envoy.filters.http.csrf',
    ]);
    const { services: _none, ...dump } = context();
    expect(httpFilters(listener, dump).map(({ name }) => name)).to.deep.equal(['envoy.filters.http.router']);
  });

  it('apply to destinations', () => {
    const own = { options: { bufferPerRoute: { buffer: { maxRequestBytes: 7 } }, extauth } } as unknown as Destination;
    expect(Object.keys(perFilter(filtersOfDestination(own, context())))).to.deep.equal([BUFFER, EXT_AUTHZ]);
    expect(Object.keys(perFilter(filtersOfDestination(own, context({}, new Set()))))).to.deep.equal([EXT_AUTHZ]);
  });

  it('can be disabled, except for the one that forwards', () => {
    const disabled = { '@type': 'type.googleapis.com/envoy.config.route.v3.FilterConfig', disabled: true };
    expect(perFilter(withoutFilters(FILTERS))).to.deep.equal({
      [HEADERS]: disabled,
      [EXT_AUTHZ]: disabled,
      [RBAC]: disabled,
      [BUFFER]: disabled,
    });
    expect(withoutFilters(new Set(['envoy.filters.http.router']))).to.deep.equal({});
  });

  it('require external auth only where a level asks for it', () => {
    const off = {
      '@type': `type.googleapis.com/envoy.extensions.filters.http.ext_authz.v3.ExtAuthzPerRoute`,
      disabled: true,
    };
    expect(ofHost(host())[EXT_AUTHZ], 'a host without a block').to.deep.equal(off);
    expect(ofHost(host({ extauth: {} }))[EXT_AUTHZ], 'a block without an AuthConfig').to.deep.equal(off);
    expect(ofHost(host({ extauth }))[EXT_AUTHZ]).to.deep.include({
      check_settings: { context_extensions: { config_id: 'gw-system.users' } },
    });
    expect(ofHost(host(), {}, new Set())[EXT_AUTHZ], 'without the filter').to.equal(undefined);
    expect(ofRoute({}, { extauth })[EXT_AUTHZ], 'inherited').to.equal(undefined);
    expect(ofRoute({ extauth: { disable: true } }, { extauth })[EXT_AUTHZ]).to.deep.equal(off);
  });

  it('apply the policies of the nearest level, or reject all requests if the Settings require some', () => {
    const none = { rules: { action: 'ALLOW', policies: {} } };
    expect(ofRoute({}, {})[RBAC]).to.equal(undefined);
    expect(ofRoute({}, { rbac })[RBAC].rbac).to.deep.equal(none);
    expect(ofRoute({ rbac: { disable: true } }, { rbac })[RBAC]).to.not.have.property('rbac');
    expect(ofRoute({}, {}, { requireRbac: true })[RBAC].rbac).to.deep.equal(none);
    expect(ofRoute({ rbac: { disable: true } }, {}, { requireRbac: true })[RBAC]).to.not.have.property('rbac');
    expect(ofHost(host({ rbac }))[RBAC], 'only routes have policies').to.equal(undefined);
  });

  it('buffer bodies only if the listener does, with the limit of the nearest level', () => {
    const limit = { bufferPerRoute: { buffer: { maxRequestBytes: 5 } } };
    expect(ofRoute(limit)[BUFFER]).to.deep.include({ buffer: { max_request_bytes: 5 } });
    expect(ofHost(host({ bufferPerRoute: { disabled: true } }))[BUFFER]).to.deep.include({ disabled: true });
    expect(ofHost(host(limit), {}, new Set())[BUFFER]).to.equal(undefined);
  });
});

describe('headers that Envoys remove from requests', () => {
  const removed = (virtualHost: VirtualHost, settings?: Partial<SnapshotSettings>): string[] | undefined =>
    ofHost(virtualHost, settings)[HEADERS]?.mutations.request_mutations.map(({ remove }: any) => remove);
  const claimsToHeaders = [{ claim: 'role', header: 'X-User-Role' }];
  const providers = (more: object = {}) => ({ providers: { own: { claimsToHeaders, ...more } } });

  it('are those of claims, in each spelling', () => {
    const spellings = ['x-user-role', 'x-user_role', 'x_user-role', 'x_user_role'];
    expect(removed(host({ jwt: providers() }))).to.deep.equal(spellings);
    expect(removed(host({ jwtStaged: { beforeExtAuth: providers() } }))).to.deep.equal(spellings);
    const routes = [route({ jwtProvidersStaged: { afterExtAuth: providers() } })];
    expect(removed(host({}, { routes })), 'of one route').to.deep.equal(spellings);
    const long = [{ claim: 'role', header: 'a-b-c-d-e-f-g' }];
    expect(removed(host({ jwt: providers({ claimsToHeaders: long }) }))).to.deep.equal([
      'a-b-c-d-e-f-g',
      'a_b_c_d_e_f_g',
    ]);
    expect(removed(host())).to.equal(undefined);
  });

  it('are not those in which clients send tokens', () => {
    const tokenSource = { headers: [{ header: 'X-User_Role' }] };
    expect(removed(host({ jwt: providers({ tokenSource }) }))).to.equal(undefined);
    const authorization = [{ claim: 'role', header: 'authorization' }];
    expect(removed(host({ jwt: providers({ claimsToHeaders: authorization }) }))).to.equal(undefined);
  });

  it('are those of AuthConfigs and auth servers, and the user id', () => {
    const spec = { configs: [{ apiKeyAuth: { headersFromMetadataEntry: { 'x-plan': { name: 'plan' } } } }] };
    const user = ['x-user-id', 'x-user_id', 'x_user-id', 'x_user_id'];
    expect(removed(host({}, { authConfigs: [{ ref: configRef, spec }] }))).to.deep.equal(['x-plan', 'x_plan', ...user]);
    const httpService = { response: { allowedUpstreamHeaders: ['X-Team'] } };
    expect(removed(host(), { extauth: { httpService } })).to.deep.equal(['x-team', 'x_team', ...user]);
    expect(removed(host(), { extauth: { userIdHeader: 'X-Me' } })).to.deep.equal(['x-me', 'x_me']);
  });
});
