import { expect } from 'chai';
import {
  grantedHeaderNames,
  isHeaderBytes,
  isHeaderName,
  isHeaderValue,
  isIdentityHeader,
} from '../../src/http/reserved-headers.ts';

describe('reserved headers', () => {
  for (const name of [
    'X-User-Id',
    'x_user_id',
    'AUTHORIZATION',
    'Cookie',
    'X-Forwarded-Anything',
    'x-envoy-peer',
    'TE',
  ])
    it(`reserves ${name}`, () => expect(isIdentityHeader(name)).to.equal(true));

  for (const name of ['x-page', 'user-agent', 'accept-language', 'api_key', 'x-trace'])
    it(`does not reserve ${name}`, () => expect(isIdentityHeader(name)).to.equal(false));

  for (const [text, isValue, isBytes] of [
    ['', true, true],
    ['a\tb ~', true, true],
    ['caf\u00e9 \u0080\u00ff', true, true],
    ['\u0100', true, false],
    ['\u20ac', true, false],
    ['a\r\nb', false, false],
    ['a\n', false, false],
    ['\u0000', false, false],
    ['\u007f', false, false],
  ] as const) {
    it(`tells whether ${JSON.stringify(text)} can be the value of a header, and its bytes`, () => {
      expect([isHeaderValue(text), isHeaderBytes(text)]).to.deep.equal([isValue, isBytes]);
    });
  }

  it('contains every header name that resources can set', () => {
    const specs = [
      {
        virtualHost: {
          options: { jwt: { providers: { a: { claimsToHeaders: [{ claim: 'org', header: 'X-Org' }] } } } },
        },
      },
      {
        configs: [
          { oauth2: { oidcAuthorizationCode: { headers: { idTokenHeader: 'jwt', accessTokenHeader: 'At' } } } },
        ],
      },
      { configs: [{ apiKeyAuth: { headerName: 'api-key', headersFromMetadata: { x_tier: { name: 'tier' } } } }] },
      { configs: [{ passThroughAuth: { http: { response: { allowedUpstreamHeaders: ['x-pass'] } } } }] },
      { extauth: { userIdHeader: 'x-who' } },
      { options: { headerManipulation: { requestHeadersToAdd: [{ header: { key: 'x-zone', value: 'a' } }] } } },
      undefined,
      { claimsToHeaders: 'text', requestHeadersToAdd: [null, {}], headersFromMetadata: null },
    ];
    expect([...grantedHeaderNames(specs)].sort()).to.deep.equal(
      ['at', 'jwt', 'x-org', 'x-pass', 'x-tier', 'x-who', 'x-zone'].sort(),
    );
  });
});

describe('isHeaderName', () => {
  it('accepts every character of a token', () => {
    expect(isHeaderName("!#$%&'*+-.^_`|~09azAZ")).to.equal(true);
  });

  for (const name of [
    '',
    ' ',
    'a b',
    'a:',
    ':path',
    'a\n',
    'a\r\nb',
    'a\0',
    'ä',
    'a/b',
    '"a"',
    '(a)',
    'a,b',
    'a;b',
    'a=b',
    '[a]',
    '{a}',
    'a@b',
  ])
    it(`rejects ${JSON.stringify(name)}`, () => expect(isHeaderName(name)).to.equal(false));
});
