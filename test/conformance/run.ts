import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createClusterClient } from '@edge-gateway/kubernetes';
import { GatewayProcess, until } from '../../apps/gateway/test/gateway-process.ts';
import { startControlPlane } from '../../apps/gateway/test/planes/planes.ts';
import { ROOT } from '../docs/workspace.ts';
import { runKubernetes } from '../parts/kubernetes.ts';
import { runPods } from './pods.ts';
import { runProxies } from './proxies.ts';

/** What the suite hands to this program, which runs in a network of its own. */
export interface RunOptions {
  readonly kubernetes: string;
  readonly conformance: string;
  readonly module: string;
  /** Files with the definitions of the Gateway API. */
  readonly definitions: readonly string[];
  readonly output: string;
  readonly log: string;
  /** Runs only this test. */
  readonly test?: string;
}

const options = JSON.parse(process.argv[2]!) as RunOptions;
const CLASS = 'edge-gateway';
const GROUP = 'gateway.networking.k8s.io/v1';

/** Returns the addresses of a network of 16 bits, one after the other. */
function addressesOf(prefix: string): () => string {
  let next = 0;
  return () => {
    next += 1;
    return `${prefix}.${next >> 8}.${next & 255}`;
  };
}

const api = await runKubernetes(options.kubernetes, { controllers: true });
const client = await createClusterClient({ kubeconfig: [api.kubeconfig] });
const controlPlane = new GatewayProcess();
const open: { close(): Promise<void> }[] = [api, client, controlPlane];
let exitCode = 1;
try {
  for (const file of options.definitions) await api.apply(readFileSync(file, 'utf8'));
  for (const file of globSync('deploy/crds/*.yaml', { cwd: ROOT }))
    await api.apply(readFileSync(join(ROOT, file), 'utf8'));
  await api.kubectl(['wait', '--for=condition=Established', 'crd', '--all', '--timeout=60s']);
  await api.kubectl(['create', 'namespace', 'gw-system']);
  const spec = { controllerName: 'gateway.vendor.io/edge-gateway' };
  await api.apply(JSON.stringify({ apiVersion: GROUP, kind: 'GatewayClass', metadata: { name: CLASS }, spec }));
  await startControlPlane(controlPlane, '--kubernetes', '--kubeconfig', api.kubeconfig);
  await until(async () => {
    const path = `/apis/${GROUP}/gatewayclasses/${CLASS}`;
    const { status } = await client.send<{ status?: { supportedFeatures?: unknown[] } }>({ path });
    return status?.supportedFeatures?.length;
  }, 'the class is accepted');
  const proto = join(options.module, 'echo-basic', 'grpcecho.proto');
  open.push(await runPods({ client, nodeAddress: '198.18.255.1', nextAddress: addressesOf('198.18'), proto }));
  const { xdsPort } = controlPlane.ready;
  open.push(runProxies({ client, className: CLASS, xdsPort, nextAddress: addressesOf('198.19') }));
  exitCode = await runSuite();
} finally {
  for (const each of open.toReversed()) await each.close().catch(() => undefined);
  createWriteStream(options.log).end(controlPlane.output + controlPlane.errors);
}
process.exitCode = exitCode;

async function runSuite(): Promise<number> {
  const flags = ['-test.v', '-test.run', 'TestConformance', '-test.timeout', '25m', '-gateway-class', CLASS];
  flags.push('-allow-crds-mismatch', '-cleanup-base-resources=false');
  if (options.test) flags.push('-run-test', options.test);
  const env = { ...process.env, KUBECONFIG: api.kubeconfig };
  const suite = spawn(options.conformance, flags, { cwd: options.module, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const output = createWriteStream(options.output);
  for (const stream of [suite.stdout, suite.stderr]) stream.pipe(output, { end: false });
  const [code] = (await once(suite, 'close')) as [number | null];
  output.end();
  return code ?? 1;
}
