import { certs } from './certs.ts';
import { clusters } from './clusters.ts';
import { configDump } from './config-dump.ts';
import { drainListeners } from './drain-listeners.ts';
import type { Endpoint, EndpointFactory } from './endpoint.ts';
import { graphqlApis } from './graphql-explorer.ts';
import { healthcheckFail, healthcheckOk } from './healthcheck.ts';
import { hotRestartVersion } from './hot-restart-version.ts';
import { initDump } from './init-dump.ts';
import { listeners } from './listeners.ts';
import { logging } from './logging.ts';
import { logs } from './logs.ts';
import { memory } from './memory.ts';
import type { ProxyAdminOptions } from './options.ts';
import { quitQuitQuit } from './quit.ts';
import { ready } from './ready.ts';
import { reopenLogs } from './reopen-logs.ts';
import { resetCounters } from './reset-counters.ts';
import { runtime } from './runtime.ts';
import { serverInfo } from './server-info.ts';
import { stats } from './stats.ts';
import { statsPrometheus } from './stats-prometheus.ts';

/** Every endpoint of the proxy admin, in the order `/help` lists them. */
const FACTORIES: readonly EndpointFactory[] = [
  certs,
  clusters,
  configDump,
  drainListeners,
  graphqlApis,
  healthcheckFail,
  healthcheckOk,
  hotRestartVersion,
  initDump,
  listeners,
  logging,
  logs,
  memory,
  quitQuitQuit,
  ready,
  reopenLogs,
  resetCounters,
  runtime,
  serverInfo,
  stats,
  statsPrometheus,
];

/** The endpoints that these options have the parts for. */
export function endpointsOf(options: ProxyAdminOptions): Endpoint[] {
  return FACTORIES.map((factory) => factory(options)).filter((endpoint) => endpoint !== undefined);
}
