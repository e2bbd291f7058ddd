import { execFile, execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, openSync, closeSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePort } from './free-port.ts';
import { BUILD_TIMEOUT_MS, buildGoSources, skipWithoutGo } from './go-program.ts';

const run = promisify(execFile);
const SOURCES = join(import.meta.dirname, 'kubernetes-api');
/** All dependencies are compiled from nothing: minutes, and longer on a busy machine. */
const FIRST_BUILD_MS = 3 * BUILD_TIMEOUT_MS;
const START_MS = 120_000;
/** Controllers that need no nodes. */
const CONTROLLERS =
  'endpointslice-controller,endpointslice-mirroring-controller,endpoints-controller,namespace-controller,garbage-collector-controller,deployment-controller,replicaset-controller,serviceaccount-controller';

/** A real API server of one's own, with its store. */
export interface KubernetesApi {
  /** File with the contexts `admin` (the current one), `gateway` (a user without any rights) and `certificate` (an administrator by client certificate). */
  readonly kubeconfig: string;
  readonly server: string;
  /** PEM of the authority that signed its certificate. */
  readonly ca: string;
  readonly directory: string;
  readonly pid: number;
  /** Runs kubectl as administrator; returns what it prints. Rejects if it fails. */
  kubectl(args: readonly string[], input?: string): Promise<string>;
  /** Applies manifests by server-side apply. */
  apply(manifests: string): Promise<void>;
  /** Kills the API server, its store and the controllers without a word. */
  kill(): Promise<void>;
  /** Starts it again on the same port and data. */
  start(): Promise<void>;
  /** Silent but connected, as a machine that hangs. */
  freeze(): void;
  thaw(): void;
  /** Ends it for good. */
  close(): Promise<void>;
}

export interface KubernetesApiOptions {
  /** Also starts the controllers: EndpointSlices of Services, deletion of namespaces, garbage collection. */
  readonly controllers?: boolean;
  /** More flags of kube-apiserver. */
  readonly flags?: readonly string[];
}

/** Starts an API server on free ports of 127.0.0.1. Skips the suite, with the reason printed, without Go. */
export async function startKubernetes(test: Mocha.Context, options: KubernetesApiOptions = {}): Promise<KubernetesApi> {
  return runKubernetes(await skipWithoutKubernetes(test), options);
}

/** Returns the program with API server, store, controllers and kubectl, after building it if its sources changed. */
export async function skipWithoutKubernetes(test: Mocha.Context): Promise<string> {
  test.timeout(FIRST_BUILD_MS);
  skipWithoutGo(test);
  return buildKubernetes();
}

/** Builds the program into the artifacts. Throws if that is impossible, e.g. without Go or a network. */
export async function buildKubernetes(): Promise<string> {
  const files = ['main.go', 'go.mod', 'go.sum'];
  // kubectl cannot parse the version of a build without these.
  const version = /k8s\.io\/kubernetes (v\S+)/.exec(readFileSync(join(SOURCES, 'go.mod'), 'utf8'))![1]!;
  const [major, minor] = version.slice(1).split('.');
  const facts = {
    gitVersion: version,
    gitMajor: major,
    gitMinor: minor,
    gitTreeState: 'clean',
    buildDate: '1970-01-01T00:00:00Z',
  };
  const flags = ['k8s.io/component-base/version', 'k8s.io/client-go/pkg/version'].flatMap((path) =>
    Object.entries(facts).map(([name, value]) => `-X ${path}.${name}=${value}`),
  );
  const args = ['build', '-mod=readonly', '-trimpath', '-ldflags', ['-s', '-w', ...flags].join(' ')];
  return buildGoSources({ name: 'kubernetes-api', sources: SOURCES, files, args, timeoutMs: FIRST_BUILD_MS });
}

/** Starts the built program. */
export async function runKubernetes(program: string, options: KubernetesApiOptions = {}): Promise<KubernetesApi> {
  const directory = mkdtempSync(join(tmpdir(), 'kubernetes-'));
  const [port, storePort, peerPort, controllerPort] = await Promise.all([1, 2, 3, 4].map(() => freePort()));
  const server = `https://127.0.0.1:${port}`;
  const at = (name: string): string => join(directory, name);
  makeIdentities(directory);
  const ca = readFileSync(at('ca.crt'), 'utf8');
  writeFileSync(at('kubeconfig'), kubeconfigOf(directory, server), { mode: 0o600 });
  let api: ChildProcess | undefined;
  let controllers: ChildProcess | undefined;

  function launch(log: string, args: readonly string[]): ChildProcess {
    const output = openSync(at(log), 'a');
    const env = { ...process.env, EXIT_WITH_STDIN: '1' };
    const child = spawn(program, args, { stdio: ['pipe', output, output], env });
    closeSync(output);
    child.stdin!.on('error', () => undefined);
    return child;
  }

  async function start(): Promise<void> {
    const flags = [...apiServerFlags(directory, port!), ...(options.flags ?? [])];
    api = launch('apiserver.log', ['all', directory, String(storePort), String(peerPort), ...flags]);
    for (const giveUp = performance.now() + START_MS; !(await isReady(server, ca)); await wait(50)) {
      if (api.exitCode !== null)
        throw new Error(`the API server ended:\n${readFileSync(at('apiserver.log'), 'utf8').slice(-2000)}`);
      if (performance.now() > giveUp) throw new Error('the API server is not ready');
    }
    if (!options.controllers) return;
    const own = ['--kubeconfig', at('kubeconfig'), '--leader-elect=false', '--bind-address=127.0.0.1'];
    own.push(`--secure-port=${controllerPort}`, `--service-account-private-key-file=${at('sa.key')}`);
    own.push(
      `--root-ca-file=${at('ca.crt')}`,
      '--use-service-account-credentials=false',
      `--controllers=${CONTROLLERS}`,
    );
    controllers = launch('controllers.log', ['controller-manager', ...own]);
  }

  async function kubectl(args: readonly string[], input?: string): Promise<string> {
    const command = run(program, ['kubectl', '--kubeconfig', at('kubeconfig'), ...args], { maxBuffer: 2 ** 28 });
    command.child.stdin!.on('error', () => undefined);
    command.child.stdin!.end(input ?? '');
    try {
      return (await command).stdout;
    } catch (error) {
      throw new Error(`kubectl ${args.join(' ')}: ${(error as { stderr?: string }).stderr}`, { cause: error });
    }
  }

  async function kill(): Promise<void> {
    await Promise.all([stopNow(controllers), stopNow(api)]);
    controllers = undefined;
  }

  try {
    await start();
  } catch (error) {
    await kill();
    throw error;
  }
  return {
    kubeconfig: at('kubeconfig'),
    server,
    ca,
    directory,
    get pid() {
      return api!.pid!;
    },
    kubectl,
    async apply(manifests) {
      await kubectl(['apply', '--server-side', '--force-conflicts', '-f', '-'], manifests);
    },
    kill,
    start,
    freeze: () => void api!.kill('SIGSTOP'),
    thaw: () => void api!.kill('SIGCONT'),
    async close() {
      await kill();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function stopNow(child: ChildProcess | undefined): Promise<void> {
  if (!child || child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}

function isReady(server: string, ca: string): Promise<boolean> {
  return new Promise((resolve) => {
    const headers = { authorization: 'Bearer admin-token' };
    const asked = request(`${server}/readyz`, { ca, headers, timeout: 5_000, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    asked.on('timeout', () => asked.destroy());
    asked.on('error', () => resolve(false));
    asked.end();
  });
}

function makeIdentities(directory: string): void {
  const at = (name: string): string => join(directory, name);
  const openssl = (...args: string[]): void => void execFileSync('openssl', args, { stdio: 'pipe' });
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '90'];
  const usage = ['-addext', 'basicConstraints=critical,CA:TRUE', '-addext', 'keyUsage=critical,keyCertSign,cRLSign'];
  openssl('req', '-x509', ...key, '-subj', '/CN=Test CA', ...usage, '-keyout', at('ca.key'), '-out', at('ca.crt'));
  const sign = (name: string, subject: string, ...extensions: string[]): void => {
    const added = ['basicConstraints=CA:FALSE', ...extensions].flatMap((one) => ['-addext', one]);
    const out = ['-keyout', at(`${name}.key`), '-out', at(`${name}.crt`)];
    openssl('req', '-x509', '-CA', at('ca.crt'), '-CAkey', at('ca.key'), ...key, '-subj', subject, ...added, ...out);
  };
  const names = 'subjectAltName=IP:127.0.0.1,DNS:localhost,DNS:kubernetes.default.svc';
  sign('apiserver', '/CN=kube-apiserver', names, 'extendedKeyUsage=serverAuth');
  sign('admin', '/O=system:masters/CN=admin', 'extendedKeyUsage=clientAuth');
  openssl('genrsa', '-out', at('sa.key'), '2048');
  openssl('rsa', '-in', at('sa.key'), '-pubout', '-out', at('sa.pub'));
  writeFileSync(at('tokens.csv'), 'admin-token,admin,1,system:masters\ngateway-token,gateway,2,gateways\n', {
    mode: 0o600,
  });
}

function apiServerFlags(directory: string, port: number): string[] {
  const at = (name: string): string => join(directory, name);
  return [
    '--bind-address=127.0.0.1',
    '--advertise-address=127.0.0.1',
    `--secure-port=${port}`,
    '--external-hostname=localhost',
    `--tls-cert-file=${at('apiserver.crt')}`,
    `--tls-private-key-file=${at('apiserver.key')}`,
    `--client-ca-file=${at('ca.crt')}`,
    `--token-auth-file=${at('tokens.csv')}`,
    '--authorization-mode=RBAC',
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${at('sa.pub')}`,
    `--service-account-signing-key-file=${at('sa.key')}`,
    '--service-cluster-ip-range=10.96.0.0/16',
    '--endpoint-reconciler-type=none',
    // There are no service account controllers that would make a default account for pods at once.
    '--disable-admission-plugins=ServiceAccount',
    '--anonymous-auth=false',
  ];
}

function kubeconfigOf(directory: string, server: string): string {
  const data = (name: string): string => readFileSync(join(directory, name)).toString('base64');
  const context = (name: string): object => ({ name, context: { cluster: 'test', user: name } });
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'admin',
    clusters: [{ name: 'test', cluster: { server, 'certificate-authority-data': data('ca.crt') } }],
    users: [
      { name: 'admin', user: { token: 'admin-token' } },
      { name: 'gateway', user: { token: 'gateway-token' } },
      {
        name: 'certificate',
        user: { 'client-certificate-data': data('admin.crt'), 'client-key-data': data('admin.key') },
      },
    ],
    contexts: ['admin', 'gateway', 'certificate'].map(context),
  });
}
