import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { call } from '../support/captured-io.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const OPENAPI = `openapi: 3.0.0
paths:
  /pets/{id}:
    get:
      operationId: getPet
      parameters: [{ in: path, name: id, required: true, schema: { type: string } }]
      responses: { 200: { content: { application/json: { schema: { properties: { name: { type: string } } } } } } }
  /xml:
    get: { responses: { 200: { content: { text/xml: {} } } } }
`;

describe('create graphqlapi', () => {
  let cwd: string;
  beforeEach(() => {
    cwd = temporaryDirectory();
    mkdirSync(join(cwd, 'resources'));
    writeFileSync(join(cwd, 'openapi.yaml'), OPENAPI);
  });
  const run = (...argv: string[]) => call(argv, { cwd });

  it('writes an API of an OpenAPI document and names what it skipped', async () => {
    const { code, stdout, stderr } = await run(
      'create',
      'graphqlapi',
      'pets',
      '--from-openapi',
      'openapi.yaml',
      '-c',
      'resources',
    );
    expect({ code, stdout, stderr }).to.deep.equal({
      code: 0,
      stdout: 'GraphQLApi pets: 1 fields of upstream pets\n',
      stderr:
        'GraphQLApi gw-system/pets: resources/graphqlapi-gw-system-pets.yaml\nskipped GET /xml: its response is not JSON\n',
    });
    const [file] = readdirSync(join(cwd, 'resources'));
    expect(readFileSync(join(cwd, 'resources', file!), 'utf8')).to.include('getPet(id: String!): GetPetResult');
  });

  it('reads a document from a URL', async () => {
    const server = createServer((_req, res) => res.end(OPENAPI));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/openapi.yaml`;
    const { code, stdout } = await run('create', 'graphqlapi', 'pets', '--from-openapi', url, '--dry-run');
    server.close();
    expect(code).to.equal(0);
    expect(stdout).to.include('kind: GraphQLApi');
    const gone = await run('create', 'graphqlapi', 'pets', '--from-openapi', url, '--dry-run');
    expect(gone.stderr).to.match(/cannot be read/);
  });

  describe('from a URL that', () => {
    let server: Server;
    let url: string;
    before(async () => {
      server = createServer((req, res) => {
        if (req.url === '/moved') return void res.writeHead(302, { location: '/document' }).end();
        if (req.url === '/document') return void res.end(OPENAPI);
        if (req.url === '/file') return void res.writeHead(302, { location: 'file:///etc/passwd' }).end();
        if (req.url === '/loop') return void res.writeHead(302, { location: '/loop' }).end();
        if (req.url === '/html') return void res.end('<html>hello</html>');
        if (req.url === '/large') return void res.end(Buffer.alloc(11 * 1024 * 1024, 32));
        if (req.url === '/half')
          return void res.writeHead(200, { 'content-length': 100 }).write('{', () => res.destroy());
        return void res.writeHead(500).end();
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    });
    after(() => {
      server.closeAllConnections();
      server.close();
    });
    const create = (from: string) => run('create', 'graphqlapi', 'pets', '--from-openapi', from, '--dry-run');

    it('redirects to another path follows it', async () => {
      const { code, stdout } = await create(`${url}/moved`);
      expect(code).to.equal(0);
      expect(stdout).to.include('getPet');
    });

    for (const [what, path, exit, problem] of [
      ['redirects to a file', '/file', 1, /cannot be read \(.*scheme/],
      ['redirects to itself', '/loop', 1, /cannot be read \(redirect/],
      ['answers an error', '/500', 1, /responded with 500/],
      ['answers a page', '/html', 2, /an object/],
      ['answers more than 10 MiB', '/large', 1, /more than 10485760 bytes/],
      ['answers half a document', '/half', 1, /cannot be read/],
    ] as const) {
      it(`${what} is an error in one line`, async () => {
        const { code, stdout, stderr } = await create(url + path);
        expect({ code, stdout }).to.deep.equal({ code: exit, stdout: '' });
        expect(stderr).to.match(problem).and.not.include('root:');
        expect(stderr.trim().split('\n')).to.have.lengthOf(1);
      });
    }

    for (const [what, from, exit, problem] of [
      ['nobody serves', 'http://127.0.0.1:1/x', 1, /cannot be read \(.*(ECONNREFUSED|bad port)/],
      ['is no URL', 'http://', 1, /cannot be read/],
      ['is of another scheme', 'ftp://127.0.0.1/x', 2, /only http and https are read/],
      ['is a file', 'file:///etc/passwd', 2, /only http and https are read/],
      ['is a missing file', 'none.yaml', 2, /none\.yaml: no such file or directory/],
      ['is a directory', 'resources', 2, /resources: is a directory/],
      ['has no end', '/dev/zero', 1, /more than 10485760 bytes/],
    ] as const) {
      it(`${what} is an error in one line`, async () => {
        const { code, stderr } = await create(from);
        expect(code).to.equal(exit);
        expect(stderr).to.match(problem);
        expect(stderr.trim().split('\n')).to.have.lengthOf(1);
      });
    }

    for (const [what, text, problem] of [
      ['is broken YAML', 'openapi: 3.0.0\npaths:\n  a: [1\n', /^Error: document\.yaml:3:6 {2}a list is not closed/],
      ['is nested without end', '['.repeat(200_000), /^Error: document\.yaml:1:\d+ {2}nested too deep/],
      ['multiplies by aliases', bomb(), /^Error: document\.yaml:\d+:\d+ {2}the aliases expand too much/],
    ] as const) {
      it(`is a file that ${what} is an error in one line, with its place`, async () => {
        writeFileSync(join(cwd, 'document.yaml'), text);
        const { code, stderr } = await create('document.yaml');
        expect(code).to.equal(2);
        expect(stderr).to.match(problem);
        expect(stderr.trim().split('\n')).to.have.lengthOf(1);
      });
    }
  });

  it('rejects a file that is not an OpenAPI document', async () => {
    writeFileSync(join(cwd, 'other.yaml'), 'kind: GraphQLApi\n');
    const { code, stderr } = await run('create', 'graphqlapi', 'pets', '--from-openapi', 'other.yaml', '--dry-run');
    expect(code).to.equal(2);
    expect(stderr.trim().split('\n')).to.have.lengthOf(1);
  });
});

/** A document that would be a hundred million values. */
function bomb(): string {
  const lines = ['openapi: 3.0.0', `a: &a [${Array(10).fill(1).join(',')}]`];
  for (const name of 'bcdefgh') {
    const before = String.fromCharCode(name.charCodeAt(0) - 1);
    lines.push(`${name}: &${name} [${Array(10).fill(`*${before}`).join(',')}]`);
  }
  return `${lines.join('\n')}\n`;
}
