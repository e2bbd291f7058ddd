import type { LoadBalancerConfig } from '../schema/upstream/load-balancer.ts';
import { message, protoDuration, type EnvoyMessage } from './message.ts';

type SlowStart = NonNullable<NonNullable<LoadBalancerConfig['roundRobin']>['slowStartConfig']>;

/** Returns the fields of a Cluster for a load balancing algorithm. */
export function loadBalancing(config: LoadBalancerConfig | undefined): EnvoyMessage {
  if (!config) return {};
  return { ...algorithm(config), common_lb_config: common(config) };
}

function algorithm({ roundRobin, leastRequest, random, ringHash, maglev }: LoadBalancerConfig): EnvoyMessage {
  if (leastRequest)
    return {
      lb_policy: 'LEAST_REQUEST',
      least_request_lb_config: message({
        choice_count: leastRequest.choiceCount,
        slow_start_config: slowStart(leastRequest.slowStartConfig),
      }),
    };
  if (random) return { lb_policy: 'RANDOM' };
  if (maglev) return { lb_policy: 'MAGLEV' };
  if (ringHash) {
    const { minimumRingSize, maximumRingSize } = ringHash.ringHashConfig ?? {};
    return {
      lb_policy: 'RING_HASH',
      ring_hash_lb_config: message({ minimum_ring_size: minimumRingSize, maximum_ring_size: maximumRingSize }),
    };
  }
  const slow = slowStart(roundRobin?.slowStartConfig);
  return { lb_policy: 'ROUND_ROBIN', round_robin_lb_config: slow && { slow_start_config: slow } };
}

function slowStart(config: SlowStart | undefined): EnvoyMessage | undefined {
  if (!config?.slowStartWindow) return undefined;
  const { slowStartWindow, aggression, minWeightPercent } = config;
  return message({
    slow_start_window: protoDuration(slowStartWindow),
    aggression: aggression === undefined ? undefined : { default_value: aggression, runtime_key: 'slow_start' },
    min_weight_percent: minWeightPercent === undefined ? undefined : { value: minWeightPercent },
  });
}

function common(config: LoadBalancerConfig): EnvoyMessage | undefined {
  const { healthyPanicThreshold: panic, updateMergeWindow, useHostnameForHashing } = config;
  const fields = message({
    healthy_panic_threshold: panic === undefined ? undefined : { value: panic },
    update_merge_window: protoDuration(updateMergeWindow),
    consistent_hashing_lb_config: useHostnameForHashing ? { use_hostname_for_hashing: true } : undefined,
    locality_weighted_lb_config: config.localityWeightedLbConfig && {},
    close_connections_on_host_set_change: config.closeConnectionsOnHostSetChange || undefined,
  });
  return Object.keys(fields).length > 0 ? fields : undefined;
}
