import { json } from '../http/answer.ts';
import type { Endpoint as UpstreamEndpoint, Snapshot, SnapshotUpstream } from '@edge-gateway/core';
import { lazily } from '../http/json-chunks.ts';
import { circuitBreakers } from './envoy/circuit-breakers.ts';
import type { EndpointFactory } from './endpoint.ts';
import { counterLookup, type CounterLookup } from './endpoint-counters.ts';
import { addressAndPort } from './listeners.ts';
import type { EndpointCounters } from './options.ts';
import { statFilter } from './stat-selection.ts';

/** `/clusters`: every upstream with its limits and endpoints. */
export const clusters: EndpointFactory = (options) => ({
  paths: ['/clusters'],
  help: 'upstreams and their endpoints',
  parameters: [
    { name: 'filter', help: 'only names that contain a match of this RE2 expression' },
    { name: 'format', help: 'output format', values: ['text', 'json'] },
  ],
  answer: (parameters) => {
    const matches = statFilter(parameters);
    const counters = counterLookup(options);
    const upstreams = upstreamsOf(options.snapshot()).filter(({ name }) => matches(name));
    if (parameters.get('format') !== 'json') return { body: lazily(upstreams, (each) => asText(each, counters)) };
    return json({ cluster_statuses: lazily(upstreams, (each) => asJson(each, counters)) });
  },
});

function upstreamsOf(snapshot: Snapshot | undefined): readonly SnapshotUpstream[] {
  return snapshot?.upstreams ?? [];
}

function asText(upstream: SnapshotUpstream, counters: CounterLookup): string {
  const { name, endpoints } = upstream;
  const limits = circuitBreakers(upstream).thresholds.flatMap(({ priority, ...values }) =>
    Object.entries(values).map(([key, value]) => `${priority.toLowerCase()}_priority::${key}::${value}`),
  );
  const general = [`observability_name::${name}`, ...limits, 'added_via_api::true'];
  const hosts = endpoints.flatMap((endpoint) => {
    const facts = hostFacts(endpoint, counters(upstream, endpoint));
    return facts.map((fact) => `${addressAndPort(endpoint.address, endpoint.port)}::${fact}`);
  });
  return [...general, ...hosts].map((line) => `${name}::${line}\n`).join('');
}

function hostFacts({ address, weight }: UpstreamEndpoint, counters: EndpointCounters): string[] {
  const facts = {
    ...counters,
    hostname: address,
    health_flags: 'healthy',
    weight,
    region: '',
    zone: '',
    sub_zone: '',
    canary: false,
    priority: 0,
    success_rate: -1,
    local_origin_success_rate: -1,
  };
  return Object.entries(facts).map(([key, value]) => `${key}::${value}`);
}

/** 64-bit numbers are strings, as in Protocol Buffers' JSON. */
function asJson(upstream: SnapshotUpstream, counters: CounterLookup): object {
  const { name, endpoints } = upstream;
  return {
    name,
    added_via_api: true,
    host_statuses: endpoints.map((endpoint) => ({
      address: { socket_address: { address: endpoint.address, port_value: endpoint.port } },
      stats: Object.entries(counters(upstream, endpoint)).map(([stat, value]) => ({
        name: stat,
        value: String(value),
        type: stat.endsWith('_active') ? 'GAUGE' : 'COUNTER',
      })),
      health_status: { eds_health_status: 'HEALTHY' },
      weight: endpoint.weight,
      hostname: endpoint.address,
      locality: {},
    })),
    circuit_breakers: circuitBreakers(upstream),
    observability_name: name,
  };
}
