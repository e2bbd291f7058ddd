import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { ClusterClient } from '@edge-gateway/kubernetes';
import { cliError } from '../error-codes.ts';
import { dig, items, text } from '../resources/objects.ts';
import { listPods } from './cluster-gateway.ts';
import { objectPath } from './cluster-objects.ts';

/** Where the Service of a proxy is, and the name of its port. */
export interface ServicePlace {
  readonly namespace: string;
  readonly name: string;
  readonly port: string;
  /** True for the address of a node and its port, even if the Service has a load balancer. */
  readonly isLocal?: boolean;
  /** The profile of minikube, which is asked for the address of its node. */
  readonly minikubeProfile?: string | undefined;
}

/** The address of a Service. */
export interface ServiceAddress {
  readonly host: string;
  readonly port: number;
  /** True if only the cluster itself reaches the address. */
  readonly isInternal: boolean;
}

/**
 * Returns the address at which clients reach a port of a Service: that of its load balancer, of a node, or of the cluster. A single port is used
 * whatever its name is. Throws `ERR_CLI_NOT_FOUND`.
 */
export async function serviceAddress(client: ClusterClient, place: ServicePlace): Promise<ServiceAddress> {
  const { namespace, name } = place;
  const { isApiError } = await import('@edge-gateway/kubernetes');
  const path = await objectPath('v1', 'services', namespace, name);
  const service = await client.send({ path }).catch((error: unknown) => {
    if (!isApiError(error, 404)) throw error;
    throw cliError('ERR_CLI_NOT_FOUND', `no Service ${name} in the namespace ${namespace}`);
  });
  const port = choosePort(service, place.port);
  const type = text(service, 'spec', 'type');
  if (place.isLocal && type !== 'ClusterIP') return ofNode(await nodeOf(client, namespace, service), port, place);
  if (type === 'LoadBalancer') return { ...balancerOf(service), port: numberOf(port, 'port'), isInternal: false };
  if (type === 'NodePort') return ofNode(await nodeOf(client, namespace, service), port, place);
  const host = text(service, 'spec', 'clusterIP');
  return { host: bracketed(host), port: numberOf(port, 'port'), isInternal: true };
}

const numberOf = (port: unknown, field: string): number => Number(text(port, field));
const bracketed = (host: string): string => (host.includes(':') ? `[${host}]` : host);

function choosePort(service: unknown, wanted: string): unknown {
  const ports = items(service, 'spec', 'ports');
  const found = ports.length === 1 ? ports[0] : ports.find((port) => text(port, 'name') === wanted);
  if (found !== undefined) return found;
  const known = ports.map((port) => text(port, 'name')).join(', ');
  throw cliError('ERR_CLI_NOT_FOUND', `named port ${wanted} not found; the Service has: ${known}`);
}

function balancerOf(service: unknown): { host: string } {
  const [ingress] = items(service, 'status', 'loadBalancer', 'ingress');
  const host = text(ingress, 'hostname') || text(ingress, 'ip');
  if (host) return { host: bracketed(host) };
  throw cliError('ERR_CLI_NOT_FOUND', 'load balancer ingress not found');
}

const ADDRESS_TYPES = ['ExternalIP', 'InternalIP', 'Hostname'];

/** The node of minikube, whose addresses other programs may not reach. */
const MINIKUBE = 'minikube';

/** Returns a node that runs one of the pods. */
async function nodeOf(client: ClusterClient, namespace: string, service: unknown): Promise<unknown> {
  const selector = Object.entries((dig(service, 'spec', 'selector') ?? {}) as Record<string, string>);
  const pods = await listPods(client, namespace, selector.map(([key, value]) => `${key}=${value}`).join(','));
  const node = pods.map((pod) => text(pod, 'spec', 'nodeName')).find(Boolean);
  if (node === undefined) throw cliError('ERR_CLI_NOT_FOUND', `no node runs a pod of the Service in ${namespace}`);
  return client.send({ path: await objectPath('v1', 'nodes', undefined, node) });
}

async function ofNode(
  node: unknown,
  port: unknown,
  { minikubeProfile = MINIKUBE }: ServicePlace,
): Promise<ServiceAddress> {
  const name = text(node, 'metadata', 'name');
  const host = name === MINIKUBE ? await minikubeAddress(minikubeProfile) : nodeAddress(node, name);
  return { host: bracketed(host), port: numberOf(port, 'nodePort'), isInternal: false };
}

function nodeAddress(node: unknown, name: string): string {
  const addresses = items(node, 'status', 'addresses');
  const byType = (type: string) => addresses.find((one) => text(one, 'type') === type);
  const found = ADDRESS_TYPES.map((type) => text(byType(type), 'address')).find(Boolean);
  if (found) return found;
  throw cliError('ERR_CLI_NOT_FOUND', `the node ${name} has no address`);
}

async function minikubeAddress(profile: string): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)('minikube', ['ip', `--profile=${profile}`]);
    return stdout.trim();
  } catch (error) {
    const { code, stderr = '' } = error as { code?: unknown; stderr?: string };
    const reason = code === 'ENOENT' ? 'minikube is not on the PATH' : stderr.trim() || (error as Error).message;
    throw cliError('ERR_CLI_NOT_FOUND', `cannot read the address of the node minikube: ${reason}`, error);
  }
}
