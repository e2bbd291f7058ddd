import { isOn, type Endpoint } from '../http/endpoint.ts';
import type { ProxyAdminOptions } from './proxy-options.ts';

/** An endpoint that changes something whenever it is called. */
interface Action extends Pick<Endpoint, 'help' | 'disruptive' | 'parameters'> {
  readonly path: `/${string}`;
  /** Runs before the response. */
  readonly run?: () => void | Promise<void>;
  /** Runs after the response was sent. */
  readonly after?: (parameters: URLSearchParams) => void;
}

/** Returns the endpoints of all actions. Those whose part is missing in the options do not exist. */
export function actionEndpoints(options: ProxyAdminOptions): Endpoint[] {
  const { context, drain, quit, reopenLogs, setHealthy } = options;
  const actions: readonly (Action | undefined)[] = [
    drain && {
      path: '/drain_listeners',
      help: 'stops accepting connections',
      disruptive: true,
      parameters: [{ name: 'graceful', help: 'let open connections finish their requests', flag: true }],
      after: (parameters) => {
        const start = async (): Promise<void> => drain({ graceful: isOn(parameters, 'graceful') });
        start().catch((err) => context.log.get('admin').error({ err }, 'listeners cannot be drained'));
      },
    },
    setHealthy && {
      path: '/healthcheck/fail',
      help: 'fails the health check: /ready responds DRAINING',
      disruptive: true,
      run: () => setHealthy(false),
    },
    setHealthy && { path: '/healthcheck/ok', help: 'reverts /healthcheck/fail', run: () => setHealthy(true) },
    quit && { path: '/quitquitquit', help: 'ends the process', disruptive: true, after: quit },
    reopenLogs && { path: '/reopen_logs', help: 'reopens log files after they were moved', run: reopenLogs },
    { path: '/reset_counters', help: 'sets every counter to 0', disruptive: true, run: () => resetCounters(options) },
  ];
  return actions.flatMap((action) => (action ? [endpointOf(action)] : []));
}

function endpointOf({ path, run, after, ...shown }: Action): Endpoint {
  return {
    ...shown,
    paths: [path],
    changes: () => true,
    respond: async (parameters) => {
      await run?.();
      return { body: 'OK\n', after: after && (() => after(parameters)) };
    },
  };
}

/** Gauges and histograms stay. */
async function resetCounters({ context, refresh }: ProxyAdminOptions): Promise<void> {
  await refresh?.('stats');
  for (const family of context.metrics.families().values()) {
    for (const { type, stat } of family) if (type === 'counter') stat.value = 0;
  }
}
