import { Option } from 'commander';
import { PORT_FLAGS, type GatewaySettings } from '../settings.ts';
import * as flags from './flags.ts';
import type { Role } from './role.ts';

/** Flags that are reserved for later versions. */
const FLAGS_NOT_YET = [
  '--bind-address',
  '--context',
  '--kubeconfig',
  '--kubernetes',
  '--snapshot-file',
  '--xds',
  '--xds-port',
] as const;

/** The gateway: control plane and data plane in one process. */
export const allRole: Role<GatewaySettings> = {
  name: 'all',
  description: 'Serves what the resources in a directory declare: control plane and data plane in one process.',
  ports: PORT_FLAGS,
  options: (notYet) => [
    flags.configOption(),
    ...Object.values(PORT_FLAGS).map(flags.portOption),
    ...flags.adminOptions(),
    flags.option('--proxy-name <name>', 'the proxy to serve as').default('gateway-proxy'),
    flags.logLevelOption(),
    flags.drainSecondsOption(),
    flags
      .option(
        '--access-log-overflow <what>',
        'when the reader of the access log is too slow: drop lines, or block requests',
      )
      .choices(['drop', 'block'])
      .default('drop'),
    flags
      .option('--template-env <names>', 'variables that templates may read, with commas between them')
      .argParser(flags.names),
    flags.option('--error-pages <dir>', 'directory with templates for error and login pages, such as 404.html'),
    flags
      .option('--graphql-cache <url>', 'Redis that keeps results of GraphQL APIs, as redis://host:port')
      .argParser(flags.redisUrl),
    ...flags.rateLimitRedisOptions(),
    flags
      .option('--workers <n>', 'processes that serve: a number, or auto for one per processor core')
      .default(1)
      .argParser(flags.workers),
    ...FLAGS_NOT_YET.map((flag) =>
      new Option(`${flag} [value]`)
        .hideHelp()
        .preset('')
        .argParser(() => notYet(flag)),
    ),
  ],
  async start(settings, { log, quit }) {
    const { startAll } = await import('../roles/all.ts');
    const { listeners, unserved, workers, problems, adminPort, statsPort, stop } = await startAll(settings, log, quit);
    const isReady = unserved.length === 0;
    const facts = {
      listeners,
      ...(!isReady && { unserved }),
      ...(workers && { workers }),
      problems,
      adminPort,
      statsPort,
    };
    return { facts, isReady, stop };
  },
};
