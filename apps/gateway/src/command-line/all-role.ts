import { PORT_FLAGS, READ_ONLY_PORT_FLAGS, type GatewaySettings } from '../settings.ts';
import * as flags from './flags.ts';
import type { Role } from './role.ts';

/** Flags that are reserved for later versions. */
const FLAGS_NOT_YET = ['--context', '--kubeconfig', '--kubernetes'];

/** The gateway: control plane and data plane in one process. */
export const allRole: Role<GatewaySettings> = {
  name: 'all',
  description: 'Serves what the resources in a directory declare: control plane and data plane in one process.',
  ports: { ...PORT_FLAGS, ...READ_ONLY_PORT_FLAGS },
  options: (notYet) => [
    flags.configOption(),
    ...Object.values(PORT_FLAGS).map(flags.portOption),
    ...flags.adminOptions(),
    flags.proxyNameOption(),
    ...flags.stateOptions('accepted resources with secret values'),
    ...flags.commonOptions(),
    flags.drainSecondsOption(),
    ...flags.servingOptions(),
    ...flags.notYetOptions(FLAGS_NOT_YET, notYet),
  ],
  async start(settings, { log, quit }) {
    const [{ startAll }, { stateDirectory }] = await Promise.all([
      import('../roles/all.ts'),
      import('../roles/state-directory.ts'),
    ]);
    const stateDir = stateDirectory(settings.stateDir);
    const { listeners, unserved, workers, problems, firstProblems, ports, stop } = await startAll(
      { ...settings, stateDir },
      log,
      quit,
    );
    const isReady = unserved.length === 0;
    const facts = {
      listeners,
      ...(!isReady && { unserved }),
      ...(workers && { workers }),
      problems,
      ...ports,
    };
    return { facts, details: { firstProblems }, isReady, stop };
  },
};
