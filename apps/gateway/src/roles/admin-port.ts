import type { AdminServer } from '@edge-gateway/admin';
import { PORT_FLAGS, READ_ONLY_PORT_FLAGS, type ServingSettings } from '../settings.ts';
import { portError } from './port-error.ts';

const FLAGS = { ...PORT_FLAGS, ...READ_ONLY_PORT_FLAGS };

type ReadOnlyPortName = keyof typeof READ_ONLY_PORT_FLAGS;
type AdminPortName = 'adminPort' | 'statsPort' | 'devAdminPort' | ReadOnlyPortName;
/** The setting with the address of a port. */
type AddressOf<Name> = Name extends ReadOnlyPortName ? 'readOnlyAddress' : 'adminAddress';

/** Listens on the port of a flag and resolves with the port. Rejects with `ERR_GATEWAY_PORT`. */
export async function listenAdmin<Name extends AdminPortName>(
  server: AdminServer,
  name: Name,
  settings: Pick<ServingSettings, AddressOf<Name>> & Readonly<Record<Name, number>>,
): Promise<number> {
  const { flag, what } = FLAGS[name];
  const isReadOnly = name in READ_ONLY_PORT_FLAGS;
  const { [isReadOnly ? 'readOnlyAddress' : 'adminAddress']: address } = settings as Partial<ServingSettings>;
  const port = settings[name];
  try {
    return (await server.listen(port, address)).port;
  } catch (error) {
    const { cause } = error as Error;
    const remedy = `${flag} N (0 picks a free port)`;
    const addressRemedy = isReadOnly ? '--read-only-address' : '--admin-address';
    throw portError({ port, address: address!, what, remedy, addressRemedy, cause });
  }
}
