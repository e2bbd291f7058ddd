import { mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { expect } from 'chai';
import { parse, parseAllDocuments } from 'yaml';
import { call } from '../support/captured-io.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

describe('create --file', () => {
  let cwd: string;
  beforeEach(() => {
    cwd = temporaryDirectory();
    mkdirSync(join(cwd, 'resources'));
  });
  const create = (...argv: string[]) => call(['create', ...argv], { cwd });
  const file = (name: string) => join(cwd, 'resources', name);
  const refusal = async (...argv: string[]): Promise<string> => {
    const { code, stdout, stderr } = await create(...argv);
    expect({ code, stdout }, argv.join(' ')).to.deep.equal({ code: 2, stdout: '' });
    expect(written()).to.deep.equal([]);
    return stderr;
  };
  const UPSTREAM = `apiVersion: gw.vendor.io/v1
kind: Upstream
metadata: { name: echo } # of the demo
spec: { static: { hosts: [{ addr: 127.0.0.1, port: 80 }] } }
`;
  const SECRET = `apiVersion: v1
kind: Secret
metadata: { name: login, namespace: shop }
type: extauth.vendor.io/oauth
stringData: { client-secret: hush }
`;
  const write = (text: string, name = 'all.yaml') => writeFileSync(join(cwd, name), text);
  const written = () => readdirSync(join(cwd, 'resources')).sort();

  it('writes each document unchanged to its own file, readable by the owner only', async () => {
    write(`${UPSTREAM}---\n${SECRET}---\n`);
    const { code, stdout, stderr } = await create('-f', 'all.yaml', '--config', 'resources');
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    expect(stdout).to.equal(
      'Upstream gw-system/echo: resources/upstream-gw-system-echo.yaml\nSecret shop/login: resources/secret-shop-login.yaml\n',
    );
    expect(written()).to.deep.equal(['secret-shop-login.yaml', 'upstream-gw-system-echo.yaml']);
    for (const name of written()) expect(statSync(file(name)).mode & 0o777).to.equal(0o600);
    expect(readFileSync(file('upstream-gw-system-echo.yaml'), 'utf8')).to.contain('# of the demo');
    expect(parse(readFileSync(file('secret-shop-login.yaml'), 'utf8'))).to.deep.equal(parse(SECRET));
    expect((await call(['validate', 'resources'], { cwd })).stdout).to.equal('2 resources, 0 errors, 0 warnings\n');
  });

  it('reads standard input, JSON and lists', async () => {
    const list = { apiVersion: 'v1', kind: 'List', items: [parse(UPSTREAM), parse(SECRET)] };
    const stdin = Readable.from([JSON.stringify(list)]);
    const { code, stderr } = await call(['c', '-f', '-', '-c', 'resources'], { cwd, stdin });
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    expect(written()).to.deep.equal(['secret-shop-login.yaml', 'upstream-gw-system-echo.yaml']);
  });

  it('prints with --dry-run, and writes nothing', async () => {
    write(`${UPSTREAM}---\n${SECRET}`);
    const { code, stdout } = await create('-f', 'all.yaml', '--dry-run');
    expect(code).to.equal(0);
    expect(parseAllDocuments(stdout).map((document) => document.toJS() as unknown)).to.deep.equal(
      [UPSTREAM, SECRET].map((text) => parse(text) as unknown),
    );
    expect(written()).to.deep.equal([]);
  });

  it('writes nothing at all when one of several is there already, here or in another file', async () => {
    write(`${SECRET}---\n${UPSTREAM}`);
    writeFileSync(file('mine.yaml'), UPSTREAM);
    const { code, stderr } = await create('-f', 'all.yaml', '-c', 'resources', '--force');
    expect({ code, stderr }).to.deep.equal({
      code: 1,
      stderr: 'Error: resources/mine.yaml:1 already contains a resource with this kind and name\n',
    });
    expect(written()).to.deep.equal(['mine.yaml']);
    rmSync(file('mine.yaml'));
    expect((await create('-f', 'all.yaml', '-c', 'resources')).code).to.equal(0);
    const again = await create('-f', 'all.yaml', '-c', 'resources');
    expect(again).to.include({
      code: 1,
      stderr: 'Error: resources/secret-shop-login.yaml already exists; use --force to overwrite it\n',
    });
    expect((await create('-f', 'all.yaml', '-c', 'resources', '--force')).code).to.equal(0);
  });

  for (const [what, text, message] of [
    ['an unknown key', UPSTREAM.replace('static', 'sttic'), /^Error: all\.yaml:4:9 .*unknown key sttic.*static/],
    ['a kind nobody knows', 'kind: Upstraem\nmetadata: { name: x }\n', /all\.yaml:1:\d+ .*Upstraem/],
    ['no name', UPSTREAM.replace('name: echo', 'labels: {}'), /metadata\.name is missing/],
    ['what is no YAML', 'a: [', /all\.yaml:1:/],
    ['an empty file', '', /empty/],
    ['a file of comments', '# nothing\n', /all\.yaml: the file contains no resource/],
    ['a resource twice', `${UPSTREAM}---\n${UPSTREAM}`, /Upstream gw-system\/echo occurs twice/],
    [
      'several problems, each with its place',
      `${UPSTREAM.replace('static', 'sttic')}---\n${SECRET.replace('stringData: { client-secret: hush', 'data: { client-secret: "%"')}`,
      /^Error: 2 errors occurred:\n\t\* all\.yaml:4:9 .*\n\t\* all\.yaml:10:\d+ /,
    ],
    [
      'keys that no token can be verified with',
      `apiVersion: gateway.vendor.io/v1
kind: RouteOption
metadata: { name: x }
spec: { options: { jwtProvidersStaged: { afterExtAuth: { providers: { main: { jwks: { local: { key: x } } } } } } } }
`,
      /jwks\.local\.key {2}invalid keys/,
    ],
  ] as const) {
    it(`rejects ${what}`, async () => {
      write(text);
      const said = await refusal('-f', 'all.yaml', '-c', 'resources');
      expect(said).to.match(message);
      expect(said).to.not.contain('hush');
    });
  }

  it('accepts no subcommand', async () => {
    write(UPSTREAM);
    const argv = ['secret', 'oauth', 'x', '--client-secret', 'y', '-f', 'all.yaml', '-c', 'resources'];
    expect(await refusal(...argv)).to.match(/--file cannot be combined/);
  });

  it('rejects a file or directory that is missing, and to guess the directory', async () => {
    write(UPSTREAM);
    expect(await refusal('-f', 'none.yaml', '-c', 'resources')).to.match(/none\.yaml: no such file/);
    expect(await refusal('-f', 'all.yaml', '-c', 'none')).to.match(/none: no such file/);
    expect(await refusal('-f', 'all.yaml')).to.match(/--config DIR/);
  });
});
