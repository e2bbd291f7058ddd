import { SEMANTIC_CODES } from '../../src/resource/problem-codes.ts';
import { expect } from 'chai';
import { formatPath } from '../../src/resource/problem.ts';
import { parseDocuments } from '../../src/parse/parse.ts';
import { validateWritten } from '../../src/validate/validate.ts';

function issuesOf(yaml: string) {
  const { resource, issues } = validateWritten(parseDocuments(yaml, 'a.yaml')[0]!);
  const errors = issues.filter(({ severity }) => severity === 'error');
  expect(resource === undefined).to.equal(errors.length > 0);
  return errors.map(({ code, origin, path }) => `${origin.line}:${origin.column} ${code} ${formatPath(path)}`);
}

const virtualService = (virtualHost: string) => `apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: a }
spec:
  virtualHost:
${virtualHost}`;

const upstream = (spec: string) => `apiVersion: gw.vendor.io/v1
kind: Upstream
metadata: { name: a }
spec:
${spec}`;

const settings = (extauth: string) => `apiVersion: settings.gw.vendor.io/v1
kind: Settings
metadata: { name: default }
spec:
  extauth: ${extauth}
`;

const gateway = (spec: string) => `apiVersion: gateway.vendor.io/v1
kind: Gateway
metadata: { name: a }
spec:
${spec}`;

describe('checks beyond the schema', () => {
  const cases: [string, string, string[]][] = [
    [
      'an empty domain, and a domain that no host can match',
      virtualService('    domains:\n      - a.example.com\n      - ""\n      - "*a*"\n'),
      ['8:9 EMPTY_DOMAIN spec.virtualHost.domains[1]', '9:9 INVALID_DOMAIN spec.virtualHost.domains[2]'],
    ],
    [
      'problems beside a typo, an invalid number and an invalid regex',
      virtualService(
        '    domains: [a, ""]\n    routes:\n      - matchers: [{ prefx: /x }]\n        directResponseAction: { status: 99 }\n      - matchers: [{ prefix: /a#b }, { regex: "(" }]\n        directResponseAction: { status: 200 }\n',
      ),
      [
        '6:18 EMPTY_DOMAIN spec.virtualHost.domains[1]',
        '8:22 UNKNOWN_KEY spec.virtualHost.routes[0].matchers[0].prefx',
        '9:41 OUT_OF_RANGE spec.virtualHost.routes[0].directResponseAction.status',
        '10:22 INVALID_PATH spec.virtualHost.routes[1].matchers[0].prefix',
        '10:47 BAD_REGEX spec.virtualHost.routes[1].matchers[1].regex',
      ],
    ],
    [
      'nothing else if a value has the wrong type',
      virtualService('    domains: ["", 5]\n'),
      ['6:19 WRONG_TYPE spec.virtualHost.domains[1]'],
    ],
    ['a single empty domain', virtualService("    domains: ['']\n"), ['6:15 EMPTY_DOMAIN spec.virtualHost.domains[0]']],
    [
      'paths of rewrites and redirects, and their queries',
      virtualService(
        [
          '    routes:',
          "      - { redirectAction: { prefixRewrite: '/w?fixed=1' }, matchers: [{ prefix: / }] }",
          "      - { redirectAction: { pathRedirect: '/w?a b' }, matchers: [{ prefix: / }] }",
          "      - { redirectAction: { prefixRewrite: '/w//x?fixed=1' }, matchers: [{ prefix: / }] }",
          "      - { redirectAction: { prefixRewrite: '/w?a#b' }, matchers: [{ prefix: / }] }",
        ].join('\n'),
      ),
      [
        '8:29 INVALID_PATH spec.virtualHost.routes[1].redirectAction.pathRedirect',
        '9:29 INVALID_PATH spec.virtualHost.routes[2].redirectAction.prefixRewrite',
        '10:29 INVALID_PATH spec.virtualHost.routes[3].redirectAction.prefixRewrite',
      ],
    ],
    [
      'a host that the request names, by default',
      virtualService(
        '    routes:\n      - matchers: [{ prefix: / }]\n        routeAction: { dynamicForwardProxy: {} }\n        options: { upgrades: [{ connectTerminate: { enabled: true } }] }\n',
      ),
      [],
    ],
    [
      'filters of access logs without a number',
      gateway(
        [
          '  bindPort: 8080',
          '  httpGateway: {}',
          '  options:',
          '    accessLoggingService:',
          '      accessLog:',
          '        - { fileSink: { path: /dev/stdout }, filter: { statusCodeFilter: { comparison: { value: { runtimeKey: a } } } } }',
          '        - { fileSink: { path: /dev/stdout }, filter: { durationFilter: { comparison: { value: {} } } } }',
        ].join('\n'),
      ),
      ['11:56 INVALID_ACCESS_LOG spec.options.accessLoggingService.accessLog[1].filter.durationFilter'],
    ],
    [
      'a matcher without a path',
      virtualService(
        '    routes:\n      - matchers:\n          - methods: [GET]\n        directResponseAction: { status: 200 }\n',
      ),
      ['8:13 INVALID_MATCHER spec.virtualHost.routes[0].matchers[0]'],
    ],
    [
      'a condition on a header whose regex does not compile',
      virtualService(
        '    routes:\n      - matchers:\n          - prefix: /\n            headers: [{ name: a, value: "(", regex: true }]\n        directResponseAction: { status: 200 }\n',
      ),
      ['9:34 INVALID_MATCHER spec.virtualHost.routes[0].matchers[0].headers[0].value'],
    ],
    [
      'weights with a sum of 0 in a weighted route',
      virtualService(
        '    routes:\n      - routeAction:\n          multi:\n            destinations: [{ destination: { upstream: { name: b } } }]\n',
      ),
      ['8:11 INVALID_ACTION spec.virtualHost.routes[0].routeAction.multi'],
    ],
    [
      'control characters in the value of a header',
      virtualService(
        '    options:\n      headerManipulation:\n        responseHeadersToAdd: [{ header: { key: a, value: "a\\r\\nb: c" } }]\n',
      ),
      ['8:52 INVALID_HEADER spec.virtualHost.options.headerManipulation.responseHeadersToAdd[0].header.value'],
    ],
    [
      'an added framing header, an unknown operator, and a single percent sign',
      virtualService(
        '    options:\n      headerManipulation:\n        requestHeadersToAdd:\n          - header: { key: Content-Length, value: "1" }\n          - header: { key: a, value: "%NOPE%" }\n          - header: { key: b, value: "%RESPONSE_CODE%" }\n          - header: { key: c, value: "50% of %REQ(x)%" }\n          - header: { key: d, value: "100%% of %REQ(X?Y):3%" }\n',
      ),
      [
        '9:23 INVALID_HEADER spec.virtualHost.options.headerManipulation.requestHeadersToAdd[0].header.key',
        '10:31 INVALID_HEADER spec.virtualHost.options.headerManipulation.requestHeadersToAdd[1].header.value',
        '11:31 INVALID_HEADER spec.virtualHost.options.headerManipulation.requestHeadersToAdd[2].header.value',
        '12:31 INVALID_HEADER spec.virtualHost.options.headerManipulation.requestHeadersToAdd[3].header.value',
      ],
    ],
    [
      'a static upstream without hosts, address or port',
      upstream('  static:\n    hosts:\n      - port: 80\n      - { addr: b, port: 1, loadBalancingWeight: 1 }\n'),
      ['7:9 INVALID_HOST spec.static.hosts[0]'],
    ],
    [
      'addresses that contain a port, a scheme, a path or brackets',
      upstream(
        "  static:\n    hosts:\n      - { addr: 'b:80', port: 80 }\n      - { addr: 'http://b', port: 80 }\n      - { addr: b/c, port: 80 }\n      - { addr: '[::1]', port: 80 }\n      - { addr: '::1', port: 80 }\n      - { addr: 'fe80::1%lo', port: 80 }\n",
      ),
      [0, 1, 2, 3].map((host) => `${7 + host}:11 INVALID_HOST spec.static.hosts[${host}].addr`),
    ],
    [
      'a health check that lacks its thresholds',
      upstream(
        '  static: { hosts: [{ addr: b, port: 1 }] }\n  healthChecks:\n    - { timeout: 1s, interval: 1s, healthyThreshold: 1, tcpHealthCheck: {} }\n',
      ),
      ['7:7 INVALID_HEALTH_CHECK spec.healthChecks[0]'],
    ],
    [
      'DNS settings if no host is a name',
      upstream('  static: { hosts: [{ addr: 10.0.0.1, port: 1 }] }\n  respectDnsTtl: true\n'),
      ['6:3 INVALID_UPSTREAM spec.respectDnsTtl'],
    ],
    ...[100, 103, 299, 430, 599].map((status): [string, string, string[]] => [
      `the status ${status}, which is not a valid final status`,
      settings(`{ statusOnError: ${status} }`),
      ['5:14 INVALID_EXT_AUTH spec.extauth.statusOnError'],
    ]),
    ...['20', '600', '-1', '403.5', '4294967699'].map((status): [string, string, string[]] => [
      `the status ${status}, which is not a status`,
      settings(`{ statusOnError: ${status} }`),
      [`5:29 ${status.includes('.') ? 'WRONG_TYPE' : 'OUT_OF_RANGE'} spec.extauth.statusOnError`],
    ]),
    [
      'external auth settings with a zero timeout, an invalid size, and a framing header',
      settings(
        '{ requestTimeout: 0s, requestBody: { maxRequestBytes: -1 }, userIdHeader: content-length, statusOnError: 503 }',
      ),
      [
        '5:14 INVALID_EXT_AUTH spec.extauth.requestTimeout',
        '5:66 OUT_OF_RANGE spec.extauth.requestBody.maxRequestBytes',
        '5:72 INVALID_EXT_AUTH spec.extauth.userIdHeader',
      ],
    ],
    [
      'external auth settings with an invalid timeout and a size above 32 bits',
      settings('{ requestTimeout: -1s, requestBody: { maxRequestBytes: 4294967296 } }'),
      ['5:30 BAD_DURATION spec.extauth.requestTimeout', '5:67 OUT_OF_RANGE spec.extauth.requestBody.maxRequestBytes'],
    ],
    [
      'the same in a listener',
      gateway('  bindPort: 80\n  httpGateway:\n    options:\n      extauth: { statusOnError: 599 }\n'),
      ['8:18 INVALID_EXT_AUTH spec.httpGateway.options.extauth.statusOnError'],
    ],
    ['a gateway without a type', gateway('  bindPort: 80\n'), ['4:1 INVALID_GATEWAY spec']],
    [
      'an early change of a protected header',
      gateway(
        '  bindPort: 80\n  httpGateway:\n    options:\n      httpConnectionManagerSettings:\n        earlyHeaderManipulation: { headersToRemove: [":path"] }\n',
      ),
      ['9:9 INVALID_HEADER spec.httpGateway.options.httpConnectionManagerSettings.earlyHeaderManipulation'],
    ],
  ];
  for (const [name, yaml, expected] of cases) {
    it(`reports ${name} with its position`, () => expect(issuesOf(yaml)).to.deep.equal(expected));
  }

  it('warns about a path matcher without a leading slash, and accepts the resource', () => {
    const routes = `    routes:
      - matchers: [{ prefix: nope }, { exact: cart }, { prefix: '' }, { prefix: /a }]
        directResponseAction: { status: 200 }`;
    const { resource, issues } = validateWritten(parseDocuments(virtualService(routes), 'a.yaml')[0]!);
    expect(resource).to.not.equal(undefined);
    expect(issues.map(({ severity, code, path, hint }) => [severity, code, formatPath(path), hint])).to.deep.equal([
      ['warning', 'UNMATCHABLE_PATH', 'spec.virtualHost.routes[0].matchers[0].prefix', 'did you mean /nope?'],
      ['warning', 'UNMATCHABLE_PATH', 'spec.virtualHost.routes[0].matchers[1].exact', 'did you mean /cart?'],
    ]);
  });

  it('warns about a method in lower case, which no request has, and accepts the resource', () => {
    const routes = `    routes:
      - matchers: [{ prefix: /, methods: [GET, get, Post, PROPFIND] }]
        directResponseAction: { status: 200 }`;
    const { resource, issues } = validateWritten(parseDocuments(virtualService(routes), 'a.yaml')[0]!);
    expect(resource).to.not.equal(undefined);
    expect(issues.map(({ severity, code, path, hint }) => [severity, code, formatPath(path), hint])).to.deep.equal([
      ['warning', 'UNMATCHABLE_METHOD', 'spec.virtualHost.routes[0].matchers[0].methods[1]', 'did you mean GET?'],
      ['warning', 'UNMATCHABLE_METHOD', 'spec.virtualHost.routes[0].matchers[0].methods[2]', 'did you mean POST?'],
    ]);
  });

  it('describes every code', () => {
    for (const text of Object.values(SEMANTIC_CODES)) expect(text).to.match(/^[A-Z].*\.$/);
  });
});
