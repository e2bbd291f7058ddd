import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatIssue, parseDocuments, validateWritten } from '@edge-gateway/core';
import { expect } from 'chai';
import { parse, parseAllDocuments } from 'yaml';
import { readPage } from './docs/page.ts';
import { ROOT } from './docs/workspace.ts';

const PAGES = globSync(['README.md', 'docs/*.md', 'packages/*/README.md', 'apps/*/README.md'], {
  cwd: ROOT,
}).toSorted();

/** Returns the errors of the resources in a text. */
const errorsOf = (text: string, origin: string): string[] =>
  parseDocuments(text, origin).flatMap((written) =>
    validateWritten(written)
      .issues.filter(({ severity }) => severity === 'error')
      .map(formatIssue),
  );

const resource = (apiVersion: string, kind: string, spec: object) => ({
  apiVersion,
  kind,
  metadata: { name: 'example', namespace: 'gw-system' },
  spec,
});
const GATEWAY = 'gateway.vendor.io/v1';
const DIRECT = [{ matchers: [{ prefix: '/' }], directResponseAction: { status: 200 } }];
const virtualHost = (host: object) => resource(GATEWAY, 'VirtualService', { virtualHost: host });
const gateway = (spec: object) => resource(GATEWAY, 'Gateway', { bindPort: 8080, httpGateway: {}, ...spec });
const hosts = [{ addr: '127.0.0.1', port: 8080 }];
const authConfig = (step: object) => resource('enterprise.gw.vendor.io/v1', 'AuthConfig', { configs: [step] });
const LOGIN = {
  clientId: 'shop',
  clientSecretRef: { name: 'login', namespace: 'gw-system' },
  issuerUrl: 'https://id.example.com/',
  appUrl: 'https://shop.example.com',
  callbackPath: '/callback',
};
const LDAP = {
  address: 'ldap://ldap.example.com:389',
  userDnTemplate: 'uid=%s,dc=example,dc=com',
  allowedGroups: ['cn=a'],
};
const SCHEMA = 'type Query { ratings: [String] @resolve(name: "ratings") }';

/** The blocks of resources that a page shows without the rest, by the fields of the fragment. */
const PLACES: readonly (readonly [fields: readonly string[], place: (fragment: never) => object])[] = [
  [['options'], (fragment: object) => ({ ...virtualHost({ routes: DIRECT, ...fragment }) })],
  [['options'], (fragment: object) => gateway(fragment)],
  [['accessLog'], (service: object) => gateway({ options: { accessLoggingService: service } })],
  [['routes'], virtualHost],
  [['virtualHost'], (spec: object) => resource(GATEWAY, 'VirtualService', spec)],
  [['jwtStaged', 'rbac', 'stagedTransformations'], (options: object) => virtualHost({ routes: DIRECT, options })],
  [
    ['httpHealthCheck', 'tcpHealthCheck', 'grpcHealthCheck'],
    (check: object) => resource('gw.vendor.io/v1', 'Upstream', { static: { hosts }, healthChecks: [check] }),
  ],
  [
    ['ratings'],
    (resolutions: object) =>
      resource('graphql.gw.vendor.io/v1beta1', 'GraphQLApi', {
        executableSchema: { schemaDefinition: SCHEMA, executor: { local: { resolutions } } },
      }),
  ],
  [
    ['connectionKeepalive'],
    (fields: object) => resource('gw.vendor.io/v1', 'Upstream', { static: { hosts }, ...fields }),
  ],
  [['groupLookupSettings'], (step: object) => authConfig({ ldap: { ...LDAP, ...step } })],
  [['session'], (step: object) => authConfig({ oauth2: { oidcAuthorizationCode: { ...LOGIN, ...step } } })],
  [['spec'], ({ spec }: { spec: object }) => resource('enterprise.gw.vendor.io/v1', 'AuthConfig', spec)],
  [['spec'], ({ spec }: { spec: object }) => resource('gw.vendor.io/v1', 'Settings', spec)],
  [
    ['stringData'],
    (secret: object) => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'example' }, ...secret }),
  ],
];

/** Fields of fragments for other programs: Envoy, Helm, the tests of `gatewayctl`, and statuses, which only a gateway writes. */
const OF_OTHERS = [
  'static_resources',
  'http_service',
  'resources',
  'gatewayProxies',
  'gateway',
  'gw',
  'tests',
  'status',
];

/** Returns the errors of a fragment in the place that fits best. */
function fragmentErrors(text: string, origin: string): string[] {
  const fragment = parse(text) as Record<string, unknown>;
  const fields = Object.keys(fragment);
  if (OF_OTHERS.some((field) => fields.includes(field))) return [];
  const fitting = PLACES.filter(([names]) => names.some((name) => fields.includes(name)));
  const errors = fitting.map(([, place]) => errorsOf(JSON.stringify(place(fragment as never)), origin));
  return errors.toSorted((a, b) => a.length - b.length)[0] ?? [`${origin} no place for ${fields.join(', ')}`];
}

describe('resources in the documentation', () => {
  for (const page of PAGES) {
    const blocks = readPage(join(ROOT, page)).filter(
      ({ language, directives }) => language === 'yaml' && !directives.has('refused'),
    );
    if (blocks.length === 0) continue;

    it(`${page} contains only valid resources, and valid parts of them`, () => {
      const wrong = blocks.flatMap(({ text, line }) => {
        const origin = `${page}:${line}`;
        if (/^apiVersion:/m.test(text)) return errorsOf(text, origin);
        return parseAllDocuments(text).length > 1
          ? [`${origin} several documents without a kind`]
          : fragmentErrors(text, origin);
      });
      expect(wrong).to.deep.equal([]);
    });
  }

  it('would contain no fragment with an unknown or invalid field', () => {
    expect(fragmentErrors('routes: [{ routeAction: { dynamicForwardPrxy: {} } }]', 'page')).to.have.lengthOf.above(0);
    expect(fragmentErrors('tcpHealthCheck: {}\ntimeout: soon', 'page')).to.have.lengthOf.above(0);
    expect(fragmentErrors('sessions: {}', 'page')).to.deep.equal(['page no place for sessions']);
  });
});

it('examples write the apiVersion of Settings in one way', () => {
  const files = [...PAGES, ...globSync('{examples,apps/gateway/demo,deploy}/**/*.{yaml,md,tpl}', { cwd: ROOT })];
  const written = files.flatMap((file) =>
    Array.from(
      readFileSync(join(ROOT, file), 'utf8').matchAll(/apiVersion: (\S+?),?\s+kind: Settings\b/g),
      ([, group]) => `${file}: ${group}`,
    ),
  );
  expect(written).to.not.deep.equal([]);
  expect(written.filter((each) => !each.endsWith(': settings.gw.vendor.io/v1'))).to.deep.equal([]);
});
