import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';

/** Brings up the loopback interface, which is down in a new network. */
const UP = 'ip link set lo up';
let isPossible: boolean | undefined;

/** A network with nothing but a loopback interface: every port is free in it, and no other process can use one. */
export interface Network {
  /** Runs the command after it in this network. */
  readonly enter: readonly string[];
  close(): void;
}

/** Returns true if this process may create networks: on Linux, as root, with `unshare` and `ip`. */
export function canCreateNetworks(): boolean {
  isPossible ??=
    process.platform === 'linux' &&
    spawnSync('unshare', ['--net', 'sh', '-c', UP]).status === 0 &&
    spawnSync('nsenter', ['--version']).status === 0;
  return isPossible;
}

/** Creates a network, which exists until it is closed or this process ends. */
export async function createNetwork(): Promise<Network> {
  const holder = spawn('unshare', ['--net', 'sh', '-c', `${UP} && echo up && exec cat`], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  await once(holder.stdout, 'data');
  return { enter: ['nsenter', `--net=/proc/${holder.pid}/ns/net`], close: () => holder.stdin.end() };
}
