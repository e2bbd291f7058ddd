import { readAdminToken, type AdminToken } from '@edge-gateway/admin';
import type { RoleSettings } from '../command-line/role.ts';
import { gatewayError } from '../error-codes.ts';
import { isLoopback } from './loopback.ts';

/**
 * Returns the token of the admin ports; `undefined` if they need none. Throws `ERR_GATEWAY_ADMIN_TOKEN` if they listen on a non-loopback
 * address without a token, or if the file is unusable.
 */
export function adminTokenOf({ adminAddress, adminTokenFile }: RoleSettings): AdminToken | undefined {
  if (adminTokenFile !== undefined) return read(adminTokenFile);
  if (isLoopback(adminAddress)) return undefined;
  throw gatewayError(
    'ERR_GATEWAY_ADMIN_TOKEN',
    `--admin-address ${adminAddress} is not loopback, so anyone who reaches it could use the admin ports.\n` +
      'Set --admin-token-file FILE with a token of at least 16 characters, or listen on 127.0.0.1.',
  );
}

function read(file: string): AdminToken {
  try {
    return readAdminToken(file);
  } catch (cause) {
    throw gatewayError('ERR_GATEWAY_ADMIN_TOKEN', `--admin-token-file: ${(cause as Error).message}.`, { cause });
  }
}
