import type { AdminServer } from '@edge-gateway/admin';
import type { RoleSettings } from '../command-line/role.ts';
import { PORT_FLAGS } from '../settings.ts';
import { portError } from './port-error.ts';

type AdminPortName = 'adminPort' | 'statsPort' | 'devAdminPort';

/** Listens on the port of a flag and resolves with the port. Rejects with `ERR_GATEWAY_PORT`. */
export async function listenAdmin<Name extends AdminPortName>(
  server: AdminServer,
  name: Name,
  settings: Pick<RoleSettings, 'adminAddress'> & Readonly<Record<Name, number>>,
): Promise<number> {
  const { flag, what } = PORT_FLAGS[name];
  const { adminAddress: address, [name]: port } = settings;
  try {
    return (await server.listen(port, address)).port;
  } catch (error) {
    const { cause } = error as Error;
    const remedy = `${flag} N (0 picks a free port)`;
    throw portError({ port, address, what, remedy, addressRemedy: '--admin-address', cause });
  }
}
