import type { Logger } from '@edge-gateway/core';
import type { Transformation } from '@edge-gateway/core/schema';
import { compileHeaderBody } from './header-body.ts';
import { logged } from './log.ts';
import { compileMessageTemplate } from './template.ts';
import type { ChangeMessage, TransformEnvironment } from './transformation.ts';

export interface TransformationEnvironment extends TransformEnvironment {
  /** Set if messages are logged. */
  readonly log: Logger;
  readonly logsAll: boolean;
}

/** Compiles a transformation; `undefined` if it changes nothing. Throws `ERR_ROUTING_OPTION` for an invalid one. */
export function compileTransformation(
  spec: Transformation | undefined,
  environment: TransformationEnvironment,
): ChangeMessage | undefined {
  const change = spec && changeOf(spec, environment);
  if (!change) return undefined;
  const isLogged = environment.logsAll || spec.logRequestResponseInfo === true;
  return isLogged ? logged(change, environment.side, environment.log) : change;
}

function changeOf(
  { transformationTemplate, headerBodyTransform }: Transformation,
  environment: TransformEnvironment,
): ChangeMessage | undefined {
  if (transformationTemplate) return compileMessageTemplate(transformationTemplate, environment);
  return headerBodyTransform && compileHeaderBody(headerBodyTransform.addRequestMetadata === true);
}
