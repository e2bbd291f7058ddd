import type { UpstreamSpec } from '../schema/kind/upstream.ts';
import type { ServiceSpec } from '../schema/upstream/service-spec.ts';

/** The upstream types that have functions. */
const TYPES = ['static', 'kube', 'consul'] as const;
/** Fields of a transcoder with its descriptors. */
const DESCRIPTORS = ['protoDescriptor', 'protoDescriptorBin', 'protoDescriptorConfigMap'] as const;

/** Returns the functions of an upstream, of whatever type. */
export function serviceSpecOf({ static: hosts, kube, consul }: UpstreamSpec): ServiceSpec | undefined {
  return (hosts ?? kube ?? consul)?.serviceSpec;
}

/** Returns the type of an upstream that has functions; `undefined` for other types. */
export function typeWithFunctions(spec: UpstreamSpec): (typeof TYPES)[number] | undefined {
  return TYPES.find((type) => spec[type]);
}

/**
 * Returns the part of discovered functions that an upstream does not declare itself: functions with other names, and the descriptors of a transcoder
 * without any. `undefined` if there is none, or if the upstream declares a service of another type.
 *
 * @example
 * undeclaredFunctions({ rest: { transformations: { find } } }, { rest: { transformations: { find, add } } }); // { rest: { transformations: { add } } }
 */
export function undeclaredFunctions(
  declared: ServiceSpec | undefined,
  discovered: ServiceSpec,
): ServiceSpec | undefined {
  const [type] = Object.keys(discovered);
  if (declared && Object.keys(declared).some((each) => each !== type)) return undefined;
  if (discovered.rest) {
    const known = declared?.rest?.transformations ?? {};
    const all = Object.entries(discovered.rest.transformations ?? {});
    const transformations = Object.fromEntries(all.filter(([name]) => !Object.hasOwn(known, name)));
    return Object.keys(transformations).length > 0 ? { rest: { transformations } } : undefined;
  }
  const { grpcJsonTranscoder: found } = discovered;
  const known = declared?.grpcJsonTranscoder ?? {};
  if (!found || DESCRIPTORS.some((field) => known[field] !== undefined)) return undefined;
  const { services, ...descriptors } = found;
  return { grpcJsonTranscoder: { ...descriptors, ...(services && !known.services && { services }) } };
}

/** Returns the spec with discovered functions that it does not declare itself. */
export function withFunctions(spec: UpstreamSpec, discovered: ServiceSpec): UpstreamSpec {
  const type = typeWithFunctions(spec);
  const declared = serviceSpecOf(spec);
  const added = type && undeclaredFunctions(declared, discovered);
  if (!type || !added) return spec;
  const { rest, grpcJsonTranscoder } = declared ?? {};
  const serviceSpec = {
    ...(added.rest && {
      rest: { ...rest, transformations: { ...rest?.transformations, ...added.rest.transformations } },
    }),
    ...(added.grpcJsonTranscoder && { grpcJsonTranscoder: { ...grpcJsonTranscoder, ...added.grpcJsonTranscoder } }),
  };
  return Object.freeze({ ...spec, [type]: Object.freeze({ ...spec[type], serviceSpec: Object.freeze(serviceSpec) }) });
}
