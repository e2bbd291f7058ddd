import { PORT_FLAGS } from '../settings.ts';
import * as flags from './flags.ts';
import type { Role, SourceSettings } from './role.ts';

const PORTS = { statsPort: PORT_FLAGS.statsPort };

/** Discovery in a cluster: creates Upstreams of Services, and GraphQLApis of upstreams. */
export const discoveryRole: Role<SourceSettings> = {
  name: 'discovery',
  description: 'Creates Upstreams for the Services of a Kubernetes cluster, and GraphQLApis for their functions.',
  ports: PORTS,
  check: flags.clusterProblem,
  options: () => [
    ...flags.clusterOptions(),
    flags.portOption(PORTS.statsPort),
    ...flags.adminOptions(),
    ...flags.commonOptions(),
    flags.drainSecondsOption(),
  ],
  async start(settings, process) {
    const { startStandaloneDiscovery } = await import('../roles/standalone-discovery.ts');
    return startStandaloneDiscovery(settings, process);
  },
};
