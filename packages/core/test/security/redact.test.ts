import { expect } from 'chai';
import { hiddenLiterals, redact } from '../../src/index.ts';
import { containsSecrets } from '../../src/security/redact.ts';

describe('redact', () => {
  it('hides the values of a Secret and keeps the names of its keys', () => {
    const secret = { kind: 'Secret', data: { 'tls.key': 'a2V5', other: 'eA==' }, stringData: { token: 't' } };
    expect(redact([secret])).to.deep.equal([
      {
        kind: 'Secret',
        data: { 'tls.key': '<redacted>', other: '<redacted>' },
        stringData: { token: '<redacted>' },
      },
    ]);
  });

  it('hides the secret fields inside other resources and nothing else', () => {
    const config = {
      kind: 'AuthConfig',
      spec: { users: { ann: { salt: 's', hashedPassword: 'h' } }, clientSecretRef: { name: 'x' } },
    };
    expect(redact(config)).to.deep.equal({
      kind: 'AuthConfig',
      spec: { users: { ann: { salt: '<redacted>', hashedPassword: '<redacted>' } }, clientSecretRef: { name: 'x' } },
    });
  });

  it('finds secrets only where it hides a value', () => {
    expect(containsSecrets({ kind: 'Secret', data: { a: 'eA==' } })).to.equal(true);
    expect(containsSecrets([{ url: 'https://u:p@a.test/' }, { url: 'https://a.test/' }])).to.equal(true);
    expect(containsSecrets({ kind: 'Secret', data: {} })).to.equal(false);
    const adding = (key: string) => ({
      headerManipulation: { requestHeadersToAdd: [{ header: { key, value: 'v' } }] },
    });
    expect(containsSecrets(adding('authorization')), 'a credential').to.equal(true);
    expect(containsSecrets(adding('x-plan')), 'any other header').to.equal(false);
    expect(containsSecrets({ kind: 'Upstream', spec: { hosts: [{ addr: 'a.test', port: 80 }] } })).to.equal(false);
  });

  it('hides credentials in an address', () => {
    const config = {
      kind: 'AuthConfig',
      spec: { host: 'rediss://u:p@redis:6379', url: 'https://auth.example.com/?key=k' },
    };
    expect(redact(config).spec).to.deep.equal({
      host: 'rediss://<redacted>@redis:6379',
      url: 'https://auth.example.com/?key=<redacted>',
    });
  });

  it('shows the public part of keys and hides the private one', () => {
    const inline = (key: string) => redact({ jwks: { local: { key } } }).jwks.local.key;
    const rsa = { kty: 'RSA', n: 'AQAB', e: 'AQAB' };
    expect(JSON.parse(inline(JSON.stringify({ keys: [{ ...rsa, d: 'MARKER', qi: 'MARKER' }] })))).to.deep.equal({
      keys: [{ ...rsa, d: '<redacted>', qi: '<redacted>' }],
    });
    expect(JSON.parse(inline('{"kty":"oct","k":"MARKER"}'))).to.deep.equal({ kty: 'oct', k: '<redacted>' });
    expect(inline('MARKER')).to.equal('<redacted>');
    expect(inline('"MARKER"')).to.equal('<redacted>');
    const pem = '-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----';
    expect(inline(pem)).to.equal(pem);
    const withPrivate = `${pem}\n-----BEGIN RSA PRIVATE KEY-----\nMARKER\n-----END RSA PRIVATE KEY-----\n`;
    expect(inline(withPrivate)).to.equal(`${pem}\n<redacted>\n`);
    expect(inline('-----BEGIN EC PRIVATE KEY-----\nMARKER')).to.equal('<redacted>');
  });

  it('hides the literal values of headers that a resource adds, whatever their names, and shows operators', () => {
    const add = (value: string) => [{ header: { key: 'x-functions-key', value } }];
    const resource = {
      kind: 'VirtualService',
      spec: {
        virtualHost: {
          options: {
            headerManipulation: {
              requestHeadersToAdd: add('MARKER'),
              responseHeadersToAdd: add('MARKER %START_TIME(%s)% MARKER'),
            },
            stagedTransformations: {
              regular: {
                requestTransforms: [
                  {
                    requestTransformation: {
                      transformationTemplate: {
                        headers: { 'x-upstream-key': { text: 'MARKER{{ header("x-a") }}{{ "MARKER" }}' } },
                        headersToAppend: [{ key: 'x-b', value: { text: 'MARKER' } }],
                      },
                    },
                  },
                ],
              },
            },
          },
        },
      },
    };
    const text = JSON.stringify(redact(resource));
    expect(text).to.not.contain('MARKER');
    for (const kept of ['x-functions-key', '"<redacted>%START_TIME(%s)%<redacted>"', 'header(', '"key":"x-b"'])
      expect(text).to.contain(kept);
    expect(redact(redact(resource))).to.deep.equal(redact(resource));
    const graphql = {
      kind: 'GraphQLApi',
      spec: {
        executableSchema: { executor: { remote: { headers: { ':path': '/g', 'x-key': 'MARKER{$headers.x-a}' } } } },
      },
    };
    expect(JSON.stringify(redact(graphql))).to.contain('":path":"/g","x-key":"<redacted>{$headers.x-a}"');
    expect([...hiddenLiterals(graphql)]).to.deep.equal(['MARKER']);
  });

  it('hides values of the same name only where they are headers', () => {
    for (const shown of [
      { tokenSource: { headers: [{ header: 'x-a', prefix: 'T ' }] } },
      { matchers: [{ headers: [{ name: 'x-a', value: 'b' }] }] },
    ])
      expect(redact(shown)).to.deep.equal(shown);
  });

  it('hides values beside the name of a header or parameter for credentials, templates included', () => {
    const shown = redact({
      requestHeadersToAdd: [{ header: { key: 'Authorization', value: 'MARKER' } }],
      headersToAppend: [{ key: 'x-api-key', value: { text: 'MARKER' } }],
      headers: { cookie: { text: 'MARKER' }, accept: { text: 'text/html' } },
      queryParameters: [{ name: 'access_token', value: 'MARKER' }],
      queryParams: { api_key: 'MARKER', page: '{$args.page}' },
    });
    expect(JSON.stringify(shown)).to.not.contain('MARKER');
    expect(shown.headers.accept).to.deep.equal({ text: 'text/html' });
    expect(shown.queryParams.page).to.equal('{$args.page}');
  });

  it('hides private keys, tokens and named query parameters inside any text', () => {
    const token = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.MARKER';
    expect(redact({ body: `use ${token} here` })).to.deep.equal({ body: 'use <redacted> here' });
    expect(redact({ pathRedirect: '/x?api_key=MARKER&page=2' })).to.deep.equal({
      pathRedirect: '/x?api_key=<redacted>&page=2',
    });
    expect(JSON.stringify(redact(['-----BEGIN PRIVATE KEY-----\nMARKER\n-----END PRIVATE KEY-----']))).to.not.contain(
      'MARKER',
    );
  });

  it('hides literals in query parameters, paths and bodies of resolvers, and shows templates', () => {
    const apiWith = (request: object) => ({
      kind: 'GraphQLApi',
      spec: { executableSchema: { executor: { local: { resolutions: { r: { restResolver: { request } } } } } } },
    });
    const shown = redact(
      apiWith({
        queryParams: { appid: 'MARKER', key: 'MARKER', page: '{$args.page}' },
        headers: { ':Path': '{$args.base}/x?key=MARKER&page=2&sig={$args.sig}' },
        body: { pw: 'MARKER', query: 'shown', inner: [{ Pwd: 'MARKER' }] },
      }),
    );
    expect(shown).to.deep.equal(
      apiWith({
        queryParams: { appid: '<redacted>', key: '<redacted>', page: '{$args.page}' },
        headers: { ':Path': '{$args.base}/x?key=<redacted>&page=2&sig={$args.sig}' },
        body: { pw: '<redacted>', query: 'shown', inner: [{ Pwd: '<redacted>' }] },
      }),
    );
    const templates = apiWith({ queryParams: { key: '{$args.id}' }, headers: { ':path': '/x?key={$args.id}' } });
    expect(redact(templates)).to.deep.equal(templates);
    expect(containsSecrets(templates), 'templates').to.equal(false);
    expect(containsSecrets(apiWith({ queryParams: { page: '2' } })), 'a literal').to.equal(false);
    expect(containsSecrets(apiWith({ queryParams: { key: 'MARKER' } })), 'a key').to.equal(true);
  });

  it('hides keys and signatures in paths and in conditions on the query', () => {
    for (const name of ['key', 'sig', 'signature', 'X-Amz-Signature', 'x-goog-signature', 'pw', '%6Bey']) {
      const check = { healthChecks: [{ httpHealthCheck: { path: `/up?${name}=MARKER&a=b` } }] };
      expect(JSON.stringify(redact(check)), name).to.contain(`/up?${name}=<redacted>&a=b`);
    }
    const matchers = [
      {
        queryParameters: [
          { name: 'key', value: 'MARKER' },
          { name: 'page', value: '2' },
        ],
      },
    ];
    expect(redact({ matchers })).to.deep.equal({
      matchers: [
        {
          queryParameters: [
            { name: 'key', value: '<redacted>' },
            { name: 'page', value: '2' },
          ],
        },
      ],
    });
  });

  it('hides user, password and named parameters of an address inside a longer text', () => {
    expect(redact(['see https://user:MARKER@MARKER@host/x and https://host/y?page=2&api_key=MARKER.'])).to.deep.equal([
      'see https://<redacted>@host/x and https://host/y?page=2&api_key=<redacted>',
    ]);
  });

  it('hides secrets in JSON and base64 inside a text', () => {
    const rsa = { kty: 'RSA', n: 'AQAB', e: 'AQAB' };
    const copy = JSON.stringify({ kind: 'Secret', data: { 'tls.key': 'MARKER' } });
    const pem = Buffer.from('-----BEGIN EC PRIVATE KEY-----\nTUFSS0VS').toString('base64');
    const shown = redact({
      kind: 'ConfigMap',
      metadata: { annotations: { 'kubectl.kubernetes.io/last-applied-configuration': copy } },
      data: { jwks: JSON.stringify({ keys: [{ ...rsa, d: 'MARKER' }] }, null, 2), pem: `key: ${pem}` },
      key: { ...rsa, qi: 'MARKER' },
    });
    expect(JSON.stringify(shown)).to.not.contain('MARKER').and.not.contain(pem);
    expect(JSON.parse(shown.data.jwks)).to.deep.equal({ keys: [{ ...rsa, d: '<redacted>' }] });
    expect(shown.data.pem).to.equal('key: <redacted>');
    const certificate = Buffer.from('-----BEGIN CERTIFICATE-----\nMIIB').toString('base64');
    const kept = { data: { settings: '{ "page": 2 }', list: '[1,\n2]', certificate } };
    expect(redact(kept)).to.deep.equal(kept);
  });

  it('hides the annotations of a Secret', () => {
    const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': '{"data":{"tls.key":"MARKER"}}' };
    expect(JSON.stringify(redact({ kind: 'Secret', metadata: { annotations } }))).to.not.contain('MARKER');
  });

  it('hides the value in a condition on a credential header', () => {
    const headers = ['exactMatch', 'prefixMatch', 'suffixMatch', 'regexMatch'].map((field) => ({
      name: 'Authorization',
      [field]: 'MARKER',
    }));
    expect(JSON.stringify(redact({ headers }))).to.not.contain('MARKER');
  });

  it('takes linear time, and hides deeply nested values', () => {
    const long = 300_000;
    const texts = [
      'a'.repeat(long),
      'a://'.repeat(long / 4),
      '.eyJaaaaa'.repeat(long / 9),
      '-----BEGIN '.repeat(long / 10),
    ];
    const before = performance.now();
    for (const text of texts) redact([`${text}://`, `/?${text}`, `{${text}`]);
    expect(performance.now() - before).to.be.below(2_000);
    const deep = 200_000;
    expect(redact(['['.repeat(deep) + ']'.repeat(deep)])).to.deep.equal(['<redacted>']);
  });

  it('keeps references, claims and data of ConfigMaps', () => {
    const kept = {
      kind: 'ConfigMap',
      data: { schema: 'type Query { a: Int }' },
      clientSecretRef: { name: 'oauth', namespace: 'shop' },
      claimsToHeaders: [{ claim: 'email', header: 'x-email' }],
      tokenSource: { headers: [{ header: 'authorization', prefix: 'Bearer ' }] },
    };
    expect(redact(kept)).to.deep.equal(kept);
  });
});
