import type { UpstreamSpec } from '../schema/kind/upstream.ts';
import type { ServiceSpec } from '../schema/upstream/service-spec.ts';

/** Returns the functions of an upstream, of whatever type. */
export function serviceSpecOf({ static: hosts, kube, consul }: UpstreamSpec): ServiceSpec | undefined {
  return (hosts ?? kube ?? consul)?.serviceSpec;
}
