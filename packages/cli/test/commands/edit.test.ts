import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { parse, parseAllDocuments } from 'yaml';
import { changedLines, createDirectory, SHOP, type ResourceDirectory } from '../support/directory.ts';

describe('edit', () => {
  let directory: ResourceDirectory;
  beforeEach(() => {
    directory = createDirectory();
    directory.write('shop.yaml', SHOP);
  });
  afterEach(() => directory.remove());
  const gw = (...argv: string[]) => directory.call(['edit', ...argv]);
  const lines = () => changedLines(SHOP, directory.read('shop.yaml'));
  const TLS = `apiVersion: v1
kind: Secret
metadata: { name: tls }
type: kubernetes.io/tls
`;

  describe('virtualservice and upstream', () => {
    it('set and remove the TLS configuration', async () => {
      const argv = [
        'virtualservice',
        '--name',
        'shop',
        '--ssl-secret-name',
        'tls',
        '--ssl-sni-domains',
        'a.example,b.example',
      ];
      expect((await gw(...argv, '--force')).stdout).to.contain('| secret_ref |');
      expect(lines()).to.deep.equal([
        '+  sslConfig:',
        '+    secretRef:',
        '+      name: tls',
        '+      namespace: gw-system',
        '+    sniDomains:',
        '+    - a.example',
        '+    - b.example',
      ]);
      expect((await gw('vs', 'shop', '--ssl-remove')).code).to.equal(0);
      expect(lines()).to.deep.equal([]);
      expect(
        (
          await gw(
            'upstream',
            'cart',
            '--ssl-secret-name',
            'tls',
            '--ssl-secret-namespace',
            'x',
            '--ssl-sni',
            'a',
            '--force',
          )
        ).code,
      ).to.equal(0);
      expect(lines()).to.deep.equal([
        '+  sslConfig:',
        '+    secretRef:',
        '+      name: tls',
        '+      namespace: x',
        '+    sni: a',
      ]);
    });

    it('replace another source of the certificate', async () => {
      directory.write(
        'shop.yaml',
        SHOP.replace(
          '  virtualHost:',
          '  sslConfig: { sslFiles: { tlsCert: a, tlsKey: b }, sniDomains: [a] }\n  virtualHost:',
        ),
      );
      expect((await gw('vs', 'shop', '--ssl-secret-name', 'tls', '--force')).code).to.equal(0);
      const { spec } = parseAllDocuments(directory.read('shop.yaml')).at(-1)!.toJS() as any;
      expect(spec.sslConfig).to.deep.equal({ sniDomains: ['a'], secretRef: { name: 'tls', namespace: 'gw-system' } });
    });

    for (const [argv, message] of [
      [['vs', '--ssl-remove'], 'missing --name'],
      [['vs', 'shop'], 'nothing to change: pass --ssl-secret-name, --ssl-sni-domains or --ssl-remove'],
      [['upstream', 'cart'], 'nothing to change: pass --ssl-secret-name, --ssl-sni or --ssl-remove'],
      [
        ['vs', 'shop', '--ssl-remove', '--ssl-secret-name', 'a'],
        '--ssl-remove cannot be combined with another --ssl flag',
      ],
      [['vs', 'shop', '--ssl-secret-namespace', 'a'], '--ssl-secret-namespace requires --ssl-secret-name'],
      [['settings', 'externalauth'], 'nothing to change: pass --extauth-server-name'],
      [
        ['settings', 'externalauth', '--extauth-server-namespace', 'a'],
        '--extauth-server-namespace requires --extauth-server-name',
      ],
      [
        ['settings', 'ratelimit'],
        'nothing to change: pass --ratelimit-server-name, --request-timeout or --deny-on-failure',
      ],
      [
        ['settings', 'ratelimit', '--deny-on-failure', 'perhaps'],
        "--deny-on-failure must be true or false, not 'perhaps'",
      ],
      [['route', 'externalauth', '--name', 'shop', '-d', 'perhaps'], "--disable must be true or false, not 'perhaps'"],
      [['route', 'externalauth', '-d'], 'missing --name'],
      [['route', 'externalauth', '--name', 'shop', '-x', 'a'], "--index must be a number from 0, not 'a'"],
    ] as const)
      it(`reject ${argv.join(' ')}`, async () => {
        expect(await gw(...argv)).to.deep.equal({ code: 2, stdout: '', stderr: `Error: ${message}\n` });
        expect(directory.read('shop.yaml')).to.equal(SHOP);
      });

    it('reject a secret that the gateway could not use', async () => {
      const { code, stderr } = await gw('vs', 'shop', '--ssl-secret-name', 'tls');
      expect(code).to.equal(1);
      expect(stderr).to.match(/resources\/shop\.yaml:\d+:\d+ .*spec\.sslConfig\.secretRef .*no secret gw-system\.tls/);
      directory.write('tls.yaml', TLS);
      expect((await gw('vs', 'shop', '--ssl-secret-name', 'tls')).code).to.equal(1);
    });
  });

  describe('route externalauth', () => {
    it('disables and enables external auth on a route', async () => {
      expect((await gw('route', 'externalauth', '--name', 'shop', '-x', '1', '--disable')).code).to.equal(0);
      expect(lines()).to.deep.equal(['+      options:', '+        extauth:', '+          disable: true']);
      expect((await gw('route', 'externalauth', '--name', 'shop', '-x', '1', '-d', 'false')).code).to.equal(0);
      expect(directory.read('shop.yaml')).to.equal(SHOP);
    });

    it('rejects an index without a route', async () => {
      expect(await gw('route', 'externalauth', '--name', 'shop', '-x', '2', '-d')).to.include({
        code: 1,
        stderr: 'Error: 2 is greater than the number of routes on shop: choose one from 0 to 1\n',
      });
    });
  });

  describe('settings', () => {
    const spec = () => (parse(directory.read('settings-gw-system-default.yaml')) as any).spec as object;

    it('choose the auth server and the rate limit server, and create the Settings', async () => {
      expect((await gw('settings', 'externalauth', '--extauth-server-name', 'cart')).code).to.equal(0);
      expect(spec()).to.deep.equal({ extauth: { extauthzServerRef: { name: 'cart', namespace: 'gw-system' } } });
      const argv = ['--ratelimit-server-name', 'cart', '--request-timeout', '200ms', '--deny-on-failure'];
      expect((await gw('settings', 'ratelimit', ...argv)).code).to.equal(0);
      expect(spec()).to.have.deep.property('ratelimitServer', {
        ratelimitServerRef: { name: 'cart', namespace: 'gw-system' },
        requestTimeout: '200ms',
        denyOnFail: true,
      });
      expect((await gw('settings', 'ratelimit', '--deny-on-failure', 'false')).code).to.equal(0);
      expect(spec()).to.have.nested.property('ratelimitServer.denyOnFail', false);
    });

    it('reject an invalid duration, and write nothing', async () => {
      const { code, stderr } = await gw('settings', 'ratelimit', '--request-timeout', 'soon');
      expect(code).to.equal(1);
      expect(stderr).to.contain('spec.ratelimitServer.requestTimeout').and.to.contain('soon');
      expect(directory.names()).to.deep.equal(['shop.yaml']);
    });
  });

  describe('in the editor', () => {
    /** An editor that saves its input as `seen`, and writes a text. */
    function editor(text: string | undefined, status = 0): { env: Record<string, string>; seen: () => string } {
      const script = join(directory.cwd, 'editor.sh');
      const source = join(directory.cwd, 'text.yaml');
      if (text !== undefined) writeFileSync(source, text);
      const copy = text === undefined ? '' : `cat "${source}" > "$2"`;
      writeFileSync(
        script,
        `#!/bin/sh\n[ "$1" = --wait ] || exit 9\ncat "$2" > "${directory.cwd}/seen"\n${copy}\nexit ${status}\n`,
      );
      chmodSync(script, 0o755);
      const env = { EDITOR: `${script} --wait`, PATH: process.env['PATH']! };
      return { env, seen: () => readFileSync(join(directory.cwd, 'seen'), 'utf8') };
    }
    const LIMITS = '# per shop\nrateLimits:\n- actions:\n  - genericKey: { descriptorValue: shop } # all\n';
    const edit = (argv: string[], env: Record<string, string>) => directory.call(['edit', ...argv], { env });

    it('edits the rate limits of a virtual service with comments', async () => {
      const { env, seen } = editor(LIMITS);
      expect((await edit(['virtualservice', 'ratelimit', 'client-config', '--name', 'shop'], env)).code).to.equal(0);
      expect(seen()).to.match(/^# rateLimits:\n/);
      expect(lines()).to.deep.equal([
        '+    options:',
        '+      ratelimit:',
        '+        # per shop',
        '+        rateLimits:',
        '+        - actions:',
        '+          - genericKey: {descriptorValue: shop} # all',
      ]);
      const again = editor('# nothing\n');
      expect((await edit(['vs', 'ratelimit', 'client-config', '--name', 'shop'], again.env)).code).to.equal(0);
      expect(again.seen()).to.equal(
        '# per shop\nrateLimits:\n  - actions:\n      - genericKey: { descriptorValue: shop } # all\n',
      );
      expect(directory.read('shop.yaml')).to.equal(SHOP);
    });

    it('edits those of a route, and the rules in the Settings', async () => {
      const { env } = editor(LIMITS);
      expect((await edit(['route', 'ratelimit', 'client-config', '--name', 'shop', '-x', '1'], env)).code).to.equal(0);
      expect(lines()).to.include('+        ratelimit:');
      const rules =
        'descriptors:\n- key: generic_key\n  value: shop\n  rateLimit: { requestsPerUnit: 1, unit: SECOND }\n';
      expect((await edit(['settings', 'ratelimit', 'server-config'], editor(rules).env)).code).to.equal(0);
      expect((parse(directory.read('settings-gw-system-default.yaml')) as any).spec.ratelimit).to.deep.equal(
        parse(rules),
      );
    });

    it('changes nothing if the text is unchanged or the editor fails', async () => {
      const argv = ['vs', 'ratelimit', 'client-config', '--name', 'shop'];
      expect(await edit(argv, editor(undefined).env)).to.deep.equal({
        code: 0,
        stdout: '',
        stderr: 'Edit cancelled, no changes made.\n',
      });
      const { TMPDIR } = process.env;
      const handlers = process.listenerCount('SIGINT');
      const { env } = editor(LIMITS, 3);
      const folder = mkdtempSync(join(tmpdir(), 'edit-'));
      process.env['TMPDIR'] = folder;
      const failed = await edit(argv, env);
      if (TMPDIR === undefined) delete process.env['TMPDIR'];
      else process.env['TMPDIR'] = TMPDIR;
      expect([readdirSync(folder), process.listenerCount('SIGINT')]).to.deep.equal([[], handlers]);
      rmdirSync(folder);
      expect(failed.code).to.equal(1);
      expect(failed.stderr).to.match(/^Error: editor ".*" exited with status 3; nothing was changed\n$/);
      expect(directory.read('shop.yaml')).to.equal(SHOP);
    });

    it('keeps a rejected text in a file', async () => {
      for (const text of ['rateLimits: [', 'rateLimit: []\n']) {
        const { code, stderr } = await edit(['vs', 'ratelimit', 'client-config', '--name', 'shop'], editor(text).env);
        expect(code, text).to.be.greaterThan(0);
        const [, kept] = /^Your text is kept in (\S+)$/m.exec(stderr)!;
        expect(existsSync(kept!)).to.equal(true);
        expect(readFileSync(kept!, 'utf8')).to.equal(text);
        if (text.includes('[]')) expect(stderr).to.contain('rateLimit');
        else expect(stderr).to.contain(`Error: ${kept}:1:13  a list is not closed  (add the closing ]`);
        rmSync(dirname(kept!), { recursive: true });
      }
      expect(directory.read('shop.yaml')).to.equal(SHOP);
    });
  });
});
