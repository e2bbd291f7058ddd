import { clusterName, type CallUpstream } from '@edge-gateway/core';
import { errorOf, explain, failureOf } from './failure.ts';
import { Cluster } from './cluster.ts';
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
        cluster.pool(endpoint).connectUnpooled((error, socket) => {
          if (socket) resolve({ socket, host: hostOf(endpoint), basePath: '' });
          else failed(error!);
        });
      } catch (error) {
        failed(error as Error);
      }
    });
}
