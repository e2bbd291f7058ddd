import type { GatewayError } from '@edge-gateway/core';
import { gatewayError } from '../error-codes.ts';

/** A port that cannot be listened on, and how to choose another one. */
interface PortTrouble {
  readonly port: number;
  readonly address: string;
  /** What listens there, e.g. `proxy admin`. */
  readonly what: string;
  /** How to choose another port, e.g. `--admin-port`. */
  readonly remedy: string;
  /** How to choose another address, e.g. `--admin-address`. */
  readonly addressRemedy: string;
  readonly cause: unknown;
}

/** Returns an error with the reason why a port cannot be opened, and a remedy. */
export function portError(trouble: PortTrouble): GatewayError {
  return gatewayError('ERR_GATEWAY_PORT', describe(trouble), { cause: trouble.cause });
}

function describe({ port, address, what, remedy, addressRemedy, cause }: PortTrouble): string {
  const { code = '' } = cause as NodeJS.ErrnoException;
  const subject = `port ${port} (${what})`;
  switch (code) {
    case 'EADDRINUSE':
      return `${subject} is in use by another program.\nIs a gateway or its demo already running? Stop it, or choose another port: ${remedy}.`;
    case 'EACCES':
      return `permission denied: cannot listen on ${subject}.\nChoose a port of 1024 or higher: ${remedy}.`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `cannot listen on ${subject}: address ${address} is not available on this machine.\nChoose another address: ${addressRemedy}.`;
    default:
      return `cannot listen on ${subject} (${code || String(cause)}).\nChoose another port: ${remedy}.`;
  }
}
