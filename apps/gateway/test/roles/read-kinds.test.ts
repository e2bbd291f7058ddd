import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createMetrics,
  directorySource,
  loadSource,
  silentLoggers,
  type ControlPlaneState,
  type Kind,
} from '@edge-gateway/core';
import { createMemoryStore, createRateLimitService } from '@edge-gateway/rate-limit';
import { expect } from 'chai';
import { EXTAUTH_KINDS } from '../../src/roles/extauth.ts';
import { RATE_LIMIT_KINDS } from '../../src/roles/rate-limit.ts';
import { tlsSecret } from '../tls-secret.ts';

const GOLDENS = join(import.meta.dirname, '../../../../packages/core/test/golden');
const BASIC = 'ratelimitBasic: { anonymousLimits: { requestsPerUnit: 3, unit: MINUTE } }';
const REF = '{ name: t, namespace: gw-system }';

const UPSTREAM = `
apiVersion: gw.vendor.io/v1
kind: Upstream
metadata: ${REF}
spec: { static: { hosts: [{ addr: 127.0.0.1, port: 9000 }] } }
`;
const GROUP = `
apiVersion: gw.vendor.io/v1
kind: UpstreamGroup
metadata: ${REF}
spec: { destinations: [{ weight: 1, destination: { upstream: ${REF} } }] }
`;
const API = `
apiVersion: graphql.gw.vendor.io/v1beta1
kind: GraphQLApi
metadata: ${REF}
spec:
  executableSchema:
    schemaDefinition: 'type Query { a: String }'
    executor: { local: { resolutions: {} } }
`;
const AUTH_CONFIG = `
apiVersion: enterprise.gw.vendor.io/v1
kind: AuthConfig
metadata: ${REF}
spec: { configs: [{ apiKeyAuth: { headerName: x-api-key, labelSelector: { team: a } } }] }
`;
const HEADER = `
apiVersion: v1
kind: Secret
metadata: ${REF}
type: gw.vendor.io/header
stringData: { x-a: b }
`;

interface Written {
  readonly service?: string;
  readonly host?: string;
  readonly action?: string;
}

const FORWARD = `routeAction: { single: { upstream: ${REF} } }`;

/** A virtual service with limits of itself and of its route. */
const limited = ({ service = '', host = '', action = FORWARD }: Written): string => `
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: shop, namespace: gw-system }
spec:
  ${service}
  virtualHost:
    domains: [a.example]
    options: { ${BASIC}${host} }
    routes:
      - { name: all, matchers: [{ prefix: / }], ${action}, options: { ${BASIC} } }
`;

const LIMITED: Readonly<Record<string, readonly string[]>> = {
  'a route to an upstream': [limited({}), UPSTREAM],
  'a route to a group of upstreams': [limited({ action: `routeAction: { upstreamGroup: ${REF} }` }), UPSTREAM, GROUP],
  'a GraphQL API': [limited({ action: `graphqlApiRef: ${REF}` }), API],
  'an AuthConfig': [limited({ host: `, extauth: { configRef: ${REF} }` }), UPSTREAM, AUTH_CONFIG],
  'a certificate': [limited({ service: `sslConfig: { secretRef: ${REF} }` }), UPSTREAM, tlsSecret()],
  'a header from a Secret': [
    limited({ host: `, headerManipulation: { requestHeadersToAdd: [{ headerSecretRef: ${REF} }] }` }),
    UPSTREAM,
    HEADER,
  ],
};

function goldensWith(text: string): readonly (readonly [string, readonly string[]])[] {
  const inputs = readdirSync(GOLDENS).filter((file) => file.endsWith('.in.yaml'));
  const read = inputs.map((file) => [file, [readFileSync(join(GOLDENS, file), 'utf8')]] as const);
  return read.filter(([, [content]]) => content!.includes(text));
}

describe('the kinds that a service reads', () => {
  let directory: string;

  beforeEach(() => void (directory = mkdtempSync(join(tmpdir(), 'read-kinds-'))));
  afterEach(() => rmSync(directory, { recursive: true }));

  function load(texts: readonly string[], kinds?: ReadonlySet<Kind>): Promise<ControlPlaneState> {
    writeFileSync(join(directory, 'all.yaml'), texts.join('\n---\n'));
    const source = directorySource(directory, { watch: false, kinds, log: silentLoggers.get('config') });
    return loadSource(source);
  }

  function ruleLines(state: ControlPlaneState): readonly string[] {
    const store = createMemoryStore();
    const service = createRateLimitService({ context: { log: silentLoggers, metrics: createMetrics() }, store });
    service.update(state);
    store.close();
    return service.ruleLines();
  }

  const messages = ({ issues }: ControlPlaneState): readonly string[] => issues.map(({ message }) => message);

  for (const [name, texts] of Object.entries(LIMITED)) {
    it(`are enough for the limits of a virtual service with ${name}`, async () => {
      const state = await load(texts, RATE_LIMIT_KINDS);
      const expected = ruleLines(await load(texts));
      expect(expected).to.have.lengthOf(2);
      expect(ruleLines(state)).to.deep.equal(expected);
      expect(state.issues).to.deep.equal([]);
    });
  }

  for (const [name, texts] of goldensWith('atelimit')) {
    it(`are enough for the rules of ${name}`, async () => {
      const [state, all] = [await load(texts, RATE_LIMIT_KINDS), await load(texts)];
      expect(ruleLines(state)).to.deep.equal(ruleLines(all));
      expect([...state.resources.values()].filter(({ kind }) => !RATE_LIMIT_KINDS.has(kind))).to.deep.equal([]);
      expect(messages(all)).to.include.members(messages(state));
    });
  }

  for (const [name, texts] of goldensWith('kind: AuthConfig')) {
    it(`are enough for the AuthConfigs of ${name}`, async () => {
      const state = await load(texts, EXTAUTH_KINDS);
      const all = await load(texts);
      const configs = (known: ControlPlaneState['authConfigs']): object =>
        Array.from(known, ([key, { config, fault }]) => ({ key, config, fault }));
      expect(configs(state.authConfigs)).to.deep.equal(configs(all.authConfigs));
      expect(state.settings.extauth).to.deep.equal(all.settings.extauth);
      expect(messages(all)).to.include.members(messages(state));
    });
  }

  it('keep a broken document, which may contain a resource that is read', async () => {
    const [service = ''] = LIMITED['a route to an upstream']!;
    await load([service]);
    const { issues } = await load([UPSTREAM.replace('spec: {', 'spec: {{'), service], RATE_LIMIT_KINDS);
    expect(issues.map(({ kind, severity }) => [kind, severity])).to.deep.equal([[undefined, 'error']]);
  });
});
