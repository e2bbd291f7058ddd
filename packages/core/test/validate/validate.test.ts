import { expect } from 'chai';
import { parseDocuments } from '../../src/parse/parse.ts';
import type { SecretSpec } from '../../src/schema/kind/secret.ts';
import { validateWritten } from '../../src/validate/validate.ts';
import { linesOf, resource, route, unmark, validate } from './written.ts';

/** The spec of a resource that has to be accepted, apart from warnings. */
function specOf(yaml: string): unknown {
  const { resource: accepted, issues } = validate(yaml);
  expect(issues.filter(({ severity }) => severity === 'error')).deep.equal([]);
  return accepted?.spec;
}

describe('validateWritten', () => {
  it('returns the resource, its key and its origin', () => {
    const {
      resource: accepted,
      key,
      issues,
    } = validate(
      '# pets\napiVersion: gateway.vendor.io/v1\nkind: VirtualService\nmetadata:\n  name: pets\n  labels: {team: a}\n  uid: x\nspec: {displayName: Pets}\nstatus: {anything: 1}\n',
    );
    expect(issues).deep.equal([]);
    expect(key).equal('VirtualService/gw-system/pets');
    expect(accepted).deep.equal({
      apiVersion: 'gateway.vendor.io/v1',
      kind: 'VirtualService',
      metadata: { name: 'pets', namespace: 'gw-system', labels: { team: 'a' } },
      spec: { displayName: 'Pets' },
      origin: { file: 'a.yaml', line: 2, column: 1 },
    });
  });

  it('freezes its output and does not change its input', () => {
    const yaml = resource('Upstream', '{static: {hosts: [{addr: a, port: 1}]}}', 'gw.vendor.io/v1');
    const written = parseDocuments(yaml, 'a.yaml')[0]!;
    const before = JSON.stringify(written.value);
    const spec = validateWritten(written).resource!.spec as { static: { hosts: object[] } };
    expect([spec, spec.static, spec.static.hosts, spec.static.hosts[0]].every(Object.isFrozen)).equal(true);
    expect(JSON.stringify(written.value)).equal(before);
    expect(Object.isFrozen(written.value)).equal(false);
  });

  it('treats a missing spec as empty', () => {
    expect(specOf('apiVersion: settings.gw.vendor.io/v1\nkind: Settings\nmetadata: {name: default}\n')).deep.equal({});
  });

  it('ignores statuses in the old place', () => {
    expect(specOf(resource('RouteTable', '{namespacedStatuses: {statuses: {}}, weight: 1}'))).deep.equal({ weight: 1 });
  });

  it('includes the problems of parsing the document', () => {
    const { resource: accepted, issues } = validate(`${resource('RouteTable', '{}')}kind: Upstream\n`);
    expect(accepted).equal(undefined);
    expect(issues.map(({ code }) => code)).deep.equal(['DUPLICATE_KEY']);
  });

  it('assigns an unreadable document to the resource that it seems to be', () => {
    const { key } = validate(
      'apiVersion: gateway.vendor.io/v1\nkind: RouteTable\nmetadata:\n  name: x\n  namespace: ns\nspec:\n\tweight: 1\n',
    );
    expect(key).equal('RouteTable/ns/x');
  });
});

describe('validateWritten normalizes', () => {
  it('enums by number', () => {
    const yaml = route('{redirectAction: {responseCode: 4}}');
    expect(specOf(yaml)).deep.equal({ routes: [{ redirectAction: { responseCode: 'PERMANENT_REDIRECT' } }] });
    const tls = resource(
      'VirtualService',
      '{sslConfig: {parameters: {minimumProtocolVersion: 3, maximumProtocolVersion: TLSv1_3}}}',
    );
    expect(specOf(tls)).deep.equal({
      sslConfig: { parameters: { minimumProtocolVersion: 'TLSv1_2', maximumProtocolVersion: 'TLSv1_3' } },
    });
  });

  it('keys in snake_case, except user-defined ones', () => {
    const yaml = resource('Gateway', '{bind_port: 80, http_gateway: {virtual_service_selector: {my_label: a}}}');
    expect(specOf(yaml)).deep.equal({ bindPort: 80, httpGateway: { virtualServiceSelector: { my_label: 'a' } } });
  });

  it('header manipulation beside options', () => {
    const headers = 'headerManipulation: {requestHeadersToRemove: [a]}';
    const inside = { options: { headerManipulation: { requestHeadersToRemove: ['a'] } } };
    const direct = { directResponseAction: { status: 200 } };
    expect(specOf(route(`{directResponseAction: {status: 200}, ${headers}}`))).deep.equal({
      routes: [{ ...direct, ...inside }],
    });
    expect(specOf(resource('VirtualService', `{virtualHost: {${headers}}}`))).deep.equal({ virtualHost: inside });
    const both = `{directResponseAction: {status: 200}, ${headers}, options: {timeout: 1s, ${headers}}}`;
    expect(specOf(route(both))).deep.equal({
      routes: [{ ...direct, options: { timeout: '1s', ...inside.options } }],
    });
  });

  it('secrets: text becomes base64 and overrides data', () => {
    const yaml =
      'apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ntype: Opaque\ndata: {a: YQ==, b: Yg==}\nstringData: {b: c, d: "é"}\n';
    expect(specOf(yaml)).deep.equal({ type: 'Opaque', data: { a: 'YQ==', b: 'Yw==', d: 'w6k=' } } satisfies SecretSpec);
    expect(specOf('apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n')).deep.equal({ type: 'Opaque', data: {} });
  });
});

describe('validateWritten accepts', () => {
  const shapes: [name: string, yaml: string][] = [
    [
      'Settings of the settings group',
      resource('Settings', '{gw: {regexMaxProgramSize: 1}}', 'settings.gw.vendor.io/v1'),
    ],
    [
      'Settings of the other group',
      resource('Settings', '{gateway: {validation: {warnRouteShortCircuiting: true}}}', 'gw.vendor.io/v1'),
    ],
    [
      'a Secret with annotations',
      'apiVersion: v1\nkind: Secret\nmetadata: {name: s, annotations: {a: b}, resourceVersion: "1", creationTimestamp: null}\n',
    ],
    ['a ConfigMap', 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: s}\ndata: {a: b}\n'],
    ['a name with dots', 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a.b-1.c}\n'],
    [
      'an access log filter within filters',
      resource(
        'Gateway',
        '{bindPort: 1, httpGateway: {}, options: {accessLoggingService: {accessLog: [{fileSink: {path: /dev/stdout, jsonFormat: {a: "%REQ(A)%"}}, filter: {andFilter: {filters: [{orFilter: {filters: [{notHealthCheckFilter: {}}, {responseFlagFilter: {}}]}}, {statusCodeFilter: {comparison: {op: 1, value: {defaultValue: 400}}}}]}}}]}}}',
      ),
    ],
    [
      'a weight of zero',
      route(
        '{routeAction: {multi: {destinations: [{destination: {upstream: {name: u}}, weight: 0}, {destination: {upstream: {name: v}}, weight: 1}]}}}',
      ),
    ],
    [
      'delegation by selector',
      route('{delegateAction: {selector: {namespaces: ["*"], expressions: [{key: a, operator: In, values: [b]}]}}}'),
    ],
    [
      'fields in YAML anchors',
      'apiVersion: gateway.vendor.io/v1\nkind: RouteTable\nmetadata: {name: x}\nspec:\n  routes:\n  - &r {directResponseAction: {status: 200}}\n  - *r\n',
    ],
    ['durations in every form', route('{directResponseAction: {status: 200}, options: {timeout: 1h2m3.5s}}')],
    [
      'a List of resources',
      `apiVersion: v1\nkind: List\nitems:\n- ${JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } })}\n`,
    ],
  ];
  for (const [name, yaml] of shapes) it(name, () => expect(linesOf(yaml)).deep.equal([]));
});

describe('validateWritten on fields without support', () => {
  it('warns about those without effect once each, and keeps the resource', () => {
    const { text, place } = unmark(resource('Settings', '{^^vaultSecretSource: {address: a}}', 'gw.vendor.io/v1'));
    const { resource: accepted, issues } = validate(text);
    expect(accepted).not.equal(undefined);
    expect(issues.map(({ code, severity, origin }) => [code, severity, `${origin.line}:${origin.column}`])).deep.equal([
      ['NOT_SUPPORTED_YET', 'warning', place],
    ]);
  });

  it('warns about those that are not planned', () => {
    const yaml = resource('Upstream', '{ai: {openai: {}}}', 'gw.vendor.io/v1');
    const { resource: accepted, issues } = validate(yaml);
    expect(accepted).not.equal(undefined);
    expect(issues.map(({ code, severity, message }) => [code, severity, message])).deep.equal([
      ['NOT_SUPPORTED', 'warning', 'ai is not supported'],
    ]);
  });

  it('does not warn about the fields of those', () => {
    const yaml = resource('Upstream', '{consul: {serviceSpec: {grpc: {}}}}', 'gw.vendor.io/v1');
    const unsupported = validate(yaml).issues.filter(({ code }) => code.startsWith('NOT_SUPPORTED'));
    expect(unsupported.map(({ path }) => path)).deep.equal([['spec', 'consul']]);
  });

  it('rejects security fields', () => {
    const yaml = resource('VirtualService', '{virtualHost: {options: {waf: {ruleSets: []}}}}');
    const { resource: accepted, key, issues } = validate(yaml);
    expect(accepted).equal(undefined);
    expect(key).equal('VirtualService/ns/x');
    expect(issues.map(({ code, severity }) => [code, severity])).deep.equal([
      ['SECURITY_FIELD_NOT_SUPPORTED', 'error'],
    ]);
    expect(issues[0]!.message).include('waf');
  });

  it('ignores a field with its default value', () => {
    const upstream = (flag: boolean) =>
      resource(
        'Upstream',
        `{connectionConfig: {http1ProtocolOptions: {overrideStreamErrorOnInvalidHttpMessage: ${flag}}}, static: {hosts: [{addr: a, port: 1}]}}`,
        'gw.vendor.io/v1',
      );
    expect(linesOf(upstream(false))).deep.equal([]);
    expect(linesOf(upstream(true))).length(1);
  });
});

describe('validateWritten on identity', () => {
  const META = 'metadata: {name: x, namespace: ns}\n';
  const cases: [name: string, yaml: string, line: string][] = [
    [
      'an unknown kind',
      `apiVersion: gateway.vendor.io/v1\nkind: ^^VirtualServise\n${META}`,
      'VirtualServise ns/x  kind  unknown kind VirtualServise  (did you mean VirtualService?)',
    ],
    [
      'a kind in the wrong case',
      `apiVersion: gateway.vendor.io/v1\nkind: ^^upstream\n${META}`,
      'upstream ns/x  kind  unknown kind upstream  (did you mean Upstream?)',
    ],
    [
      'an unknown apiVersion',
      `apiVersion: ^^gateway.vendor.io/v2\nkind: VirtualService\n${META}`,
      'VirtualService ns/x  apiVersion  unknown apiVersion gateway.vendor.io/v2 for VirtualService  (did you mean gateway.vendor.io/v1?)',
    ],
    [
      'the apiVersion of another kind',
      `apiVersion: ^^gw.vendor.io/v1\nkind: VirtualService\n${META}`,
      'VirtualService ns/x  apiVersion  unknown apiVersion gw.vendor.io/v1 for VirtualService  (did you mean gateway.vendor.io/v1?)',
    ],
    [
      'no apiVersion',
      `^^kind: Settings\n${META}`,
      'Settings ns/x  apiVersion is missing  (settings.gw.vendor.io/v1 or gw.vendor.io/v1)',
    ],
    ['no kind', `^^apiVersion: v1\n${META}`, 'kind is missing'],
    ['no metadata', '^^apiVersion: v1\nkind: ConfigMap\n', 'ConfigMap gw-system/(no name)  metadata.name is missing'],
    [
      'no name',
      'apiVersion: v1\nkind: ConfigMap\n^^metadata: {namespace: ns}\n',
      'ConfigMap ns/(no name)  metadata  metadata.name is missing',
    ],
    [
      'a name with an underscore',
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ^^a_b}\n',
      'ConfigMap gw-system/a_b  metadata.name  "a_b" is not a valid name  (lower case letters, digits, - and ., at most 253, e.g. my-service)',
    ],
    [
      'a name that is a number',
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ^^5}\n',
      'ConfigMap gw-system/(no name)  metadata.name  a name must be text  (lower case letters, digits, - and ., at most 253, e.g. my-service)',
    ],
    [
      'a name with a path',
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ^^../../etc}\n',
      'ConfigMap gw-system/../../etc  metadata.name  "../../etc" is not a valid name  (lower case letters, digits, - and ., at most 253, e.g. my-service)',
    ],
    [
      'a namespace with a dot',
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: ^^a.b}\n',
      'ConfigMap a.b/a  metadata.namespace  "a.b" is not a valid namespace  (lower case letters, digits and -, at most 63)',
    ],
    [
      'a label that is a number',
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, labels: {v: ^^1}}\n',
      'ConfigMap gw-system/a  metadata.labels.v  must be text, got a number  (put it in quotes)',
    ],
  ];
  for (const [name, yaml, line] of cases) {
    it(`rejects ${name}`, () => {
      const { text, place } = unmark(yaml);
      expect(linesOf(text)).deep.equal([`${place}  ${line}`]);
      expect(validate(text).resource).equal(undefined);
    });
  }

  it('returns no key for an invalid name', () => {
    expect(validate('apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a_b}\n').key).equal(undefined);
  });

  it('rejects documents that are not objects', () => {
    for (const yaml of ['5\n', 'text\n', '- a\n', 'null\n']) {
      const { resource: accepted, key, issues } = validate(yaml);
      expect([accepted, key]).deep.equal([undefined, undefined]);
      expect(issues).length(1);
    }
  });
});

describe('validateWritten on hostile documents', () => {
  it('never puts a value of a secret into a message', () => {
    const yaml =
      'apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata: {a: hunter2!, b: 4711}\nstringData: {c: 4711, d: [hunter2]}\n';
    const text = linesOf(yaml).join('\n');
    expect(linesOf(yaml)).length(3);
    expect(text).not.match(/hunter2|4711/);
    expect(linesOf('apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata: {a: hunter2!}\n')[0])
      .match(/a is not base64/)
      .not.match(/hunter2/);
  });

  it('does not set a prototype from a key', () => {
    for (const kind of [
      'spec: {"__proto__": {weight: 1}}',
      'spec: {routes: [{"__proto__": {name: a}, directResponseAction: {}}]}',
    ]) {
      const { resource: accepted, issues } = validate(
        `apiVersion: gateway.vendor.io/v1\nkind: RouteTable\nmetadata: {name: x}\n${kind}\n`,
      );
      expect(accepted).equal(undefined);
      expect(issues).not.length(0);
    }
    expect(({} as Record<string, unknown>)['weight']).equal(undefined);
    const labels = resource(
      'Gateway',
      '{bindPort: 1, httpGateway: {virtualServiceSelector: {"__proto__": a, constructor: b}}}',
    );
    expect(linesOf(labels).join()).include('__proto__ cannot be a key');
  });

  it('reports problems beyond the schema at their position', () => {
    const { text, place } = unmark(
      route('{directResponseAction: {status: 200}, header_manipulation: {request_headers_to_remove: [^^Host]}}'),
    );
    expect(linesOf(text).map((line) => line.split('  ', 1)[0])).deep.equal([place]);
  });

  it('does not treat names of object methods as fields', () => {
    expect(linesOf(resource('RouteTable', '{constructor: 1, toString: 2, hasOwnProperty: 3}'))).length(3);
    expect(linesOf('apiVersion: v1\nkind: constructor\nmetadata: {name: x}\n')[0]).include('unknown kind constructor');
  });

  it('reports at most a thousand problems per document', () => {
    const keys = Array.from({ length: 5000 }, (_, i) => `k${i}: 1`).join(', ');
    const { resource: accepted, issues } = validate(resource('RouteTable', `{${keys}}`));
    expect(accepted).equal(undefined);
    expect(issues).length(1000);
  });

  it('stays fast and brief on a long unknown key', () => {
    const [issue] = validate(resource('RouteTable', `{${'x'.repeat(100_000)}: 1}`)).issues;
    expect(issue!.message.length + issue!.hint!.length).lessThan(200);
  });
});

describe('a key with an empty value', () => {
  const service = (route: string, host = ''): string => `apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: shop, labels: { team: }, annotations: }
spec:
  sslConfig:
  virtualHost:
    domains: ['*']
    ${host}
    routes:
      - ${route}
status:
`;
  const direct = 'directResponseAction: { status: 200, body: }';

  it('counts as absent at every level', () => {
    const { resource, issues } = validate(service(`{ matchers: [{ prefix: / }], options: , ${direct} }`, 'options:'));
    expect(issues).to.deep.equal([]);
    expect(resource!.metadata).to.deep.equal({ name: 'shop', namespace: 'gw-system', labels: {} });
    expect(resource!.spec).to.deep.equal({
      virtualHost: {
        domains: ['*'],
        routes: [{ matchers: [{ prefix: '/' }], directResponseAction: { status: 200 } }],
      },
    });
  });

  it('counts as absent in JSON, in lists of blocks, in maps, beside another spelling and beside options', () => {
    const text = JSON.stringify({
      apiVersion: 'gateway.vendor.io/v1',
      kind: 'RouteTable',
      metadata: { name: 'r', namespace: null },
      spec: {
        weight: null,
        routes: [
          {
            matchers: [{ prefix: '/', exact: null, headers: null, query_parameters: null, queryParameters: [] }],
            options: { timeout: null, prefix_rewrite: '/a', prefixRewrite: null, headerManipulation: null },
            headerManipulation: { requestHeadersToRemove: ['x-a'] },
            redirectAction: null,
            routeAction: { single: { upstream: { name: 'a', namespace: null }, kube: null } },
          },
        ],
      },
    });
    const [written] = parseDocuments(text, 'a.json');
    const { resource, issues } = validateWritten(written!);
    expect(issues).to.deep.equal([]);
    expect((resource!.spec as { routes: object[] }).routes).to.deep.equal([
      {
        matchers: [{ prefix: '/', queryParameters: [] }],
        options: { prefixRewrite: '/a', headerManipulation: { requestHeadersToRemove: ['x-a'] } },
        routeAction: { single: { upstream: { name: 'a' } } },
      },
    ]);
  });

  it('counts as absent if the block in options has a value', () => {
    const headers = 'headerManipulation: {requestHeadersToRemove: [a]}';
    const { resource, issues } = validate(service(`{ ${direct}, headerManipulation: null, options: {${headers}} }`));
    expect(issues).to.deep.equal([]);
    const { virtualHost } = resource!.spec as { virtualHost: { routes: { options: object }[] } };
    expect(virtualHost.routes[0]!.options).to.deep.equal({ headerManipulation: { requestHeadersToRemove: ['a'] } });
  });

  it('leaves a required field missing', () => {
    const codes = (yaml: string): string[] => validate(yaml).issues.map(({ code, message }) => `${code} ${message}`);
    expect(codes(service('{ matchers: [{ prefix: / }], directResponseAction: }'))[0]).to.match(/^ONEOF_MISSING /);
    expect(codes('kind:\napiVersion: gw.vendor.io/v1\nmetadata: { name: a }\n')).to.deep.equal([
      'MISSING_FIELD kind is missing',
    ]);
    expect(
      codes('kind: Upstream\napiVersion:\nmetadata:\nspec: { static: { hosts: [] } }\n').slice(0, 2),
    ).to.deep.equal(['MISSING_FIELD apiVersion is missing', 'MISSING_FIELD metadata.name is missing']);
    expect(
      codes('kind: Upstream\napiVersion: gw.vendor.io/v1\nmetadata: { name: }\nspec: { static: { hosts: [] } }\n')[0],
    ).to.equal('MISSING_FIELD metadata.name is missing');
    expect(codes('kind: Upstream\napiVersion: gw.vendor.io/v1\nmetadata: { name: a }\nspec:\n')).to.have.length(1);
  });

  it('is unknown if the key is, and invalid as an element of a list', () => {
    const codes = (yaml: string): string[] => validate(yaml).issues.map(({ code }) => code);
    expect(codes(service(`{ matchers: [{ prefix: / }], optins: , ${direct} }`))).to.deep.equal(['UNKNOWN_KEY']);
    expect(codes(service(`{ matchers: [{ prefix: / }, null], ${direct} }`))).to.deep.equal(['WRONG_TYPE']);
  });
});
