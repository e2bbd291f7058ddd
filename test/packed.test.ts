import { execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { skip } from './parts/skip.ts';
import { ROOT } from './docs/workspace.ts';

const run = promisify(execFile);
const NAMES = JSON.parse(readFileSync(join(ROOT, 'test', 'public-names.json'), 'utf8')) as Record<string, string[]>;
/** A GraphQL API of a virtual service. */
const API = `apiVersion: graphql.gw.vendor.io/v1beta1
kind: GraphQLApi
metadata: { name: api, namespace: gw-system }
spec: { executableSchema: { schemaDefinition: 'type Query { greeting: String }', executor: { local: {} } } }
---
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: api, namespace: gw-system }
spec:
  virtualHost:
    domains: ['*']
    routes:
      - matchers: [{ prefix: /graphql }]
        graphqlApiRef: { name: api, namespace: gw-system }
`;
const UPSTREAM = `apiVersion: gw.vendor.io/v1
kind: Upstream
metadata: { name: echo, namespace: gw-system }
spec: { static: { hosts: [{ addr: 127.0.0.1, port: 80 }] } }
`;
/** Prints the files that a program loads when it ends. */
const LIST_FILES = `
import { registerHooks } from 'node:module';
const loaded = [];
registerHooks({ load(url, context, next) { if (url.startsWith('file:')) loaded.push(url); return next(url, context); } });
process.on('exit', () => console.error(loaded.join('\\n')));
`;
const ENV = { ...process.env, NODE_OPTIONS: '' };

interface Manifest {
  readonly name: string;
  readonly bin?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/** What a program does with each package, so that its types are used. */
const USES: Readonly<Record<string, string>> = {
  '@edge-gateway/core':
    'export const chain: pkg.ProtectedHandler = pkg.protect((_req, _res, next) => next());\nexport const who: string | undefined = pkg.identityOf({} as never)?.subject;',
  '@edge-gateway/routing': "export const forward = pkg.forwardTo({ target: 'http://127.0.0.1:1', timeoutMs: 5 });",
  '@edge-gateway/admin': 'export const create: typeof pkg.createProxyAdmin = pkg.createProxyAdmin;',
  '@edge-gateway/cli': 'export const all: object = pkg;',
  '@edge-gateway/rbac': "export const guard = pkg.rbac({ policies: {}, onRefusal: 'next' });\nguard.close?.();",
  '@edge-gateway/extauth': "export const keys = pkg.apiKeyAuth({ keys: ['k'], headerName: 'x-key' });",
  '@edge-gateway/oidc':
    "export const options: pkg.OidcOptions = { issuerUrl: '', clientId: '', appUrl: '', callbackPath: '/', session: 'request' };",
  '@edge-gateway/rate-limit':
    "export const limit = pkg.rateLimit({ requestsPerUnit: 5, unit: 'MINUTE' });\nlimit.close?.();",
  '@edge-gateway/xds':
    "export const addresses: readonly pkg.ServerAddress[] = pkg.readServerAddresses('127.0.0.1:9977');",
  '@edge-gateway/kubernetes':
    "export const path: string = pkg.pathOf({ group: '', version: 'v1', plural: 'services' });",
  '@edge-gateway/graphql':
    'export const api: typeof pkg.graphqlApi = pkg.graphqlApi;\nexport const limit: number = pkg.DEFAULT_LIMITS.maxBodyBytes;',
};

/** Returns the paths of all files of a folder, also of linked folders. */
function filesIn(folder: string, prefix = ''): string[] {
  return readdirSync(join(folder, prefix))
    .flatMap((name) => {
      const path = prefix ? `${prefix}/${name}` : name;
      return statSync(join(folder, path)).isDirectory() ? filesIn(folder, path) : [path];
    })
    .sort();
}

describe('the packed packages', () => {
  let folder: string;
  let project: string;
  let manifests: Manifest[];
  let problems: string[];
  /** Exported names, by package. */
  let imported: Readonly<Record<string, string[]>>;
  let required: Readonly<Record<string, string[]>>;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'packed-'));
    project = join(folder, 'project');
    await run('node', [join(ROOT, 'scripts', 'pack.mjs'), join(folder, 'tarballs')], {
      env: { ...ENV, COMMIT: 'abc1234' },
    });
    manifests = [];
    for (const name of readdirSync(join(folder, 'tarballs'))) manifests.push(await unpack(name));
    const peers = new Set(manifests.flatMap(({ peerDependencies = {} }) => Object.keys(peerDependencies)));
    for (const name of ['@types/node', ...peers]) link(join(ROOT, 'node_modules', name), name);
    writeFileSync(join(project, 'package.json'), '{ "name": "project", "private": true }');
    problems = await typeProblems();
    imported = await exportsOf('module', 'await import(name)');
    required = await exportsOf('commonjs', 'require(name)');
  });
  after(() => rmSync(folder, { recursive: true }));

  it('contain the Helm chart with its CRDs, alerts and dashboards', () => {
    const chart = join(project, 'node_modules', '@edge-gateway', 'cli', 'chart');
    const source = join(ROOT, 'deploy', 'helm', 'edge-gateway');
    expect(filesIn(chart)).to.deep.equal(filesIn(source));
    expect(filesIn(chart)).to.include.members(['crds/upstreams.gw.vendor.io.yaml', 'files/alerts.yaml']);
  });

  it('contain their license and README, but no tests or state of a build', () => {
    const places = manifests.map(({ name }) => join(project, 'node_modules', name));
    expect(places).to.have.length(12);
    for (const place of places) {
      const files = readdirSync(place, { recursive: true, encoding: 'utf8' }).filter(
        (name) => !name.startsWith('node_modules'),
      );
      expect(files).to.include.members(['LICENSE', 'README.md', 'package.json']);
      expect(files.filter((name) => /\.test\.|(^|\/)test\/|tsbuildinfo/.test(name))).to.deep.equal([]);
    }
  });

  it('show the commit that programs were packed from, and leave no trace of it in the repository', () => {
    const build = join('node_modules', '@edge-gateway', 'cli', 'build.json');
    expect(JSON.parse(readFileSync(join(project, build), 'utf8'))).to.deep.equal({ commit: 'abc1234' });
    expect(existsSync(join(ROOT, 'packages', 'cli', 'build.json'))).to.equal(false);
  });

  it('carry the scripts of the explorer and the definitions of Envoy, with their licences', () => {
    const place = (...names: string[]) => join(project, 'node_modules', '@edge-gateway', ...names);
    const scripts = ['graphiql.LICENSE', 'graphiql.css', 'graphiql.js', 'react-dom.js', 'react.LICENSE', 'react.js'];
    expect(filesIn(place('admin', 'assets'))).to.deep.equal(scripts);
    const definitions = filesIn(place('xds', 'envoy-api'));
    expect(definitions).to.include('envoy/service/discovery/v3/ads.proto');
    expect(definitions.filter((name) => !name.endsWith('.proto'))).to.deep.equal([]);
    const dependencies = manifests.flatMap((each) => Object.keys(each.dependencies ?? {}));
    expect(dependencies.filter((name) => /graphiql|react|grpc-js-xds/.test(name))).to.deep.equal([]);
  });

  /** Puts a package where npm would, with nothing but the dependencies that it declares, out of the workspace. */
  async function unpack(tarball: string): Promise<Manifest> {
    const dir = tarball.replace(/^edge-gateway-(.+)-\d+\.\d+\.\d+\.tgz$/, '$1');
    const place = join(project, 'node_modules', '@edge-gateway', dir);
    mkdirSync(place, { recursive: true });
    await run('tar', ['-xzf', join(folder, 'tarballs', tarball), '-C', place, '--strip-components=1']);
    const manifest = JSON.parse(readFileSync(join(place, 'package.json'), 'utf8')) as Manifest;
    const source = join(ROOT, dir === 'gateway' ? 'apps' : 'packages', dir, 'node_modules');
    for (const name of Object.keys(manifest.dependencies ?? {})) {
      if (!name.startsWith('@edge-gateway/')) link(join(source, name), `@edge-gateway/${dir}/node_modules/${name}`);
    }
    return manifest;
  }

  function link(target: string, name: string): void {
    const place = join(project, 'node_modules', name);
    mkdirSync(dirname(place), { recursive: true });
    symlinkSync(target, place);
  }

  function linkOnce(target: string, name: string): void {
    if (!existsSync(join(project, 'node_modules', name))) link(target, name);
  }

  const node = (...args: string[]) => run('node', args, { cwd: project, env: ENV });

  /** Returns the exported names of every package as a program of the project sees them. */
  async function exportsOf(type: 'module' | 'commonjs', load: string): Promise<Record<string, string[]>> {
    const program = `const found = {};
      for (const name of ${JSON.stringify(Object.keys(NAMES))}) found[name] = Object.keys(${load}).sort();
      console.log(JSON.stringify(found));`;
    const { stdout } = await node(`--input-type=${type}`, '-e', program);
    return JSON.parse(stdout) as Record<string, string[]>;
  }

  it('depend on one version of each other, and on compatible versions of other packages', () => {
    const packages = Object.keys(NAMES).map((entry) => entry.split('/').slice(0, 2).join('/'));
    expect(manifests.map(({ name }) => name)).to.include.members([...new Set(packages), '@edge-gateway/gateway']);
    for (const { name, dependencies = {} } of manifests) {
      for (const [dependency, version] of Object.entries(dependencies)) {
        const form = dependency.startsWith('@edge-gateway/') ? /^\d+\.\d+\.\d+$/ : /^\^\d+\.\d+\.\d+$/;
        expect(version, `${name} → ${dependency}`).to.match(form);
      }
    }
  });

  it('use the copy of graphql that the project has', async () => {
    const { peerDependencies, dependencies } = manifests.find(({ name }) => name === '@edge-gateway/graphql')!;
    expect(peerDependencies).to.have.property('graphql');
    expect(dependencies).to.not.have.property('graphql');
    const program = `import { graphqlApi } from '@edge-gateway/graphql';
      import { buildSchema } from 'graphql';
      graphqlApi({ schema: buildSchema('type Query { a: Int }') }).close();`;
    await node('--input-type=module', '-e', program);
  });

  it('render metrics for Prometheus', async () => {
    const program = `import { createMetrics } from '@edge-gateway/core';
      const metrics = createMetrics();
      metrics.counter({ path: 'a.requests', metric: 'requests' }).value = 7;
      console.log(await metrics.registry.metrics());`;
    const { stdout } = await node('--input-type=module', '-e', program);
    expect(stdout).to.contain('requests 7');
  });

  for (const [name, names] of Object.entries(NAMES)) {
    it(`${name} works by import and by require`, () => {
      expect(imported[name]).to.deep.equal(names);
      expect(required[name]).to.deep.equal(names);
    });

    it(`${name} has types in an ES module and in CommonJS`, () => {
      const short = name.split('/')[1];
      const own = new RegExp(`^(?:use-${short}\\.|node_modules/${name}/)`);
      expect(problems.filter((line) => own.test(line))).to.deep.equal([]);
      // A check that finds nothing anywhere would be none.
      expect(problems.filter((line) => line.startsWith(`wrong-${short}.`))).to.have.length(2);
    });
  }

  it('add few types to a program that imports all of them', async () => {
    for (const name of ['@types/express', '@types/node', 'express']) linkOnce(join(ROOT, 'node_modules', name), name);
    const alone = await typesOf('alone', "import express from 'express';\nexport default express();\n");
    const middleware = Object.entries(USES).filter(([name]) => name !== '@edge-gateway/cli');
    const imports = middleware.map(([name], index) => `export * as package${index} from '${name}';\n`).join('');
    const together = await typesOf('together', `import express from 'express';\n${imports}export default express();\n`);
    expect(together).to.be.within(alone, 2 * alone);
  });

  /** Returns the number of types that the compiler reads for a program, those of all declarations included. */
  async function typesOf(name: string, text: string): Promise<number> {
    writeFileSync(join(project, `${name}.mts`), text);
    const compilerOptions = { module: 'nodenext', target: 'es2023', strict: true, noEmit: true, types: ['node'] };
    const config = join(project, `tsconfig.${name}.json`);
    writeFileSync(config, JSON.stringify({ compilerOptions, files: [`${name}.mts`] }));
    const { stdout } = await run('tsc', ['-p', config, '--extendedDiagnostics'], { cwd: project, env: ENV });
    return Number(/^Types: +(\d+)$/m.exec(stdout)![1]);
  }

  /** What the compiler says of programs that use each package, one right and one wrong, in both kinds of module. */
  async function typeProblems(): Promise<string[]> {
    const files: string[] = [];
    const write = (file: string, text: string): void => {
      files.push(file);
      writeFileSync(join(project, file), text);
    };
    for (const [name, use] of Object.entries(USES)) {
      for (const ending of ['mts', 'cts']) {
        const short = name.split('/')[1];
        write(`use-${short}.${ending}`, `import * as pkg from '${name}';\n${use}\n`);
        write(`wrong-${short}.${ending}`, `import { noSuchName } from '${name}';\nexport const x = noSuchName;\n`);
      }
    }
    const compilerOptions = { module: 'nodenext', target: 'es2023', strict: true, noEmit: true, types: ['node'] };
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
    const { stdout } = await run('tsc', ['-p', project, '--pretty', 'false'], { cwd: project, env: ENV }).catch(
      (error: Error & { stdout: string }) => error,
    );
    return stdout.split('\n');
  }

  it('have programs that start', async () => {
    for (const { name, bin = {} } of manifests) {
      for (const file of Object.values(bin)) {
        const { stdout } = await node(join(project, 'node_modules', name, file), '--version');
        expect(stdout, name).to.match(/\d/);
      }
    }
  });

  it('have programs that validate resources and serve them with workers', async () => {
    const resources = join(folder, 'resources');
    mkdirSync(resources);
    writeFileSync(join(resources, 'api.yaml'), API);
    const place = (...names: string[]) => join(project, 'node_modules', '@edge-gateway', ...names);
    const { stdout } = await node(place('cli', 'bundle', 'gatewayctl.js'), 'validate', resources);
    expect(stdout).to.equal('2 resources, 0 errors, 0 warnings\n');
    const ports = ['--http-port', '0', '--https-port', '0', '--admin-port', '0', '--stats-port', '0'];
    const args = [
      '--config',
      resources,
      '--state-dir',
      join(folder, 'state'),
      '--workers',
      '2',
      '--drain-seconds',
      '0',
      ...ports,
    ];
    const gateway = fork(place('gateway', 'bundle', 'edge-gateway.js'), args, { cwd: project, env: ENV, silent: true });
    try {
      const [{ ready }] = (await once(gateway, 'message')) as [{ ready: { listeners: { port: number }[] } }];
      const response = await fetch(`http://127.0.0.1:${ready.listeners[0]!.port}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"query":"{ __typename }"}',
      });
      expect(await response.json()).to.deep.equal({ data: { __typename: 'Query' } });
    } finally {
      gateway.kill();
      if (gateway.exitCode === null) await once(gateway, 'exit');
    }
  });

  it('have few files that a command loads', async () => {
    const resources = mkdtempSync(join(folder, 'small-'));
    writeFileSync(join(resources, 'upstream.yaml'), UPSTREAM);
    const hook = `data:text/javascript,${encodeURIComponent(LIST_FILES)}`;
    const program = join(project, 'node_modules', '@edge-gateway', 'cli', 'bundle', 'gatewayctl.js');
    const { stderr } = await node('--import', hook, program, 'validate', resources);
    const files = stderr.trimEnd().split('\n');
    expect(files).to.include(pathToFileURL(realpathSync(program)).href);
    expect(files.length).to.be.below(50);
    expect(files.filter((file) => !file.includes('/cli/bundle/'))).to.deep.equal([]);
  });

  it('are installed by npm into an empty project', async function () {
    // npm writes thousands of files, and may fetch them.
    this.timeout(600_000);
    const registry = (await run('npm', ['config', 'get', 'registry'], { env: ENV })).stdout.trim();
    const reached = await fetch(new URL('lru-cache', registry), { signal: AbortSignal.timeout(10_000) }).then(
      (response) => response.ok,
      () => false,
    );
    if (!reached) skip(this, `the npm registry ${registry} does not respond`);
    const own = join(folder, 'own');
    mkdirSync(own);
    writeFileSync(join(own, 'package.json'), '{ "name": "own", "private": true }');
    const tarballs = readdirSync(join(folder, 'tarballs')).map((name) => join(folder, 'tarballs', name));
    await run('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', ...tarballs], { cwd: own, env: ENV });
    const all = Object.keys(NAMES);
    const inModule = all.map((name) => `await import('${name}');`).join('');
    await run('node', ['--input-type=module', '-e', inModule], { cwd: own, env: ENV });
    const inScript = all.map((name) => `require('${name}');`).join('');
    await run('node', ['--input-type=commonjs', '-e', inScript], { cwd: own, env: ENV });
    expect(readdirSync(join(own, 'node_modules/.bin'))).to.include.members(['gatewayctl', 'edge-gateway']);
  });
});
