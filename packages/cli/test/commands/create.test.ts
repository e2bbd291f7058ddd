import { chmodSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { CERTIFICATES } from '../support/certificates.ts';
import { call } from '../support/captured-io.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const KEY = '0123456789abcdef0123456789abcdef';

describe('create', () => {
  let cwd: string;
  beforeEach(() => {
    cwd = temporaryDirectory();
    mkdirSync(join(cwd, 'resources'));
    for (const [name, text] of Object.entries(CERTIFICATES)) writeFileSync(join(cwd, name), text);
  });
  const create = (...argv: string[]) => call(['create', ...argv], { cwd });
  const file = (name: string) => join(cwd, 'resources', name);
  const decoded = (value: string): string => Buffer.from(value, 'base64').toString('utf8');
  const refusal = async (...argv: string[]): Promise<string> => {
    const { code, stdout, stderr } = await create(...argv);
    expect({ code, stdout }, argv.join(' ')).to.deep.equal({ code: 2, stdout: '' });
    expect(readdirSync(join(cwd, 'resources'))).to.deep.equal([]);
    return stderr;
  };

  describe('secret', () => {
    const made: [argv: string[], type: string, data: Record<string, string>][] = [
      [['oauth', '--client-secret', 'hush', 'x'], 'extauth.vendor.io/oauth', { 'client-secret': 'hush' }],
      [['apikey', 'x', '--apikey', 'k-1'], 'extauth.vendor.io/apikey', { 'api-key': 'k-1' }],
      [
        ['authcredentials', '--name', 'x', '--username', 'me', '--password', 'p w'],
        'extauth.vendor.io/accountcredentials',
        { username: 'me', password: 'p w' },
      ],
      [['encryptionkey', '--name', 'x', '--key', KEY], 'gw.vendor.io.EncryptionKeySecret', { key: KEY }],
      [
        ['header', 'x', '--headers', 'x-a=1,x-b=2=2,x-c=a\\,b'],
        'gw.vendor.io/header',
        { 'x-a': '1', 'x-b': '2=2', 'x-c': 'a,b' },
      ],
      [
        ['tls', 'x', '--certchain', 'tls.crt', '--privatekey', 'tls.key', '--rootca', 'ca.crt'],
        'kubernetes.io/tls',
        { 'tls.crt': CERTIFICATES['tls.crt'], 'tls.key': CERTIFICATES['tls.key'], 'ca.crt': CERTIFICATES['ca.crt'] },
      ],
      [['tls', 'x', '--rootca', 'ca.crt'], 'kubernetes.io/tls', { 'ca.crt': CERTIFICATES['ca.crt'] }],
    ];
    for (const [argv, type, data] of made) {
      it(`writes ${argv.slice(0, 3).join(' ')} into a file that only the owner can read`, async () => {
        const { code, stdout, stderr } = await create('secret', ...argv, '--config', 'resources');
        const named = 'Secret gw-system/x: resources/secret-gw-system-x.yaml\n';
        expect({ code, stderr }).to.deep.equal({ code: 0, stderr: named });
        expect(stdout)
          .to.match(/^\+-+\+-+\+\n\| SECRET \| TYPE +\|\n/)
          .and.to.contain(`| x      | ${type}`);
        const path = file('secret-gw-system-x.yaml');
        expect(statSync(path).mode & 0o777).to.equal(0o600);
        const written = parse(readFileSync(path, 'utf8')) as any;
        expect(written).to.deep.include({ apiVersion: 'v1', kind: 'Secret', type });
        expect(written.metadata).to.deep.equal({ name: 'x', namespace: 'gw-system' });
        const found = Object.entries(written.data as Record<string, string>).map(([key, value]) => [
          key,
          decoded(value),
        ]);
        expect(Object.fromEntries(found)).to.deep.equal(data);
        expect((await call(['validate', 'resources'], { cwd })).stdout).to.equal('1 resource, 0 errors, 0 warnings\n');
      });
    }

    it('reads a value from a file, without its last line break', async () => {
      writeFileSync(join(cwd, 'hush.txt'), 'hush\n');
      await create('secret', 'oauth', 'x', '--client-secret-file', 'hush.txt', '-c', 'resources');
      const written = parse(readFileSync(file('secret-gw-system-x.yaml'), 'utf8')) as any;
      expect(decoded(written.data['client-secret'])).to.equal('hush');
    });

    it('makes a key up, another one each time, and labels it', async () => {
      const keys = new Set<string>();
      for (const name of ['a', 'b']) {
        const flags = ['--apikey-generate', '--apikey-labels', 'team=shop', '-c', 'resources'];
        const { stdout, stderr } = await create('secret', 'apikey', name, ...flags);
        const written = parse(readFileSync(file(`secret-gw-system-${name}.yaml`), 'utf8')) as any;
        expect(written.metadata.labels).to.deep.equal({ team: 'shop' });
        const key = decoded(written.data['api-key']);
        expect(stderr).to.equal(
          `Secret gw-system/${name}: resources/secret-gw-system-${name}.yaml\nThe generated key, shown only once: ${key}\n`,
        );
        expect(stdout).to.not.contain(key);
        keys.add(key);
      }
      expect(keys.size).to.equal(2);
      expect([...keys][0]).to.match(/^[\w-]{43}$/);
    });

    it('keeps an OCSP response byte for byte', async () => {
      const staple = Buffer.from([0x30, 0x82, 0xff, 0xfe, 0x00, 0x0a]);
      writeFileSync(join(cwd, 'ocsp.der'), staple);
      const flags = ['--certchain', 'tls.crt', '--privatekey', 'tls.key', '--ocspstaple', 'ocsp.der'];
      await create('secret', 'tls', 'x', ...flags, '-c', 'resources');
      const written = parse(readFileSync(file('secret-gw-system-x.yaml'), 'utf8')) as any;
      expect(Buffer.from(written.data['tls.ocsp-staple'], 'base64')).to.deep.equal(staple);
    });

    it('prints kube-yaml that can be applied with --dry-run, and writes nothing', async () => {
      const { stdout } = await create('secret', 'oauth', 'x', '--client-secret', 'hush', '-n', 'shop', '--dry-run');
      expect(parse(stdout)).to.deep.equal({
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'x', namespace: 'shop' },
        type: 'extauth.vendor.io/oauth',
        data: { 'client-secret': Buffer.from('hush').toString('base64') },
      });
    });

    it('never prints a value that it has written', async () => {
      for (const output of ['table', 'json', 'yaml', 'kube-yaml']) {
        const argv = ['secret', 'oauth', output, '--client-secret', 'hush', '-o', output, '-c', 'resources'];
        const { stdout } = await create(...argv);
        expect(stdout).to.not.contain('hush').and.to.not.contain(Buffer.from('hush').toString('base64'));
      }
    });

    it('finds the directory in GATEWAY_CONFIG', async () => {
      const argv = ['create', 'secret', 'oauth', 'x', '--client-secret', 'hush'];
      expect((await call(argv, { cwd, env: { GATEWAY_CONFIG: 'resources' } })).code).to.equal(0);
      expect(readdirSync(join(cwd, 'resources'))).to.deep.equal(['secret-gw-system-x.yaml']);
    });

    it('does not overwrite without --force, nor define a resource twice', async () => {
      const argv = ['secret', 'encryptionkey', 'x', '--key', KEY, '-c', 'resources'];
      await create(...argv);
      chmodSync(file('secret-gw-system-x.yaml'), 0o644);
      expect(await create(...argv)).to.deep.equal({
        code: 1,
        stdout: '',
        stderr: 'Error: resources/secret-gw-system-x.yaml already exists; use --force to overwrite it\n',
      });
      const other = KEY.toUpperCase();
      expect((await create(...argv, '--key', other, '--force')).code).to.equal(0);
      const text = readFileSync(file('secret-gw-system-x.yaml'), 'utf8');
      expect(decoded((parse(text) as any).data.key)).to.equal(other);
      expect(statSync(file('secret-gw-system-x.yaml')).mode & 0o777).to.equal(0o600);
      rmSync(file('secret-gw-system-x.yaml'));
      writeFileSync(file('mine.yaml'), text);
      const elsewhere = await create(...argv, '--force');
      expect(elsewhere.stderr).to.equal(
        'Error: resources/mine.yaml:1 already contains a resource with this kind and name\n',
      );
    });

    const refused: [what: string, argv: string[], message: RegExp][] = [
      ['no name', ['oauth', '--client-secret', 'x'], /missing name/],
      ['two names', ['oauth', 'a', '--name', 'b', '--client-secret', 'x'], /both a and b/],
      ['a name that leaves the directory', ['oauth', '../../x', '--client-secret', 'x'], /metadata\.name/],
      ['a name with capitals', ['oauth', 'X', '--client-secret', 'x'], /metadata\.name/],
      [
        'a namespace that leaves the directory',
        ['oauth', 'x', '-n', '../x', '--client-secret', 'x'],
        /metadata\.namespace/,
      ],
      ['no client secret', ['oauth', 'x'], /missing --client-secret or --client-secret-file/],
      ['an empty client secret', ['oauth', 'x', '--client-secret', ''], /missing/],
      ['value and file', ['oauth', 'x', '--client-secret', 'a', '--client-secret-file', 'b'], /cannot be combined/],
      ['a missing file', ['oauth', 'x', '--client-secret-file', 'none'], /none: no such file or directory/],
      ['no API key', ['apikey', 'x'], /missing --apikey or --apikey-file/],
      ['two API keys', ['apikey', 'x', '--apikey', 'a', '--apikey-generate'], /cannot be combined with a key/],
      ['labels without value', ['apikey', 'x', '--apikey', 'a', '--apikey-labels', 'team'], /name=value/],
      ['labels twice', ['apikey', 'x', '--apikey', 'a', '--apikey-labels', 'a=1,a=2'], /names a twice/],
      ['no user', ['authcredentials', 'x', '--password', 'p'], /missing --username/],
      ['no password', ['authcredentials', 'x', '--username', 'u'], /--password or/],
      ['a key of 31 bytes', ['encryptionkey', 'x', '--key', KEY.slice(1)], /the key must have 32 bytes, not 31/],
      [
        'a key of 32 characters and 33 bytes',
        ['encryptionkey', 'x', '--key', `${KEY.slice(1)}é`],
        /must have 32 bytes, not 33/,
      ],
      ['no headers', ['header', 'x'], /missing --headers/],
      ['a header name that is none', ['header', 'x', '--headers', 'a b=1'], /invalid header name "a b"/],
      ['a header name with a line break', ['header', 'x', '--headers', 'a\r\nb=1'], /invalid header name/],
      ['no files', ['tls', 'x'], /missing/],
      ['a certificate without key', ['tls', 'x', '--certchain', 'tls.crt'], /must be used together/],
      [
        'a key that is not its own',
        ['tls', 'x', '--certchain', 'tls.crt', '--privatekey', 'other.key'],
        /does not belong/,
      ],
      [
        'a key as certificate',
        ['tls', 'x', '--certchain', 'tls.key', '--privatekey', 'tls.key'],
        /--certchain does not contain a/,
      ],
      [
        'a certificate as key',
        ['tls', 'x', '--certchain', 'tls.crt', '--privatekey', 'tls.crt'],
        /--privatekey does not contain/,
      ],
      ['a root that is not a certificate', ['tls', 'x', '--rootca', 'tls.key'], /--rootca does not contain a readable/],
    ];
    for (const [what, argv, message] of refused) {
      it(`rejects ${what}`, async () => {
        const said = await refusal('secret', ...argv, '-c', 'resources');
        expect(said).to.match(message);
        expect(said)
          .to.match(/^Error: .+\n$/)
          .and.to.not.contain('PRIVATE KEY');
      });
    }

    it('rejects to guess the directory, and one that is missing', async () => {
      expect(await refusal('secret', 'oauth', 'x', '--client-secret', 'a')).to.match(/--config DIR/);
      expect(await refusal('secret', 'oauth', 'x', '--client-secret', 'a', '-c', 'none')).to.match(
        /none: no such file/,
      );
    });

    it('requires a subcommand', async () => {
      expect(await create()).to.deep.equal({
        code: 2,
        stdout: '',
        stderr:
          'Error: please provide a file flag or subcommand: virtualservice, upstream, upstreamgroup, secret, authconfig, graphqlapi\n',
      });
      expect((await create('upstraems')).stderr).to.contain(
        'unknown command \'upstraems\' (did you mean "upstreams"?)',
      );
      expect((await create('secret')).stderr).to.match(/^Error: please provide a subcommand: tls, .*oauth/);
      expect((await create('secret', 'oath')).stderr).to.contain('unknown command \'oath\' (did you mean "oauth"?)');
    });
  });

  describe('authconfig', () => {
    const OIDC = `--enable-oidc-auth --oidc-auth-client-id shop --oidc-auth-client-secret-name shop-oauth
      --oidc-auth-issuer-url https://id.example --oidc-auth-app-url https://shop.example
      --oidc-auth-callback-path /callback`.split(/\s+/);
    const KEYS = ['--enable-apikey-auth', '--apikey-label-selector', 'team=shop'];
    const without = (flag: string): string[] => OIDC.toSpliced(OIDC.indexOf(flag), 2);

    it('writes steps in the order login, keys', async () => {
      const more = ['--oidc-scope', 'email,profile', '--auth-endpoint-query-params', 'prompt=login'];
      const { code, stdout, stderr } = await create('authconfig', 'shop', ...OIDC, ...more, ...KEYS, '-c', 'resources');
      const named = 'AuthConfig gw-system/shop: resources/authconfig-gw-system-shop.yaml\n';
      expect(code).to.equal(0);
      expect(stderr).to.match(/^Warning: .*secret gw-system\.shop-oauth not found$/m);
      expect(stderr.endsWith(`\n${named}`), stderr).to.equal(true);
      expect(stdout).to.contain('| AUTHCONFIG | TYPE    |').and.to.contain('| shop       | OAuth2  |');
      const written = parse(readFileSync(file('authconfig-gw-system-shop.yaml'), 'utf8')) as any;
      expect(written.spec.configs).to.deep.equal([
        {
          oauth2: {
            oidcAuthorizationCode: {
              issuerUrl: 'https://id.example',
              clientId: 'shop',
              clientSecretRef: { name: 'shop-oauth', namespace: 'gw-system' },
              appUrl: 'https://shop.example',
              callbackPath: '/callback',
              scopes: ['email', 'profile'],
              authEndpointQueryParams: { prompt: 'login' },
            },
          },
        },
        { apiKeyAuth: { labelSelector: { team: 'shop' } } },
      ]);
    });

    it('refers to the secret of a key', async () => {
      const { stdout } = await create('ac', 'k', '--enable-apikey-auth', '--apikey-secret-name', 'alice', '--dry-run');
      expect((parse(stdout) as any).spec.configs).to.deep.equal([
        { apiKeyAuth: { apiKeySecretRefs: [{ name: 'alice', namespace: 'gw-system' }] } },
      ]);
    });

    const refused: [what: string, argv: string[], message: RegExp][] = [
      ['no method', ['x'], /missing --enable-oidc-auth/],
      ['a login without client', ['x', ...without('--oidc-auth-client-id')], /missing --oidc-auth-client-id/],
      [
        'a login without secret',
        ['x', ...without('--oidc-auth-client-secret-name')],
        /missing --oidc-auth-client-secret-name/,
      ],
      ['a flag of a method that is off', ['x', ...KEYS, '--oidc-scope', 'a'], /--oidc-scope needs --enable-oidc-auth/],
      [
        'an issuer that is not a URL',
        ['x', ...without('--oidc-auth-issuer-url'), '--oidc-auth-issuer-url', 'id'],
        /http/,
      ],
      [
        'a relative callback',
        ['x', ...without('--oidc-auth-callback-path'), '--oidc-auth-callback-path', 'cb'],
        /must begin with \//,
      ],
      ['keys without selector', ['x', '--enable-apikey-auth'], /--apikey-label-selector or/],
      ['policies without query', ['x', '--enable-opa-auth', '--opa-module-ref', 'a.b'], /missing --opa-query/],
    ];
    for (const [what, argv, message] of refused) {
      it(`rejects ${what}`, async () => {
        expect(await refusal('authconfig', ...argv, '-c', 'resources')).to.match(message);
      });
    }
  });
});
