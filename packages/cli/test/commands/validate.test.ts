import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { call } from '../support/captured-io.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const UPSTREAM = `apiVersion: gw.vendor.io/v1
kind: Upstream
metadata: { name: echo }
spec: { static: { hosts: [{ addr: 127.0.0.1, port: 80 }] } }
`;
const service = (name: string, more: string) => `apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: ${name} }
spec:
  virtualHost:
    domains: [${name}.example]
    routes:
      - matchers: [{ prefix: / }]
        ${more}
`;
const FORWARD = 'routeAction: { single: { upstream: { name: echo } } }';

describe('validate', () => {
  let cwd: string;
  beforeEach(() => {
    cwd = temporaryDirectory();
    mkdirSync(join(cwd, 'resources'));
  });

  for (const argv of [
    ['validate', 'resources'],
    ['check', '--config', 'resources'],
  ]) {
    it(`names the default ports that a Gateway resource closes: ${argv[0]}`, async () => {
      const gateway = (port: number) =>
        `apiVersion: gateway.vendor.io/v1\nkind: Gateway\nmetadata: { name: own }\nspec: { bindPort: ${port}, httpGateway: {} }\n`;
      writeFileSync(join(cwd, 'resources', 'gateway.yaml'), gateway(9000));
      const { code, stderr } = await call(argv, { cwd });
      expect(code).to.equal(0);
      expect(stderr.trim()).to.equal(
        'Note: Gateway resources replace the default gateways, so ports 8080 and 8443 will not be open',
      );
      writeFileSync(join(cwd, 'resources', 'gateway.yaml'), gateway(8080));
      expect((await call(argv, { cwd })).stderr).to.include('so port 8443 will not be open');
    });
  }
  const write = (name: string, text: string) => writeFileSync(join(cwd, 'resources', name), text);
  const validate = (...argv: string[]) => call(['validate', 'resources', ...argv], { cwd });

  it('prints only the summary of a good directory', async () => {
    write('a.yaml', UPSTREAM);
    write('b.yaml', service('shop', FORWARD));
    expect(await validate()).to.deep.equal({
      code: 0,
      stdout: '2 resources, 0 errors, 0 warnings\n',
      stderr: '',
    });
  });

  it('prints every problem of every file, one per line, with its place relative to the caller', async () => {
    write('a.yaml', service('one', `${FORWARD}\n        optins: {}`));
    write('b.yaml', `${UPSTREAM}---\nkind: Upstraem\napiVersion: gw.vendor.io/v1\nmetadata: { name: x }\n`);
    write('c.json', '{ "broken": ');
    const { code, stdout } = await validate();
    expect(code).to.equal(1);
    const lines = stdout.trim().split('\n');
    expect(lines[0]).to.match(
      /^resources\/a\.yaml:10:9 {2}VirtualService gw-system\/one {2}spec\.virtualHost\.routes\[0\]\.optins {2}.+options/,
    );
    expect(lines[1]).to.match(/^resources\/b\.yaml:6:\d+ {2}.*Upstraem.*Upstream/);
    expect(lines[2]).to.match(/^resources\/c\.json:1:\d+ {2}/);
    expect(lines.at(-1)).to.match(/^\d+ resources?, 3 errors, 0 warnings$/);
  });

  it('reads the descriptor files that GraphQLApis name, below the directory', async () => {
    write(
      'api.yaml',
      `apiVersion: graphql.gw.vendor.io/v1beta1
kind: GraphQLApi
metadata: { name: users }
spec:
  executableSchema:
    schemaDefinition: 'type Query { user: String }'
    grpcDescriptorRegistry: { protoDescriptor: users.bin }
    executor: { local: {} }
`,
    );
    const missing = await validate();
    expect(missing.code).to.equal(1);
    expect(missing.stdout).to.match(/^resources\/api\.yaml:7:31 {2}.*protoDescriptor {2}.*'users\.bin' does not exist/);
    write('users.bin', 'not a descriptor set');
    expect((await validate()).stdout).to.include('a descriptor set cannot be read');
    write('users.bin', '');
    expect(await validate()).to.include({ code: 0, stdout: '1 resource, 0 errors, 0 warnings\n' });
  });

  it('names file, line and field of what is wrong with logins, secrets, tokens and policies', async () => {
    const secret = (name: string, type: string, data: string) =>
      `apiVersion: v1\nkind: Secret\nmetadata: { name: ${name} }\ntype: ${type}\nstringData: { ${data} }\n---\n`;
    write(
      'auth.yaml',
      `${secret('login', 'extauth.vendor.io/oauth', 'client_secret: hush')}${secret('cipher', 'gw.vendor.io.EncryptionKeySecret', 'key: 0123456789abcdef0123456789abcde')}apiVersion: enterprise.gw.vendor.io/v1
kind: AuthConfig
metadata: { name: shop }
spec:
  configs:
    - oauth2:
        oidcAuthorizationCode:
          issuerUrl: https://id.example.com
          clientId: shop
          clientSecretRef: { name: login }
          appUrl: https://shop.example.com
          callbackPath: /callback
          session:
            cipherConfig: { keyRef: { name: cipher } }
            cookie: {}
    - apiKeyAuth: { apiKeySecretRefs: [{ name: none }] }
`,
    );
    write(
      'shop.yaml',
      service('shop', 'directResponseAction: { status: 200 }').replace(
        '    routes:',
        `    options:
      jwt:
        providers:
          main:
            issuer: me
            jwks:
              local:
                key: '{"keys":[]}'
      rbac:
        policies:
          p: { principals: [{ jwtPrincipal: { claims: { a: '(' }, matcher: REGEX_MATCH } }] }
    routes:`,
      ),
    );
    const { code, stdout } = await validate();
    expect(code).to.equal(1);
    const steps = 'AuthConfig gw-system/shop  spec.configs';
    const options = 'VirtualService gw-system/shop  spec.virtualHost.options';
    expect(stdout.trim().split('\n')).to.deep.equal([
      'resources/auth.yaml:4:1  Secret gw-system/login  type  a secret of type extauth.vendor.io/oauth needs the entry client-secret  [warning]',
      'resources/auth.yaml:10:1  Secret gw-system/cipher  type  the key has 31 bytes, it needs 32  [warning]',
      `resources/auth.yaml:22:11  ${steps}[0].oauth2.oidcAuthorizationCode.clientSecretRef  config_0: secret gw-system.login has no client-secret`,
      `resources/auth.yaml:26:29  ${steps}[0].oauth2.oidcAuthorizationCode.session.cipherConfig.keyRef  config_0: the key in secret gw-system.cipher has 31 bytes, it needs 32`,
      `resources/auth.yaml:28:40  ${steps}[1].apiKeyAuth.apiKeySecretRefs[0]  config_1: secret gw-system.none not found`,
      `resources/shop.yaml:14:17  ${options}.jwt.providers.main.jwks.local.key  invalid keys: Jwks doesn't have any valid public key`,
      `resources/shop.yaml:17:57  ${options}.rbac.policies.p.principals[0].jwtPrincipal.claims.a  the expression does not compile: missing closing )`,
      '4 resources, 5 errors, 2 warnings',
    ]);
    expect(stdout).to.not.contain('hush').and.not.contain('0123456789');
  });

  it('reports problems between resources: dangling references, domains used twice', async () => {
    write('a.yaml', service('one', FORWARD));
    write('b.yaml', service('two', FORWARD).replace('two.example', 'one.example'));
    const { code, stdout } = await validate();
    expect(code).to.equal(1);
    expect(stdout).to.match(
      /a\.yaml:9:34 {2}VirtualService gw-system\/one {2}spec\.virtualHost\.routes\[0\]\.routeAction\.single\.upstream {2}.*InvalidDestinationWarning.*not found\. Route Name: <unnamed-0>\n/,
    );
    for (const [file, name] of [
      ['a', 'one'],
      ['b', 'two'],
    ]) {
      const place = `resources/${file}.yaml:6:15  VirtualService gw-system/${name}  spec.virtualHost.domains[0]  `;
      expect(stdout).to.contain(`${place}VirtualHost Error: DomainsNotUniqueError`);
    }
  });

  it('names the field of every reference that leads nowhere', async () => {
    const multi =
      'routeAction: { multi: { destinations: [{ weight: 1, destination: { upstream: { name: gone } } }] } }';
    const refs = 'optionsConfigRefs: { delegateOptions: [{ name: gone, namespace: gw-system }] }';
    write('a.yaml', UPSTREAM);
    write('multi.yaml', service('multi', multi));
    write('table.yaml', service('table', 'delegateAction: { ref: { name: gone, namespace: gw-system } }'));
    write('refs.yaml', service('refs', `${FORWARD}\n        ${refs}`));
    write('auth.yaml', service('auth', `${FORWARD}\n        options: { extauth: { config_ref: { name: gone } } }`));
    write('host.yaml', service('host', FORWARD).replace('    routes:', `    ${refs}\n    routes:`));
    const { stdout } = await validate();
    const route = 'spec.virtualHost.routes[0]';
    for (const start of [
      `multi.yaml:9:76  VirtualService gw-system/multi  ${route}.routeAction.multi.destinations[0].destination.upstream  `,
      `table.yaml:9:27  VirtualService gw-system/table  ${route}.delegateAction.ref  `,
      `refs.yaml:10:48  VirtualService gw-system/refs  ${route}.optionsConfigRefs.delegateOptions[0]  `,
      `auth.yaml:10:31  VirtualService gw-system/auth  ${route}.options.extauth.configRef  `,
      `host.yaml:7:44  VirtualService gw-system/host  spec.virtualHost.optionsConfigRefs.delegateOptions[0]  `,
    ]) {
      expect(stdout).to.contain(`resources/${start}`);
    }
  });

  it('reports the place of an error in a schema definition', async () => {
    write(
      'a.yaml',
      `apiVersion: graphql.gw.vendor.io/v1beta1
kind: GraphQLApi
metadata: { name: books }
spec:
  executableSchema:
    schemaDefinition: |
      type Query {
        book: Bok
      }
    executor: { local: {} }
`,
    );
    const { code, stdout } = await validate();
    expect(code).to.equal(1);
    expect(stdout).to.match(/^resources\/a\.yaml:8:15 {2}.+line 2, column 9 of the definition: Unknown type "Bok"\./);
  });

  it('reports an invalid TLS Secret once, where the virtual service refers to it', async () => {
    const secret = `apiVersion: v1
kind: Secret
metadata: { name: cert }
type: kubernetes.io/tls
data: { tls.crt: bm9uZQ==, tls.key: bm9uZQ== }
`;
    const ssl = '  sslConfig:\n    secretRef: { name: cert, namespace: gw-system }\n';
    write('a.yaml', `${UPSTREAM}---\n${secret}`);
    write('b.yaml', service('shop', FORWARD).replace('  virtualHost:', `${ssl}  virtualHost:`));
    const { stdout, code } = await validate();
    expect(code).to.equal(1);
    expect(stdout).to.match(
      /^resources\/b\.yaml:6:5 {2}VirtualService gw-system\/shop {2}spec\.sslConfig\.secretRef {2}Listener Error: SSLConfigError\. Reason: SSL secret gw-system\.cert/,
    );
    expect(stdout).to.match(/\n3 resources, 1 error, 0 warnings\n$/);
    expect(stdout.trim().split('\n')).to.have.length(2);
  });

  it('fails for warnings with --strict only', async () => {
    write('a.yaml', `${UPSTREAM}---\n${service('shop', `${FORWARD}\n        options: { ai: {} }`)}`);
    const lenient = await validate();
    expect(lenient.code).to.equal(0);
    expect(lenient.stdout).to.match(/ai.*\[warning\]\n2 resources, 0 errors, 1 warning\n$/);
    expect((await validate('--strict')).code).to.equal(1);
  });

  it('prints JSON with every part of a problem', async () => {
    write('a.yaml', service('shop', `${FORWARD}\n        optins: {}`));
    const { code, stdout } = await validate('-o', 'json');
    expect(code).to.equal(1);
    const { problems, ...counts } = JSON.parse(stdout) as { problems: Record<string, unknown>[] };
    expect(counts).to.deep.equal({ resources: 1, errors: 1, warnings: 0 });
    expect(problems[0]).to.deep.include({
      severity: 'error',
      file: 'resources/a.yaml',
      line: 10,
      column: 9,
      kind: 'VirtualService',
      namespace: 'gw-system',
      name: 'shop',
      path: 'spec.virtualHost.routes[0].optins',
    });
  });

  it('does not let a file name or a value move the cursor of the terminal', async () => {
    write('a.yaml', `apiVersion: "gw.vendor.io/v1\\e[2J"\nkind: Upstream\nmetadata: { name: x }\n`);
    const { stdout } = await validate();
    expect(stdout).to.not.contain('\u001b');
  });

  it('reads files and directories together, each once', async () => {
    write('a.yaml', UPSTREAM);
    write('b.yaml', service('shop', FORWARD));
    const both = await call(['validate', 'resources/b.yaml', 'resources/a.yaml'], { cwd });
    expect(both.stdout).to.equal('2 resources, 0 errors, 0 warnings\n');
    const twice = await call(['validate', 'resources', 'resources/a.yaml'], { cwd });
    expect(twice.stdout).to.equal('2 resources, 0 errors, 0 warnings\n');
  });

  it('reads each source once, so that it can be a pipe', async () => {
    const pipe = join(cwd, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const api = `apiVersion: graphql.gw.vendor.io/v1beta1
kind: GraphQLApi
metadata: { name: books }
spec: { executableSchema: { schemaDefinition: 'type Query { a: Strin }', executor: { local: {} } } }
`;
    // The writer ends with the reader: in a process of its own it cannot block this one.
    const writer = spawn('bash', ['-c', 'printf %s "$1" > "$2"', 'bash', api, pipe]);
    const { code, stdout } = await call(['validate', 'pipe'], { cwd });
    writer.kill();
    expect(stdout).to.match(/^pipe:4:\d+ .*Strin/);
    expect(code).to.equal(1);
  });

  describe('with references that lead nowhere', () => {
    const routes = Array.from({ length: 40 }, (_, i) =>
      [
        `      - matchers: [{ prefix: /r${i} }]`,
        `        routeAction: { single: { upstream: { name: gone-${i} } } }`,
      ].join('\n'),
    );
    const broken = `${service('shop', FORWARD)}${routes.join('\n')}\n`;

    it('counts each as an error with its place and a suggestion', async () => {
      write('a.yaml', `${UPSTREAM}---\n${broken.replace('name: echo', 'name: ehco')}`);
      const { code, stdout } = await validate();
      const lines = stdout.trim().split('\n');
      expect(code).to.equal(1);
      expect(lines.at(-1)).to.equal('2 resources, 41 errors, 0 warnings');
      expect(lines).to.have.length(42);
      expect(lines[0]).to.match(/^resources\/a\.yaml:14:\d+ .*gw-system\.ehco \} not found \(did you mean echo\?\)/);
      for (const [i, line] of lines.slice(1, -1).entries()) {
        expect(line).to.match(new RegExp(`^resources/a\\.yaml:${16 + 2 * i}:\\d+ .*gone-${i} `));
      }
    });

    it('reports them as warnings with --allow-missing', async () => {
      write('a.yaml', broken);
      const { code, stdout } = await validate('--allow-missing');
      expect(code).to.equal(0);
      expect(stdout).to.match(/\n1 resource, 0 errors, 41 warnings\n$/);
    });
  });

  it('rejects a directory without resources: its path may be wrong', async () => {
    const summary = '0 resources, 0 errors, 0 warnings\n';
    const stderr = 'Error: no resources found in resources (no *.yaml, *.yml or *.json file)\n';
    expect(await validate()).to.deep.equal({ code: 1, stdout: summary, stderr });
    write('notes.txt', UPSTREAM);
    expect(await validate()).to.deep.equal({ code: 1, stdout: summary, stderr });
    const json = await validate('-o', 'json');
    expect(json).to.include({ code: 1, stderr });
    expect(JSON.parse(json.stdout)).to.deep.equal({ resources: 0, errors: 0, warnings: 0, problems: [] });
  });

  it('rejects files with only comments', async () => {
    write('a.yaml', '# later\n');
    const { code, stdout, stderr } = await validate();
    expect({ code, stderr }).to.deep.equal({ code: 1, stderr: 'Error: no resources found in resources\n' });
    expect(stdout).to.match(
      /^resources\/a\.yaml:1:1 .*contains no resource {2}\[warning\]\n0 resources, 0 errors, 1 warning\n$/,
    );
  });

  it('rejects what is missing or forbidden, in one line with exit status 2', async () => {
    expect(await call(['validate', 'none'], { cwd })).to.deep.equal({
      code: 2,
      stdout: '',
      stderr: 'Error: none: no such file or directory\n',
    });
    expect(await call(['validate'], { cwd })).to.include({
      code: 2,
      stderr: "Error: missing required argument 'path'\n",
    });
  });
});
