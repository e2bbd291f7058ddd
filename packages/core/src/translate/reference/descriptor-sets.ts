import type { SnapshotUpstream, TranscoderRef } from '../../contract/snapshot.ts';
import type { FieldPath, FieldProblem } from '../../resource/problem.ts';
import { keyOf, type ResourceKey } from '../../resource/resource.ts';
import type { StoredResource } from '../../resource/stored.ts';
import type { ConfigMapSpec } from '../../schema/kind/secret.ts';
import type { GrpcJsonTranscoder } from '../../schema/listener/grpc-json-transcoder.ts';
import { suggest } from '../../syntax/did-you-mean.ts';
import { serviceSpecOf } from '../../upstream/service-functions.ts';
import { dotted } from '../names.ts';
import { contentText, digestText } from '../snapshot/content.ts';
import { find, type Resources } from './find.ts';
import { faultOf, missingFault } from './missing.ts';

/** A descriptor set from outside the resource, or why it cannot be used; neither if the resource contains it. */
export interface FoundDescriptors {
  /** As base64. */
  readonly descriptorSet?: string;
  /** Its path is relative to the block of the transcoder. */
  readonly fault?: FieldProblem;
}

const NONE: FoundDescriptors = Object.freeze({});

/** Returns the descriptor set that a transcoder names: of its ConfigMap, or of its file. */
export function descriptorsOf(
  transcoder: GrpcJsonTranscoder | undefined,
  {
    stored,
    namespace,
    resources,
  }: { readonly stored: StoredResource | undefined; readonly namespace: string; readonly resources: Resources },
): FoundDescriptors {
  if (!transcoder || transcoder.protoDescriptorBin) return NONE;
  const { protoDescriptorConfigMap: written, protoDescriptor } = transcoder;
  if (written) return fromConfigMap(written, namespace, resources);
  const descriptorSet = protoDescriptor ? stored?.observed?.descriptorSet : undefined;
  // A file that cannot be used is a problem that was observed.
  return descriptorSet === undefined ? NONE : { descriptorSet };
}

type Written = NonNullable<GrpcJsonTranscoder['protoDescriptorConfigMap']>;

function fromConfigMap({ configMapRef, key }: Written, namespace: string, resources: Resources): FoundDescriptors {
  const at = (fault: FieldProblem, field: string): FoundDescriptors => {
    return { fault: { ...fault, path: ['protoDescriptorConfigMap', field] } };
  };
  const ref = { name: configMapRef?.name ?? '', namespace: configMapRef?.namespace || namespace };
  const title = `ConfigMap ${dotted(ref)}`;
  const found = find<ConfigMapSpec>(resources.stored, 'ConfigMap', ref);
  if (found.state === 'missing')
    return at(missingFault(`${title} not found`, 'ConfigMap', ref, resources), 'configMapRef');
  if (found.state === 'rejected') return at(faultOf(`${title} is rejected: ${found.cause}`), 'configMapRef');
  const { data = {}, binaryData = {} } = found.resource.spec;
  const values = { ...data, ...binaryData };
  const keys = Object.keys(values).sort();
  if (!key && keys.length !== 1) {
    const which = keys.length === 0 ? 'no values' : `several values (${keys.slice(0, 10).join(', ')}): name one as key`;
    return at(faultOf(`${title} has ${which}`), keys.length === 0 ? 'configMapRef' : 'key');
  }
  const chosen = key || keys[0]!;
  if (!Object.hasOwn(values, chosen)) {
    const hint = suggest(chosen, keys);
    return at(faultOf(`${title} has no value '${chosen}'${hint ? ` (${hint})` : ''}`), 'key');
  }
  return { descriptorSet: values[chosen]!.replaceAll(/\s/g, '') };
}

/** Returns the path of the transcoder of an upstream in its resource. */
export function transcoderPath(spec: SnapshotUpstream['spec']): FieldPath {
  const type = spec.static ? 'static' : spec.kube ? 'kube' : 'consul';
  return ['spec', type, 'serviceSpec', 'grpcJsonTranscoder'];
}

/** Returns the key of the ConfigMap that the transcoder of an upstream names. */
export function descriptorMapOf({ spec, ref }: Pick<SnapshotUpstream, 'ref' | 'spec'>): ResourceKey | undefined {
  const { configMapRef } = serviceSpecOf(spec)?.grpcJsonTranscoder?.protoDescriptorConfigMap ?? {};
  if (!configMapRef) return undefined;
  return keyOf('ConfigMap', { name: configMapRef.name ?? '', namespace: configMapRef.namespace || ref.namespace });
}

/** Returns the version of the functions of an upstream; `undefined` without functions. */
export function functionsVersion({ spec, descriptorSet = '' }: SnapshotUpstream): string | undefined {
  const functions = serviceSpecOf(spec);
  return functions && digestText(contentText(functions) + descriptorSet);
}

/** Returns a reference to the transcoder of an upstream; `undefined` without a transcoder, or if no service has an HTTP rule. */
export function transcoderRef({ name, spec, descriptorSet = '' }: SnapshotUpstream): TranscoderRef | undefined {
  const transcoder = serviceSpecOf(spec)?.grpcJsonTranscoder;
  if (!transcoder || !canTranslate(transcoder)) return undefined;
  return Object.freeze({ upstream: name, version: digestText(contentText(transcoder) + descriptorSet) });
}

/** The tag of the method option `google.api.http`, with which an HTTP rule begins in every descriptor set. */
const HTTP_RULE = Buffer.from('82d3e49302', 'hex');

/** Returns false if no method can have an HTTP rule. Such transcoders are discovered for all services with reflection. */
function canTranslate({ autoMapping, protoDescriptorBin }: GrpcJsonTranscoder): boolean {
  return autoMapping === true || !protoDescriptorBin || Buffer.from(protoDescriptorBin, 'base64').includes(HTTP_RULE);
}
