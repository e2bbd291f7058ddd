import type { FieldProblem, Kind, ResourceCheck } from '@edge-gateway/core';
import type { GatewaySpec, GrpcJsonTranscoder, UpstreamSpec } from '@edge-gateway/core/schema';
import { transcoderIn } from './placed-transcoder.ts';
import { compileTranscoder, TranscoderProblem } from './transcoder.ts';

type Path = FieldProblem['path'];

const CODES = { Upstream: 'INVALID_UPSTREAM', Gateway: 'INVALID_GATEWAY' } as const;

/**
 * Rejects gRPC-JSON transcoders whose descriptors or HTTP rules are invalid or lack a service.
 *
 * @example
 * createControlPlane({ source: directorySource('resources'), checks: transcoderChecks });
 */
export const transcoderChecks: readonly ResourceCheck[] = (['Upstream', 'Gateway'] as const).map((kind) => ({
  kind: kind satisfies Kind,
  check(spec: GatewaySpec | UpstreamSpec, at: Path): readonly FieldProblem[] {
    const found = transcoderIn(kind, spec);
    if (!found) return [];
    const path = [...at, ...found.path];
    return problemsOf(found.options).map(({ field, message }) => ({
      code: CODES[kind],
      path: [...path, ...field],
      message,
    }));
  },
}));

function problemsOf(options: GrpcJsonTranscoder): readonly TranscoderProblem[] {
  const { protoDescriptor = '', protoDescriptorBin, protoDescriptorConfigMap: map, services = [] } = options;
  const problems: TranscoderProblem[] = [];
  if (!protoDescriptor && protoDescriptorBin === undefined && !map) {
    const fields = 'protoDescriptor, protoDescriptorBin or protoDescriptorConfigMap';
    problems.push(new TranscoderProblem(`missing descriptors: set ${fields}`, []));
  }
  if (services.length === 0) problems.push(new TranscoderProblem('the transcoder names no service', ['services']));
  if (map && !map.configMapRef?.name)
    problems.push(
      new TranscoderProblem('the reference names no ConfigMap', ['protoDescriptorConfigMap', 'configMapRef']),
    );
  if (protoDescriptor.split(/[/\\]/).includes('..')) {
    const message = 'a file outside the configuration directory is not read: the path must not contain ..';
    problems.push(new TranscoderProblem(message, ['protoDescriptor']));
  }
  return protoDescriptorBin === undefined ? problems : [...problems, ...problemOf(options, protoDescriptorBin)];
}

function problemOf(options: GrpcJsonTranscoder, written: string): readonly TranscoderProblem[] {
  const text = written.replaceAll(/\s/g, '');
  if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(text))
    return [new TranscoderProblem('the value is not base64', ['protoDescriptorBin'])];
  try {
    compileTranscoder(options, Buffer.from(text, 'base64'));
    return [];
  } catch (error) {
    return error instanceof TranscoderProblem
      ? [error]
      : [new TranscoderProblem(String(error), ['protoDescriptorBin'])];
  }
}
