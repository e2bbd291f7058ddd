import { generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { GatewayProcess, until } from './gateway-process.ts';

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const other = generateKeyPairSync('rsa', { modulusLength: 2048 });
const ed = generateKeyPairSync('ed25519');
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const jwkOf = ({ publicKey }: { publicKey: KeyObject }) => publicKey.export({ format: 'jwk' });
const KEYS = [
  { ...jwkOf(rsa), kid: 'rsa' },
  { ...jwkOf(ed), kid: 'ed' },
];
const b64 = (value: unknown): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
const now = Math.floor(Date.now() / 1000);
const CLAIMS = { iss: 'me', aud: 'shop', exp: now + 86_400 };

/** A token with any head and payload, signed with the RSA key of the provider. */
function tokenOf(claims: unknown, head: unknown = { alg: 'RS256', kid: 'rsa' }, key = rsa.privateKey): string {
  const input = `${b64(head)}.${b64(claims)}`;
  return `${input}.${sign('sha256', Buffer.from(input), key).toString('base64url')}`;
}
const withClaim = (name: string, value: unknown): string => tokenOf({ ...CLAIMS, [name]: value });
const withSections = (change: (sections: string[]) => void): string => {
  const sections = tokenOf(CLAIMS).split('.');
  change(sections);
  return sections.join('.');
};

/** Every row of the table of failures: what is answered, and to what. Audiences are the only 403. */
const FAILURES: readonly (readonly [body: string, token: string, what?: string])[] = [
  ['Jwt is missing', ''],
  ['Jwt is expired', withClaim('exp', now - 120)],
  ['Jwt not yet valid', withClaim('nbf', now + 86_400)],
  ['Jwt issuer is not configured', withClaim('iss', 'else')],
  ['Jwt issuer is not configured', withClaim('iss', undefined), 'no issuer'],
  ['Audiences in Jwt are not allowed', withClaim('aud', 'else')],
  ['Audiences in Jwt are not allowed', withClaim('aud', undefined), 'no audience'],
  ['Jwt verification fails', tokenOf(CLAIMS, { alg: 'RS256', kid: 'rsa' }, other.privateKey)],
  ["Jwks doesn't have key to match kid or alg from Jwt", tokenOf(CLAIMS, { alg: 'RS256', kid: 'else' })],
  ["Jwks doesn't have key to match kid or alg from Jwt", tokenOf(CLAIMS, { alg: 'ES256', kid: 'rsa' }), 'another alg'],
  ['Jwt is not in the form of Header.Payload.Signature with two dots and 3 sections', 'a.b'],
  [
    'Jwt is not in the form of Header.Payload.Signature with two dots and 3 sections',
    withSections((sections) => (sections[2] = '')),
    'no signature',
  ],
  ['Jwt header is an invalid Base64url encoded', withSections((sections) => (sections[0] += '='))],
  ['Jwt header is an invalid JSON', tokenOf(CLAIMS, '{')],
  ['Jwt header [alg] field is required and must be a string', tokenOf(CLAIMS, { kid: 'rsa' })],
  ['Jwt header [alg] field is required and must be a string', tokenOf(CLAIMS, { alg: 7 }), 'alg as a number'],
  ['Jwt header [alg] is not supported', tokenOf(CLAIMS, { alg: 'none' })],
  ['Jwt header [kid] field is not a string', tokenOf(CLAIMS, { alg: 'RS256', kid: 7 })],
  ['Jwt payload is an invalid Base64url encoded', withSections((sections) => (sections[1] += '='))],
  ['Jwt payload is an invalid JSON', tokenOf('{')],
  ['Jwt payload [iss] field is not a string', withClaim('iss', 7)],
  ['Jwt payload [sub] field is not a string', withClaim('sub', 7)],
  ['Jwt payload [jti] field is not a string', withClaim('jti', 7)],
  ['Jwt payload [aud] field is not a string or string list', withClaim('aud', 7)],
  ['Jwt payload [exp] field is not an integer', withClaim('exp', 'soon')],
  ['Jwt payload [nbf] field is not an integer', withClaim('nbf', 'soon')],
  ['Jwt payload [iat] field is not an integer', withClaim('iat', 'soon')],
  ['Jwt payload [exp] field is not a positive 64 bit integer', withClaim('exp', -1)],
  ['Jwt payload [nbf] field is not a positive 64 bit integer', withClaim('nbf', -1)],
  ['Jwt payload [iat] field is not a positive 64 bit integer', withClaim('iat', -1)],
  ['Jwt signature is an invalid Base64url encoded', withSections((sections) => (sections[2] += '='))],
  ['Jwt ED25519 signature is wrong length', `${b64({ alg: 'EdDSA', kid: 'ed' })}.${b64(CLAIMS)}.AAAA`],
];

/** Documents that no key can be taken from; `undefined` is a server that answers with an error. */
const KEY_FAILURES: readonly (readonly [body: string, document: unknown])[] = [
  ['Jwks remote fetch is failed', undefined],
  ['Jwks is an invalid JSON', '<html>'],
  ['Jwks does not have [keys] field', {}],
  ['[keys] in Jwks is not an array', { keys: {} }],
  ["Jwks doesn't have any valid public key", { keys: [] }],
  ['[kty] is missing in [keys]', { keys: [{}] }],
  ['[kty] is bad in [keys]', { keys: [{ kty: 7 }] }],
  ['[kty] is not supported in [keys]', { keys: [{ kty: 'new' }] }],
  ['Jwks RSA [n] or [e] field is missing or has a parse error', { keys: [{ kty: 'RSA', e: 'AQAB' }] }],
  ['Jwks EC [x] or [y] field is an invalid Base64.', { keys: [{ ...jwkOf(ec), x: '+' }] }],
  ['Jwks EC [x] and [y] fields have a parse error.', { keys: [{ ...jwkOf(ec), x: 'AAAA' }] }],
  ['Jwks OKP [x] field is an invalid Base64.', { keys: [{ ...jwkOf(ed), x: '=' }] }],
  ['Jwks OKP [x] field is wrong length.', { keys: [{ ...jwkOf(ed), x: 'AAAA' }] }],
  ['Jwks Oct key is an invalid Base64', { keys: [{ kty: 'oct', k: '*' }] }],
  ['[crv] or [alg] field is not supported for an EC key', { keys: [{ ...jwkOf(ec), crv: 'secp256k1' }] }],
  ['[alg] is not started with [RS] or [PS] for an RSA key', { keys: [{ ...jwkOf(rsa), alg: 'ES256' }] }],
  ['[alg] is not started with [ES] for an EC key', { keys: [{ ...jwkOf(ec), alg: 'RS256' }] }],
  ['PEM pubkey parse fails', '-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----'],
];

const providerAt = (jwks: string): string => `{ issuer: me, audiences: [shop], jwks: ${jwks} }`;
const remote = (i: number) => `{ remote: { url: 'http://keys.example/${i}', upstreamRef: { name: keys } } }`;
const resources = (port: number): string => `
apiVersion: gw.vendor.io/v1
kind: Upstream
metadata: { name: keys }
spec: { static: { hosts: [{ addr: 127.0.0.1, port: ${port} }] } }
---
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: failures }
spec:
  virtualHost:
    domains: ['*']
    options: { jwtStaged: { afterExtAuth: { providers: { main: ${providerAt(`{ local: { key: '${JSON.stringify({ keys: KEYS })}' } }`)} } } } }
    routes:
${KEY_FAILURES.map(
  (_, i) => `      - name: keys-${i}
        matchers: [{ exact: /keys/${i} }]
        directResponseAction: { status: 200 }
        options: { jwtProvidersStaged: { afterExtAuth: { providers: { p: ${providerAt(remote(i))} } } } }
`,
).join('')}
      - matchers: [{ prefix: / }]
        directResponseAction: { status: 200 }
`;

describe('each failure of a token', () => {
  const gateway = new GatewayProcess();
  let keyServer: Server;
  before(async () => {
    keyServer = createServer((req, res) => {
      const document = KEY_FAILURES[Number(req.url!.slice(1))]![1];
      if (document === undefined) res.writeHead(500).end();
      else res.end(typeof document === 'string' ? document : JSON.stringify(document));
    }).listen(0, '127.0.0.1');
    await once(keyServer, 'listening');
    gateway.write('all.yaml', resources((keyServer.address() as AddressInfo).port));
    await gateway.start();
  });
  after(async () => {
    await gateway.close();
    keyServer.close();
  });

  async function ask(path: string, token: string, more: Record<string, string> = {}) {
    const headers = { host: 'shop.example', ...(token && { authorization: `Bearer ${token}` }), ...more };
    const sent = request(`${gateway.url}${path}`, { headers }).end();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    let body = '';
    for await (const chunk of response) body += chunk;
    return { status: response.statusCode, body, headers: response.headers };
  }

  async function isAnswered(path: string, token: string, body: string): Promise<void> {
    const answer = await ask(path, token);
    expect(answer).to.include({ status: body.startsWith('Audiences') ? 403 : 401, body });
    const error = token === '' ? '' : ', error="invalid_token"';
    expect(answer.headers).to.include({
      'content-type': 'text/plain',
      'content-length': String(body.length),
      'www-authenticate': `Bearer realm="http://shop.example${path}"${error}`,
    });
    const line = () => gateway.output.split('\n').find((each) => each.includes(`"${path}"`));
    await until(line, `a line in the access log for ${path}`);
    expect(line()).to.include(`"jwt_authn_access_denied{${body.replaceAll(' ', '_').replaceAll('"', '\\"')}}"`);
    if (token !== '') expect(gateway.output + gateway.errors).to.not.include(token);
  }

  it('does not apply to a valid token', async () => {
    expect(await ask('/x', tokenOf(CLAIMS))).to.include({ status: 200 });
  });

  for (const [i, [body, token, what]] of FAILURES.entries()) {
    it(`${body}${what === undefined ? '' : `: ${what}`}`, () => isAnswered(`/token/${i}?a=b`, token, body));
  }
  for (const [i, [body]] of KEY_FAILURES.entries()) {
    it(`${body}, of keys behind HTTP`, () => isAnswered(`/keys/${i}`, tokenOf(CLAIMS), body));
  }

  it('uses the scheme of the connection, not that of an untrusted client', async () => {
    const { headers } = await ask('/x', '', { 'x-forwarded-proto': 'https' });
    expect(headers['www-authenticate']).to.equal('Bearer realm="http://shop.example/x"');
  });

  it('rejects unreadable keys in a resource, and keeps the previous ones', async () => {
    const { port } = keyServer.address() as AddressInfo;
    gateway.write('all.yaml', resources(port).replace(/key: '[^']*'/, `key: '{"keys":[]}'`));
    await until(() => gateway.errors.includes('invalid keys'), 'the refusal in the log');
    expect(gateway.errors).to.include('jwks.local.key');
    expect(await ask('/x', tokenOf(CLAIMS))).to.include({ status: 200 });
    expect(await ask('/x', '')).to.include({ status: 401 });
    gateway.write('all.yaml', resources(port));
  });

  it('rejects a token above the head limit before it is read', async () => {
    for (const size of [64 * 1024, 1024 * 1024]) {
      const answer = await ask('/x', 'a'.repeat(size)).catch((error: NodeJS.ErrnoException) => ({
        status: error.code,
      }));
      expect(answer.status).to.be.oneOf([431, 'ECONNRESET', 'EPIPE']);
    }
    expect(await ask('/x', tokenOf(CLAIMS))).to.include({ status: 200 });
  });
});
