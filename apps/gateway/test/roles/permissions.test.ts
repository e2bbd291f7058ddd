import { silentLoggers } from '@edge-gateway/core';
import { expect } from 'chai';
import {
  listOf,
  silent,
  startScriptedApi,
  status,
  type ScriptedApi,
} from '../../../../packages/kubernetes/test/scripted-api.ts';
import { goldenManifests } from '../../../../test/helm-goldens.ts';
import { settingsOf } from '../../../../test/parts/role-settings.ts';
import { until } from '../../../../test/parts/until.ts';
import type { RunningRole } from '../../src/command-line/role.ts';
import { startExtAuth } from '../../src/roles/extauth.ts';
import { startRateLimit } from '../../src/roles/rate-limit.ts';

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

/** Returns the permissions that the chart grants to a component, as `<verb> <resource>.<group>`. */
function granted(component: string): ReadonlySet<string> {
  const role = goldenManifests('servers').find(
    ({ kind, metadata }) => kind === 'ClusterRole' && metadata.name === `edge-gateway-gw-system-${component}`,
  )!;
  return new Set(
    (role['rules'] as Rule[]).flatMap(({ apiGroups, resources, verbs }) =>
      apiGroups.flatMap((group) =>
        resources.flatMap((resource) => verbs.map((verb) => `${verb} ${[resource, group].filter(Boolean).join('.')}`)),
      ),
    ),
  );
}

const PATH = /^\/apis?\/(?:(?<group>[^/]+\.[^/]+)\/)?v[^/]+\/(?:namespaces\/[^/]+\/)?(?<resource>[^/]+)(?<name>\/.+)?$/;

/** Returns the permission that a request needs; none for the names of the types, which everybody may read. */
function needed(url: string): string | undefined {
  const { pathname, searchParams } = new URL(url, 'http://localhost');
  const { group, resource, name } = PATH.exec(pathname)?.groups ?? {};
  if (resource === undefined) return undefined;
  const verb = name ? 'get' : searchParams.has('watch') ? 'watch' : 'list';
  return `${verb} ${[resource, group].filter(Boolean).join('.')}`;
}

const metadata = (name: string): object => ({ name, namespace: 'shop', resourceVersion: '1' });
const OBJECTS: Readonly<Record<string, object>> = {
  'list authconfigs.enterprise.gw.vendor.io': {
    metadata: metadata('login'),
    spec: { configs: [{ oauth2: { oidcAuthorizationCode: { clientSecretRef: { name: 'client' } } } }] },
  },
  'list virtualservices.gateway.vendor.io': {
    metadata: metadata('shop'),
    spec: { sslConfig: { secretRef: { name: 'client' } } },
  },
  'list secrets': { metadata: metadata('client') },
  'get secrets': { metadata: metadata('client'), type: 'Opaque', data: {} },
};

const PORTS = ['--grpc-port', '0', '--stats-port', '0'];

describe('the permissions of a service', () => {
  let api: ScriptedApi;
  let role: RunningRole | undefined;
  /** What was requested. */
  let requests: Set<string>;

  beforeEach(async () => {
    api = await startScriptedApi();
    requests = new Set();
  });
  afterEach(async () => {
    await role?.stop();
    role = undefined;
    await api.close();
  });

  /** Starts a role in a cluster that permits what the chart grants, and returns what it requested beyond that. */
  async function start(component: string, open: () => Promise<RunningRole>): Promise<readonly string[]> {
    const permissions = granted(component);
    api.onWatch = api.onList = (query, res, req) => {
      const request = needed(req.url!);
      if (request === undefined) return void res.end(JSON.stringify({ kind: 'APIResourceList', resources: [] }));
      requests.add(request);
      if (!permissions.has(request)) return status(403, 'Forbidden')(query, res, req);
      if (request.startsWith('watch ')) return silent(query, res, req);
      const object = OBJECTS[request];
      if (!request.startsWith('get ')) return listOf(1, object ? [object] : [])(query, res, req);
      res.end(JSON.stringify(object));
    };
    role = await open();
    const lists = [...requests].filter((request) => request.startsWith('list '));
    await until(() => lists.every((list) => requests.has(list.replace('list', 'watch'))), 'everything is watched');
    return [...requests].filter((request) => !permissions.has(request));
  }

  /** Namespaces are read where Settings select them by labels. */
  const unused = (component: string): readonly string[] =>
    [...granted(component)].filter(
      (permission) =>
        !permission.startsWith('get ') && !permission.endsWith(' namespaces') && !requests.has(permission),
    );

  it('of the rate limit server are those that it needs, and no Secret is among them', async () => {
    const settings = await settingsOf([
      'rate-limit',
      '--kubernetes',
      '--kubeconfig',
      api.kubeconfig,
      '--http-port',
      '0',
      ...PORTS,
    ]);
    const quit = (): void => {};
    expect(
      await start('rate-limit', () => startRateLimit(settings as never, { log: silentLoggers, quit })),
    ).to.deep.equal([]);
    expect(unused('rate-limit')).to.deep.equal([]);
    expect(
      [...granted('rate-limit')].filter((permission) => /secrets|authconfigs|upstreams/.test(permission)),
    ).to.deep.equal([]);
  });

  it('of the auth server are AuthConfigs and what they refer to', async () => {
    const settings = await settingsOf(['extauth', '--kubernetes', '--kubeconfig', api.kubeconfig, ...PORTS]);
    const quit = (): void => {};
    expect(await start('extauth', () => startExtAuth(settings as never, { log: silentLoggers, quit }))).to.deep.equal(
      [],
    );
    expect(requests).to.include('get secrets');
    expect(unused('extauth')).to.deep.equal([]);
    expect(
      [...granted('extauth')].filter((permission) => /virtualservices|upstreams|graphqlapis/.test(permission)),
    ).to.deep.equal([]);
  });
});
