import { expect } from 'chai';
import { linesOf, resource, route, unmark } from './written.ts';

const WHO = 'RouteTable ns/x  spec.routes[0]';
const DIRECT = 'directResponseAction: {status: 200}';

/** Each class of bad field: what is written, with `^^` before the place of the problem, and what is printed of it. */
const CASES: [name: string, yaml: string, line: string][] = [
  [
    'a misspelt key',
    route(`{${DIRECT}, options: {^^prefixRewrit: /}}`),
    `${WHO}.options.prefixRewrit  unknown key prefixRewrit  (did you mean prefixRewrite?)`,
  ],
  [
    'a key in the wrong case',
    route(`{${DIRECT}, options: {^^prefixrewrite: /}}`),
    `${WHO}.options.prefixrewrite  unknown key prefixrewrite  (did you mean prefixRewrite?)`,
  ],
  [
    'a key unlike any other',
    route(`{${DIRECT}, optionsConfigRefs: {^^zzzzz: 1}}`),
    `${WHO}.optionsConfigRefs.zzzzz  unknown key zzzzz  (known: delegateOptions)`,
  ],
  [
    'a key that belongs one level up',
    route(`{${DIRECT}, options: {^^matchers: []}}`),
    `${WHO}.options.matchers  matchers does not belong here  (it belongs in spec.routes[0])`,
  ],
  [
    'a key that belongs one level below',
    route(`{${DIRECT}, ^^timeout: 5s}`),
    `${WHO}.timeout  timeout does not belong here  (it belongs in spec.routes[0].options)`,
  ],
  [
    'a key that belongs beside its block',
    route('{routeAction: {single: {upstream: {name: u}}, ^^prefixRewrite: /}}'),
    `${WHO}.routeAction.prefixRewrite  prefixRewrite does not belong here  (it belongs in spec.routes[0].options)`,
  ],
  [
    'a list where an object is wanted',
    route(`{${DIRECT}, options: ^^[a]}`),
    `${WHO}.options  must be an object, got a list`,
  ],
  ['a text where a list is wanted', route(`{${DIRECT}, matchers: ^^/a}`), `${WHO}.matchers  must be a list, got text`],
  [
    'a number where a text is wanted',
    route('{matchers: [{prefix: ^^5}], directResponseAction: {status: 200}}'),
    `${WHO}.matchers[0].prefix  must be text, got a number`,
  ],
  [
    'a text where a truth value is wanted',
    route(`{${DIRECT}, inheritableMatchers: ^^"yes"}`),
    `${WHO}.inheritableMatchers  must be true or false, got text`,
  ],
  [
    'a text where a number is wanted',
    route('{directResponseAction: {status: ^^"200"}}'),
    `${WHO}.directResponseAction.status  must be a whole number, got text`,
  ],
  [
    'a fraction where a whole number is wanted',
    route('{directResponseAction: {status: ^^200.5}}'),
    `${WHO}.directResponseAction.status  must be a whole number, got a fraction`,
  ],
  [
    'a redirect to a host with a path',
    route(`{matchers: [{prefix: /}], redirectAction: {^^hostRedirect: a.example/b}}`),
    `${WHO}.redirectAction.hostRedirect  invalid host 'a.example/b': use a name or an IP address, optionally with a port`,
  ],
  [
    'an element without a value',
    route(`{${DIRECT}, options: {upgrades: [^^null]}}`),
    `${WHO}.options.upgrades[0]  must be an object, got empty  (leave it out, or give it a value)`,
  ],
  [
    'a number instead of a duration',
    route(`{${DIRECT}, options: {timeout: ^^5}}`),
    `${WHO}.options.timeout  must be text, got a number  (a duration, for example 5s)`,
  ],
  [
    'a bad duration',
    route(`{${DIRECT}, options: {timeout: ^^5 sec}}`),
    `${WHO}.options.timeout  "5 sec" is not a duration  (for example 5s, 0.25s, 500ms, 1h30m)`,
  ],
  [
    'a negative duration',
    route(`{${DIRECT}, options: {timeout: ^^-5s}}`),
    `${WHO}.options.timeout  "-5s" is negative  (for example 5s, 0.25s, 500ms, 1h30m)`,
  ],
  [
    'a bad enum',
    route('{redirectAction: {responseCode: ^^FUND}}'),
    `${WHO}.redirectAction.responseCode  FUND is not allowed  (did you mean FOUND? one of MOVED_PERMANENTLY, FOUND, SEE_OTHER, TEMPORARY_REDIRECT, PERMANENT_REDIRECT)`,
  ],
  [
    'an enum by a number that it does not have',
    route('{redirectAction: {responseCode: ^^302}}'),
    `${WHO}.redirectAction.responseCode  302 is not allowed  (one of MOVED_PERMANENTLY, FOUND, SEE_OTHER, TEMPORARY_REDIRECT, PERMANENT_REDIRECT)`,
  ],
  [
    'an enum of the wrong type',
    route('{redirectAction: {responseCode: ^^[FOUND]}}'),
    `${WHO}.redirectAction.responseCode  must be one of MOVED_PERMANENTLY, FOUND, SEE_OTHER, TEMPORARY_REDIRECT, PERMANENT_REDIRECT (got a list)`,
  ],
  [
    'a bad regular expression',
    route(`{matchers: [{regex: ^^"/a(b"}], ${DIRECT}}`),
    `${WHO}.matchers[0].regex  not a valid RE2 expression: missing closing ), at offset 2`,
  ],
  [
    'a regular expression with what RE2 does not have',
    route(`{matchers: [{regex: ^^"/a(?=b)"}], ${DIRECT}}`),
    `${WHO}.matchers[0].regex  not a valid RE2 expression: invalid or unsupported Perl syntax: (?=, at offset 2`,
  ],
  [
    'a substitution with a group too many',
    route('{redirectAction: {regexRewrite: {pattern: {regex: "/(a)"}, substitution: ^^"/\\\\2"}}}'),
    `${WHO}.redirectAction.regexRewrite.substitution  \\2 refers to a group that the expression does not have  (it has 1)`,
  ],
  [
    'two members of a oneof',
    route(`{matchers: [{prefix: /a, ^^exact: /b}], ${DIRECT}}`),
    `${WHO}.matchers[0].exact  exact cannot be set together with prefix  (only one of prefix, exact, regex, connectMatcher)`,
  ],
  [
    'two actions of a route',
    route(`{redirectAction: {hostRedirect: a}, ^^${DIRECT}}`),
    `${WHO}.directResponseAction  directResponseAction cannot be set together with redirectAction  (only one of routeAction, redirectAction, directResponseAction, delegateAction, graphqlApiRef)`,
  ],
  [
    'none of a required oneof',
    route('^^{name: a}'),
    `${WHO}  route must specify an action  (one of routeAction, redirectAction, directResponseAction, delegateAction, graphqlApiRef)`,
  ],
  [
    'a number below its bound',
    route('{directResponseAction: {status: ^^99}}'),
    `${WHO}.directResponseAction.status  must be at least 200 and at most 599, got 99`,
  ],
  [
    'a number above its bound',
    resource('Gateway', '{bindPort: ^^70000, httpGateway: {}}'),
    'Gateway ns/x  spec.bindPort  must be at least 0 and at most 65535, got 70000',
  ],
  [
    'one field in both spellings',
    route(`{${DIRECT}, options: {prefixRewrite: /, ^^prefix_rewrite: /a}}`),
    `${WHO}.options.prefix_rewrite  prefix_rewrite and prefixRewrite have different values  (write prefixRewrite only)`,
  ],
  [
    'a block beside options that differs from the one inside',
    route(
      `{${DIRECT}, ^^headerManipulation: {requestHeadersToRemove: [a]}, options: {headerManipulation: {requestHeadersToRemove: [b]}}}`,
    ),
    `${WHO}.headerManipulation  headerManipulation and options.headerManipulation have different values  (write options.headerManipulation only)`,
  ],
  [
    'a member of a choice that is false',
    route(`{${DIRECT}, options: {hostRewrite: a, ^^autoHostRewrite: false}}`),
    `${WHO}.options.autoHostRewrite  autoHostRewrite cannot be set together with hostRewrite  (only one of hostRewrite, autoHostRewrite, hostRewriteHeader, hostRewritePathRegex)`,
  ],
  [
    'a spec that is not an object',
    resource('RouteTable', '^^[]'),
    'RouteTable ns/x  spec  must be an object, got a list',
  ],
  [
    'a required field that is missing',
    resource('AuthConfig', '{booleanExpr: a}', 'enterprise.gw.vendor.io/v1').replace('spec:', '^^spec:'),
    'AuthConfig ns/x  spec  configs is missing',
  ],
  [
    'a field of the spec beside it',
    `${resource('RouteTable', '{}')}^^weight: 1\n`,
    'RouteTable ns/x  weight  weight does not belong here  (it belongs in spec)',
  ],
  [
    'an unknown key beside the spec',
    `${resource('RouteTable', '{}')}^^sepc: {}\n`,
    'RouteTable ns/x  sepc  unknown key sepc  (did you mean spec?)',
  ],
];

describe('an invalid field', () => {
  for (const [name, yaml, line] of CASES) {
    it(`is reported with its position: ${name}`, () => {
      const { text, place } = unmark(yaml);
      const lines = linesOf(text).filter((each) => !each.includes('not supported yet'));
      expect(lines).deep.equal([`${place}  ${line}`]);
    });
  }

  it('does not hide the others: one run reports all, in document order', () => {
    const yaml = resource(
      'RouteTable',
      '{routes: [{nam: a}, {matchers: [{prefix: 1}], options: {timeout: x}}], weight: a}',
    );
    expect(linesOf(yaml).map((line) => line.split('  ')[2])).deep.equal([
      'spec.routes[0]',
      'spec.routes[0].nam',
      'spec.routes[1]',
      'spec.routes[1].matchers[0].prefix',
      'spec.routes[1].options.timeout',
      'spec.weight',
    ]);
  });

  it('is reported at its original position inside moved or renamed fields', () => {
    const { text, place } = unmark(route(`{${DIRECT}, header_manipulation: {request_headers_to_remove: [^^5]}}`));
    expect(linesOf(text)).deep.equal([
      `${place}  ${WHO}.header_manipulation.request_headers_to_remove[0]  must be text, got a number`,
    ]);
  });
});
