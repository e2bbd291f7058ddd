import { expect } from 'chai';
import { optionText } from '../../src/explain/option-text.ts';

describe('text of an explained option', () => {
  const header = (key: string) => ({ header: { key, value: 'hunter2' } });
  const cases: [option: string, value: unknown, text: string][] = [
    ['extauth', { configRef: { name: 'login', namespace: 'gw-system' } }, 'AuthConfig gw-system/login'],
    ['extauth', { configRef: { name: 'login' } }, 'AuthConfig login'],
    ['extauth', { disable: true }, 'disabled'],
    ['extauth', { customAuth: { name: 'a', contextExtensions: { x: 'y' } } }, 'auth server a'],
    ['extauth', { customAuth: {} }, 'the auth server of the settings'],
    ['extauth', { customAuth: { name: 'a' }, disable: true }, 'disabled'],
    ['rateLimitConfigs', { refs: [{ name: 'a', namespace: 'team' }] }, 'RateLimitConfig team/a'],
    ['rateLimitEarlyConfigs', { refs: [{ name: 'a' }, { name: 'b' }] }, 'RateLimitConfigs a, b'],
    ['rateLimitRegularConfigs', { refs: [] }, '{"refs":[]}'],
    [
      'ratelimitBasic',
      {
        anonymousLimits: { requestsPerUnit: 1, unit: 'SECOND' },
        authorizedLimits: { requestsPerUnit: 9, unit: 'DAY' },
      },
      '1 per SECOND for each address without a user, 9 per DAY for each user',
    ],
    [
      'ratelimitBasic',
      { anonymousLimits: { requestsPerUnit: 1, unit: 'DAY', burst: 2 } },
      '{"anonymousLimits":{"requestsPerUnit":1,"unit":"DAY","burst":2}}',
    ],
    ['rbac', { policies: { viewer: {}, admin: {} } }, 'policies viewer, admin'],
    ['rbac', { policies: { viewer: {} } }, 'policy viewer'],
    ['rbac', { disable: true }, 'disabled'],
    ['rbac', { policies: {} }, '{"policies":{}}'],
    [
      'headerManipulation',
      { requestHeadersToRemove: ['x-a'], requestHeadersToAdd: [header('x-b'), header('x-c')] },
      'removes x-a; adds x-b, x-c',
    ],
    [
      'headerManipulation',
      { responseHeadersToRemove: ['x-a'], responseHeadersToAdd: [header('x-b')] },
      'removes from the response x-a; adds to the response x-b',
    ],
    [
      'headerManipulation',
      { requestHeadersToAdd: [{ headerSecretRef: { name: 'key', namespace: 'gw-system' } }] },
      'adds the headers of Secret gw-system/key',
    ],
    ['headerManipulation', {}, '{}'],
    [
      'jwtStaged.afterExtAuth',
      { providers: { main: { issuer: 'https://id.example' } } },
      'provider main (https://id.example)',
    ],
    [
      'stagedTransformations.early',
      {
        requestTransforms: [
          {
            requestTransformation: {
              transformationTemplate: {
                passthrough: {},
                extractors: { token: { header: 'cookie', regex: '(?:.*; *)?id_token=([^;]*)', subgroup: 1 } },
                headers: { jwt: { text: '{{ token }}' } },
              },
            },
          },
        ],
      },
      'of the request: passthrough, extractors token, headers jwt',
    ],
    [
      'cors',
      { allowOrigin: ['https://one.example', 'https://two.example'], allowMethods: ['GET', 'POST'], maxAge: '1h' },
      'allowOrigin (2), allowMethods (2), maxAge',
    ],
    ['timeout', '2s', '"2s"'],
    ['retries', { numRetries: 3 }, '{"numRetries":3}'],
  ];
  for (const [option, value, text] of cases) {
    it(`shows ${option} ${JSON.stringify(value)} as ${text}`, () => {
      expect(optionText(option, value)).to.equal(text);
    });
  }
});
