// Installs what the repository needs, and does nothing when that is already there.
// Runs on whatever Node the machine has (20 or later); what it installs includes the Node that everything else runs on.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { showProgress } from './progress.mjs';

export const PNPM = 'pnpm@12.21.0';
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const stamp = join(root, 'node_modules', '.setup');
const shell = process.platform === 'win32';

/** Longest wait for the registry's first response, in milliseconds. */
const REGISTRY_MS = 4000;

/** Installation scopes: `run` to build and run the gateway and the demo, `all` also to test and develop. */
const SCOPES = {
  run: { flags: ['--prod'], what: 'dependencies to run, about 260 MB' },
  all: { flags: [], what: 'dependencies to run and test, about 450 MB' },
};

function fingerprint() {
  const manifests = ['packages', 'apps'].flatMap((dir) =>
    readdirSync(join(root, dir)).map((name) => join(dir, name, 'package.json')),
  );
  const hash = createHash('sha256');
  for (const file of ['package.json', 'pnpm-lock.yaml', 'pnpm-workspace.yaml', ...manifests]) {
    const path = join(root, file);
    if (existsSync(path)) hash.update(file).update(readFileSync(path));
  }
  return hash.digest('hex');
}

/** Returns the scope and the fingerprint of the completed installation. */
function installed() {
  if (!existsSync(stamp)) return {};
  const [scope, print] = readFileSync(stamp, 'utf8').split(' ');
  return { scope, print };
}

/**
 * Installs the dependencies of a scope unless they are there. What was installed for `all` stays complete, so that
 * starting between two runs of the tests removes nothing.
 */
export async function setup(asked = 'all') {
  const print = fingerprint();
  const before = installed();
  const scope = before.scope === 'all' ? 'all' : asked;
  if (before.print === print && (before.scope === 'all' || before.scope === scope)) return;
  console.error(`Installing ${SCOPES[scope].what} …`);
  rmSync(stamp, { force: true });
  const { code, output } = await install(SCOPES[scope].flags, await registryState());
  if (code !== 0) {
    console.error(output.trimEnd());
    console.error('\nFailed to install the dependencies: see above.');
    process.exit(code || 1);
  }
  writeFileSync(stamp, `${scope} ${print}`);
}

/** Runs pnpm; with a registry that cannot be reached only from what is on this machine already. */
async function install(flags, { registry, failure }) {
  const network = failure?.isFinal ? '--offline' : '--prefer-offline';
  if (failure) console.error(`The npm registry ${registry} ${failure.reason}.`);
  const env = { ...process.env, npm_config_loglevel: 'error', CI: 'true', ...(failure && IMPATIENT) };
  const done = await run(
    'npx',
    ['-y', network, PNPM, 'install', '--frozen-lockfile', network, '--reporter=ndjson', ...flags],
    env,
  );
  const isNetwork = failure && NETWORK_ERRORS.test(done.output);
  return isNetwork ? { code: done.code, output: WITHOUT_NETWORK } : done;
}

/** Output of npm and pnpm when the network is unavailable. */
const NETWORK_ERRORS = /ENOTCACHED|ERR_PNPM_NO_OFFLINE|EAI_AGAIN|ENOTFOUND|ECONNREFUSED|ECONNRESET|TIMEDOUT|TIMEOUT/;
/** How npm treats a registry that did not respond at once. */
const IMPATIENT = { npm_config_fetch_timeout: '20000', npm_config_fetch_retries: '1' };
const WITHOUT_NETWORK = `
The first start needs the network once, and not everything is on this machine yet. Connect to the network, or set the address of a registry or of a proxy:
  npm config set registry <address>
  npm config set https-proxy <address>
Then run the command again.`;

/** Runs pnpm with its progress, and resolves with its exit code and what people can read of its output. */
function run(command, args, env) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'], env, shell });
    let output = '';
    let packages = 0;
    const progress = showProgress('installing');
    const read = (line) => {
      if (line.includes('"status":"imported"')) progress.update(`${++packages} packages`);
      else output += readable(line);
    };
    for (const input of [child.stdout, child.stderr]) createInterface({ input }).on('line', read);
    const finish = (code) => {
      progress.end();
      resolve({ code, output });
    };
    child.on('error', (error) => {
      output += error.code === 'ENOENT' ? `${command} is not installed: it comes with npm.` : error.message;
      finish(1);
    });
    child.on('close', (code) => finish(code ?? 1));
  });
}

/** Returns what a line of output says: of a report in JSON only errors, anything else as it is. */
function readable(line) {
  if (!line.startsWith('{')) return `${line}\n`;
  try {
    const { level, code, message, err } = JSON.parse(line);
    return level === 'error' ? `${[code, message ?? err?.message].filter(Boolean).join(' ')}\n` : '';
  } catch {
    return `${line}\n`;
  }
}

/** Checks whether the registry of npm responds. Behind a proxy, or without a registry in npm's settings, it is not checked. */
async function registryState() {
  const settings = spawnSync('npm', ['config', 'get', 'registry', 'https-proxy', 'proxy'], { cwd: root, shell });
  const values = new Map(
    String(settings.stdout)
      .split('\n')
      .map((line) => line.split(/=(.*)/s)),
  );
  const registry = values.get('registry');
  const proxy = [values.get('https-proxy'), values.get('proxy')].some((value) => value && value !== 'null');
  return { registry, failure: proxy || !registry ? undefined : await knock(registry) };
}

/** Resolves with what is wrong with a registry; nothing is sent to it but the request for a head. */
function knock(registry) {
  return new Promise((resolve) => {
    const send = registry.startsWith('http:') ? requestHttp : requestHttps;
    const options = { method: 'HEAD', timeout: REGISTRY_MS, rejectUnauthorized: false };
    const request = send(registry, options, () => finish());
    const limit = setTimeout(
      () => finish({ reason: `has not responded for ${REGISTRY_MS / 1000} s; still trying` }),
      REGISTRY_MS,
    );
    function finish(failure) {
      clearTimeout(limit);
      request.destroy();
      resolve(failure);
    }
    request.on('error', ({ code }) => finish({ reason: `cannot be reached (${code})`, isFinal: true }));
    request.end();
  });
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) await setup(process.argv[2]);
