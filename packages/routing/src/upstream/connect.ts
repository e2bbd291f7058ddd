import { clusterName, GatewayError, type CallUpstream } from '@edge-gateway/core';
import { explain, failureOf } from './failure.ts';
import type { ForwardFailure } from '../forward/forward.ts';
import { Cluster } from './cluster.ts';
import { connectAlone } from './connect-alone.ts';
import { hostOf } from './host-of.ts';
import type { Upstreams } from './upstream.ts';

/**
 * Makes what opens single connections to upstreams, for what is more than an exchange: the next endpoint, the TLS, the connect
 * timeout and the statistics are those of the upstream. Rejects with a `GatewayError` of 503, or 504 after the connect timeout.
 *
 * @example
 * const { socket, host } = await createUpstreamConnector(upstreams)({ name: 'todos', namespace: 'gw-system' });
 */
export function createUpstreamConnector(upstreams: Upstreams): NonNullable<CallUpstream['connect']> {
  return (ref) =>
    new Promise((resolve, reject) => {
      const name = clusterName(ref);
      const cluster = upstreams.get(name);
      const endpoint = cluster?.pick();
      if (!(cluster instanceof Cluster) || !endpoint) {
        return reject(errorOf(failureOf('ERR_ROUTING_NO_ENDPOINT'), `upstream ${name}`));
      }
      const failed = (error: Error): void => {
        const { failure, details } = explain(error, 'connecting');
        reject(errorOf(failure, `${name}: ${details}`));
      };
      try {
        connectAlone(cluster.pool(endpoint), (error, socket) => {
          if (socket) resolve({ socket, host: hostOf(endpoint), basePath: '' });
          else failed(error!);
        });
      } catch (error) {
        failed(error as Error);
      }
    });
}

function errorOf({ status, code, message }: ForwardFailure, details: string): GatewayError {
  return new GatewayError(message, { status, code, cause: new Error(details) });
}
