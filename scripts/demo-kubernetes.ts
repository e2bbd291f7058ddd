// `npm run demo:kubernetes`: a real API server, a control plane, two proxies and the backends of the demo, as processes of this machine.
import { spawn, type ChildProcess } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { ensureSecrets } from '@edge-gateway/demo';
import { buildKubernetes, runKubernetes, type KubernetesApi } from '../test/parts/kubernetes.ts';

const ROOT = join(import.meta.dirname, '..');
const DEMO = join(ROOT, 'apps/gateway/demo');
const GENERATED = join(DEMO, 'generated');
/** Addresses of the proxies: each opens the same ports. */
const ADDRESSES = ['127.0.0.1', '127.0.0.2'];
const FIRST_ADMIN_PORT = 19_000;
const DEFINITIONS_MS = 60_000;

interface Ready {
  readonly xdsPort: number;
  readonly statsPort: number;
  readonly listeners: readonly { readonly protocol: string; readonly port: number }[];
}

const children: ChildProcess[] = [];
let api: KubernetesApi | undefined;
let isStopping = false;

async function stop(code: number): Promise<void> {
  if (isStopping) return;
  isStopping = true;
  for (const child of children) child.kill('SIGTERM');
  await api?.close();
  process.exit(code);
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => void stop(0));

/** Starts a program; resolves when it is ready. If it ends, so does the demo. */
function start(script: string, ...args: string[]): Promise<Ready> {
  const child = spawn(process.execPath, [join(ROOT, script), ...args], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env: { ...process.env, LOG_LEVEL: process.env.LOG_LEVEL ?? 'error' },
  });
  children.push(child);
  return new Promise((resolve) => {
    child.on('message', (message: { ready?: Ready }) => message.ready && resolve(message.ready));
    child.on('exit', (code) => void stop(code ?? 1));
  });
}

const textsOf = (directory: string, pattern: string): string =>
  globSync(pattern, { cwd: directory })
    .map((file) => readFileSync(join(directory, file), 'utf8'))
    .join('\n---\n');

/** A new definition is served some seconds after it was created. */
async function applyResources({ apply }: KubernetesApi): Promise<void> {
  // Each proxy opens the ports on its own address, which replaces `::`.
  const resources = textsOf(DEMO, '**/*.yaml').replaceAll('bindAddress: 127.0.0.1', "bindAddress: '::'");
  for (const giveUp = performance.now() + DEFINITIONS_MS; ; await wait(500)) {
    try {
      return await apply(resources);
    } catch (error) {
      if (performance.now() > giveUp) throw error;
    }
  }
}

try {
  await ensureSecrets(GENERATED);
  await start('apps/demo/dist/main.js', GENERATED);
  console.error('Building the API server (several minutes for the first time) …');
  const program = await buildKubernetes();
  api = await runKubernetes(program, { controllers: true });
  await api.apply(textsOf(join(ROOT, 'deploy/crds'), '*.yaml'));
  await api.apply('apiVersion: v1\nkind: Namespace\nmetadata: {name: gw-system}\n');
  await applyResources(api);
  const access = ['--kubernetes', '--kubeconfig', api.kubeconfig];
  const { xdsPort, statsPort } = await start('apps/gateway/bundle/edge-gateway.js', 'control-plane', ...access);
  const proxies = await Promise.all(
    ADDRESSES.map((address, i) => {
      const admin = ['--admin-port', String(FIRST_ADMIN_PORT + i), '--snapshot-file', 'none'];
      const role = ['proxy', '--xds', `127.0.0.1:${xdsPort}`, '--bind-address', address, ...admin];
      return start('apps/gateway/bundle/edge-gateway.js', ...role);
    }),
  );
  const urls = proxies.map(({ listeners }, i) => {
    const http = listeners.find(({ protocol }) => protocol === 'http');
    return `http://${ADDRESSES[i]}:${http?.port}`;
  });
  console.error(`
The API server, the control plane and two proxies are running. Try, in another terminal:
  cd ${ROOT}
  export KUBECONFIG=${api.kubeconfig}
  alias kubectl='${program} kubectl'
  kubectl get -n gw-system upstreams,virtualservices,graphqlapis
  kubectl get -n gw-system virtualservice/demo -o yaml
${urls.map((url) => `  curl ${url}/api/v1/products`).join('\n')}
  npm run --silent gatewayctl -- --server http://localhost:${statsPort} check
Press Ctrl-C to stop.`);
} catch (error) {
  console.error(`The demo cannot start: ${(error as Error).message}`);
  await stop(1);
}
