import { expect } from 'chai';
import { servedLimitFilters, servedLimitsOf } from '../../src/envoy/served-limits.ts';
import type { Route, SnapshotSettings, VirtualHost } from '../../src/index.ts';

const secrets = { get: () => undefined };
const context = (ratelimitServer: SnapshotSettings['ratelimitServer'] = {}, rateLimit = true) => ({
  secrets,
  settings: { requireRbac: false, ratelimitServer },
  services: rateLimit ? { rateLimit: { host: 'limits', port: 18081 } } : {},
});
const limit = (descriptorValue: string) => ({ actions: [{ genericKey: { descriptorValue } }] });
const limits = (...values: string[]) => ({ rateLimits: values.map(limit) });
const key = (descriptor_value: string) => ({ generic_key: { descriptor_value } });
const refs = (name: string) => ({ refs: [{ name, namespace: 'team' }] });
const config = (name: string) => ({ ref: { name, namespace: 'team' }, spec: { raw: limits(`of ${name}`) } });

function entriesOf(route: object, level: object, server: SnapshotSettings['ratelimitServer'] = {}): unknown {
  const host = { options: level, rateLimitConfigs: [config('few'), config('many')] } as unknown as VirtualHost;
  return (servedLimitsOf({ options: route } as Route, host, context(server)) as any).rate_limits;
}

describe('rate limits of an Envoy', () => {
  it('are those of the virtual host unless the route has its own', () => {
    const [own, inherited] = [{ actions: [key('own')] }, { actions: [key('host')] }];
    expect(entriesOf({}, { ratelimit: limits('host') })).to.deep.equal([inherited]);
    expect(entriesOf({ ratelimit: limits('own') }, { ratelimit: limits('host') })).to.deep.equal([own]);
    const both = { ratelimit: { ...limits('own'), includeVhRateLimits: true } };
    expect(entriesOf(both, { ratelimit: limits('host') })).to.deep.equal([inherited, own]);
    expect(entriesOf({}, {})).to.equal(undefined);
  });

  it('are replaced also by a reference of the route', () => {
    const shared = (name: string) => ({ stage: 2, actions: [key(`team.${name}`), key(`of ${name}`)] });
    expect(entriesOf({}, { rateLimitConfigs: refs('few') })).to.deep.equal([shared('few')]);
    const level = { ratelimit: limits('host'), rateLimitConfigs: refs('few') };
    expect(entriesOf({ rateLimitConfigs: refs('many') }, level)).to.deep.equal([shared('many')]);
    expect(entriesOf({ ratelimit: limits('own') }, level)).to.deep.equal([{ actions: [key('own')] }]);
  });

  it('are found by the filter of their domain and moment', () => {
    const stagesOf = (options: object, server?: object) =>
      (entriesOf(options, {}, server) as { stage?: number }[]).map(({ stage = 0 }) => stage);
    const usual = { ratelimit: limits('a'), rateLimitConfigs: refs('few') };
    const early = { ratelimitEarly: limits('a'), rateLimitEarlyConfigs: refs('few') };
    const regular = { ratelimitRegular: limits('a'), rateLimitRegularConfigs: refs('few') };
    expect(stagesOf(usual)).to.deep.equal([0, 2]);
    expect(stagesOf(usual, { rateLimitBeforeAuth: true })).to.deep.equal([1, 3]);
    expect(stagesOf(early)).to.deep.equal([1, 3]);
    expect(stagesOf(regular, { rateLimitBeforeAuth: true })).to.deep.equal([0, 2]);
    for (const moment of ['early', 'regular'] as const) {
      const filters = servedLimitFilters(moment, new Set([moment]), context());
      const found = filters.map(([, filter]) => [filter['domain'], filter['stage']]);
      expect(found).to.deep.equal(
        moment === 'early'
          ? [
              ['custom', 1],
              ['vendor.io', 3],
            ]
          : [
              ['custom', 0],
              ['vendor.io', 2],
            ],
      );
    }
  });

  it('need a server, and fail as the Settings say', () => {
    const filters = (...given: Parameters<typeof context>) =>
      servedLimitFilters('regular', new Set(['usual']), context(...given)).map(([, filter]) => filter);
    expect(filters({}, false)).to.deep.equal([]);
    expect(servedLimitFilters('early', new Set(['usual']), context())).to.deep.equal([]);
    expect(filters()[0]).to.include({ timeout: '0.100s' }).and.not.have.property('failure_mode_deny');
    expect(filters({ denyOnFail: true })[0]).to.include({ failure_mode_deny: true });
    const own = { ratelimitServerRef: { name: 'limits', namespace: 'inner' }, requestTimeout: '1s' };
    expect(filters(own, false)[0]).to.deep.include({
      timeout: '1s',
      rate_limit_service: {
        grpc_service: { envoy_grpc: { cluster_name: 'limits_inner' }, timeout: '1s' },
        transport_api_version: 'V3',
      },
    });
  });
});
