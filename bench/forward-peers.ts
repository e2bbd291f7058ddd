// The proxies of the forwarding benchmark, each in a process of its own that is kept on the first core.
import { execFileSync, fork, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { installedEnvoy } from '../test/parts/envoy.ts';
import { freePort } from '../test/parts/free-port.ts';
import { envoyForwardConfig, gatewayResources, nginxConfig, type Setup } from './forward-configs.ts';
import { installBeside } from './installed.ts';
import { pin } from './measure.ts';

/**
 * `node-tls` and `node-https` are bare servers of Node.js, which show what of the cost of
 * TLS is its own.
 */
export const PEERS = [
  'gateway',
  'node-tls',
  'node-https',
  'envoy',
  'nginx',
  'middleware',
  'undici',
  'fast-gateway',
  'hpm',
] as const;
export type PeerName = (typeof PEERS)[number];

/** The listeners of a peer; most have only the plain one. */
export type Port = 'plain' | 'logged' | 'secure' | 'guarded' | 'http2';

export interface Peer {
  readonly name: PeerName;
  readonly child: ChildProcess;
  readonly ports: Readonly<Partial<Record<Port, number>>>;
}

/** A directory for files, with a certificate for the name `localhost`. */
export function createSetup(directory: string, upstream: UpstreamServer, keySet: string): Setup {
  const [key, certificate] = [join(directory, 'tls.key'), join(directory, 'tls.crt')];
  const request = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'];
  execFileSync('openssl', [...request, '-subj', '/CN=localhost', '-keyout', key, '-out', certificate], {
    stdio: 'ignore',
  });
  return { directory, upstreamPort: upstream.port, http2UpstreamPort: upstream.http2Port, key, certificate, keySet };
}

const BUILT = process.env['BUILT'] !== '0';
const CONDITIONS = BUILT ? [] : ['--conditions=source'];

/** Starts the gateway, with these flags too. */
export async function startGateway({ directory, ...setup }: Setup, flags: readonly string[] = []): Promise<Peer> {
  const resources = join(directory, 'resources-gateway');
  mkdirSync(resources);
  writeFileSync(join(resources, 'all.yaml'), gatewayResources({ directory, ...setup }));
  const root = process.env['GATEWAY_ROOT'] ?? join(import.meta.dirname, '..');
  const main = join(root, 'apps/gateway', BUILT ? 'bundle/edge-gateway.js' : 'src/main.ts');
  const ports = ['--http-port', '--https-port', '--admin-port', '--stats-port'].flatMap((flag) => [flag, '0']);
  const output = openSync(join(directory, 'gateway.log'), 'w');
  const args = ['--config', resources, ...ports, '--drain-seconds', '0', ...flags];
  const child = fork(main, args, { execArgv: CONDITIONS, stdio: ['ignore', output, 'inherit', 'ipc'] });
  closeSync(output);
  const [{ ready }] = (await once(child, 'message')) as [{ ready: { listeners: { name: string; port: number }[] } }];
  const portOf = (gateway: string) => ready.listeners.find(({ name }) => name.endsWith(`-${gateway}`))!.port;
  return {
    name: 'gateway',
    child,
    ports: {
      plain: portOf('plain'),
      guarded: portOf('plain'),
      http2: portOf('plain'),
      logged: portOf('logged'),
      secure: portOf('secure'),
    },
  };
}

const freePorts = async () => ({ plain: await freePort(), logged: await freePort(), secure: await freePort() });

async function startEnvoy(setup: Setup): Promise<Peer> {
  const ports = { ...(await freePorts()), guarded: await freePort() };
  const file = join(setup.directory, 'envoy.json');
  writeFileSync(file, JSON.stringify(envoyForwardConfig(setup, ports)));
  const flags = ['--concurrency', '1', '--use-dynamic-base-id', '--disable-hot-restart', '--log-level', 'error'];
  const child = spawn(await installedEnvoy(), ['-c', file, ...flags], { stdio: ['ignore', 'ignore', 'inherit'] });
  await listening(ports.plain, child);
  return { name: 'envoy', child, ports: { ...ports, http2: ports.plain } };
}

async function startNginx(setup: Setup): Promise<Peer> {
  const ports = { ...(await freePorts()), http2: await freePort() };
  const child = spawnNginx(setup, 'nginx', nginxConfig(setup, ports));
  await listening(ports.plain, child);
  return { name: 'nginx', child, ports };
}

async function startNode(name: PeerName, { upstreamPort }: Setup): Promise<Peer> {
  if (name === 'fast-gateway')
    installBeside('fast-gateway', { 'fast-gateway': '5.0.1' }, { 'fast-proxy-lite': '1.1.2' });
  const child = fork(join(import.meta.dirname, 'forward-proxies.ts'), [name, String(upstreamPort)], {
    execArgv: ['--conditions=source'],
  });
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  return { name, child, ports: { plain: port } };
}

async function startTls(name: 'node-tls' | 'node-https', { key, certificate }: Setup): Promise<Peer> {
  const child = fork(join(import.meta.dirname, 'forward-tls.ts'), [name, key, certificate]);
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  return { name, child, ports: { secure: port } };
}

/** Starts a peer on the first core. */
export async function startPeer(name: PeerName, setup: Setup): Promise<Peer> {
  const starts = {
    gateway: (each: Setup) => startGateway(each),
    'node-tls': (each: Setup) => startTls('node-tls', each),
    'node-https': (each: Setup) => startTls('node-https', each),
    envoy: startEnvoy,
    nginx: startNginx,
  };
  const peer = name in starts ? await starts[name as keyof typeof starts](setup) : await startNode(name, setup);
  pin(peer.child, '0');
  return peer;
}

/** The upstream servers of all proxies. */
export interface UpstreamServer {
  readonly child: ChildProcess;
  readonly port: number;
  readonly http2Port: number;
}

/** Length of a message of gRPC, without the five bytes before it. */
export const MESSAGE_BYTES = 100;

export const grpcMessage = (): Buffer => {
  const frame = Buffer.alloc(5 + MESSAGE_BYTES, 'g');
  frame.fill(0, 0, 5).writeUInt32BE(MESSAGE_BYTES, 1);
  return frame;
};

/** Starts what all of them forward to, on the second core: nginx, because it needs least of that core. It responds to gRPC calls with a message, and to `/upload` when it has read the body. */
export async function startUpstream(directory: string): Promise<UpstreamServer> {
  writeFileSync(join(directory, '1k'), 'k'.repeat(1024));
  writeFileSync(join(directory, 'upload'), 'k'.repeat(1024));
  writeFileSync(join(directory, '1m'), 'm'.repeat(1024 * 1024));
  mkdirSync(join(directory, 'grpc'));
  writeFileSync(join(directory, 'grpc', 'unary'), grpcMessage());
  const [port, http2Port] = [await freePort(), await freePort()];
  const files = `root ${directory}; try_files $uri =404; error_page 405 =200 $uri;`;
  const calls = `location /grpc/ { ${files} default_type application/grpc; add_trailer grpc-status 0; }`;
  // Files are sent without reading the body first, a mirrored request is not.
  const uploads = `location = /upload { client_body_buffer_size 2m; mirror /mirrored; ${files} } location = /mirrored { return 204; }`;
  const config = [
    `server { listen 127.0.0.1:${port}; keepalive_requests 100000000; location / { ${files} } ${uploads} }`,
    `server { listen 127.0.0.1:${http2Port} http2; keepalive_requests 100000000; location / { ${files} } ${calls} ${uploads} }`,
  ].join('\n');
  const child = spawnNginx({ directory }, 'upstream', config);
  await listening(port, child);
  pin(child, '1');
  return { child, port, http2Port };
}

function spawnNginx({ directory }: Pick<Setup, 'directory'>, name: string, servers: string): ChildProcess {
  const prefix = join(directory, name);
  mkdirSync(prefix, { recursive: true });
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((kind) => `${kind}_temp_path ${prefix}/${kind};`)
    .join(' ');
  const http = `http { access_log off; client_max_body_size 10m; ${temporary} ${servers} }`;
  const main = `daemon off; master_process off; pid ${prefix}/pid; error_log ${prefix}/error.log; events { worker_connections 4096; }`;
  writeFileSync(join(prefix, 'nginx.conf'), `${main}\n${http}\n`);
  return spawn('nginx', ['-p', prefix, '-c', join(prefix, 'nginx.conf')], { stdio: ['ignore', 'ignore', 'inherit'] });
}

/** Returns true if a program is installed. */
export function isInstalled(program: string): boolean {
  return (process.env['PATH'] ?? '').split(':').some((folder) => existsSync(join(folder, program)));
}

async function listening(port: number, child: ChildProcess): Promise<void> {
  for (let tries = 0; tries < 400; tries++) {
    if (child.exitCode !== null) throw new Error(`${child.spawnfile} exited with ${child.exitCode}`);
    const socket = connect(port, '127.0.0.1');
    const isOpen = await Promise.race([
      once(socket, 'connect').then(() => true),
      once(socket, 'error').then(() => false),
    ]).catch(() => false);
    socket.destroy();
    if (isOpen) return;
    await wait(50);
  }
  throw new Error(`${child.spawnfile} does not listen`);
}

/** The log of the gateway, for error messages. */
export const logOf = (directory: string): string => readFileSync(join(directory, 'gateway.log'), 'utf8').slice(-2000);
