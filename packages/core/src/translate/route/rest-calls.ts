import type { RestCall, RouteAction } from '../../contract/snapshot.ts';
import type { FieldProblem } from '../../resource/problem.ts';
import type { ResourceRef } from '../../resource/resource.ts';
import type { UpstreamSpec } from '../../schema/kind/upstream.ts';
import type { DestinationSpec } from '../../schema/route/destination.ts';
import type { TransformationTemplate } from '../../schema/route/transformations.ts';
import { templateProblems } from '../../validate/transformation/template-problems.ts';
import type { Reader } from '../input.ts';
import { faultOf } from '../reference/missing.ts';

/** Returns the call of a destination with the template of its function. */
export function restCallOf(
  { destinationSpec }: DestinationSpec,
  upstream: ResourceRef,
  reader: Reader,
): RestCall | undefined {
  if (!destinationSpec?.rest) return undefined;
  const { functionName = '', parameters, responseTransformation } = destinationSpec.rest;
  const found = reader.upstream(upstream).upstream;
  const functions = found && functionsOf(found.spec);
  const template = functions && Object.hasOwn(functions, functionName) ? functions[functionName] : undefined;
  return Object.freeze({
    functionName,
    ...(template && { template }),
    ...(parameters && { parameters }),
    ...(responseTransformation && { responseTransformation }),
  });
}

function functionsOf({ static: hosts, kube, consul }: UpstreamSpec) {
  return (hosts ?? kube ?? consul)?.serviceSpec?.rest?.transformations;
}

/** Returns problems of the functions that the destinations of a route call. */
export function restProblems(action: RouteAction): readonly FieldProblem[] {
  if (action.type !== 'forward') return [];
  return action.destinations.flatMap(({ upstream, rest, broken }) => {
    if (!rest || broken) return [];
    const { functionName, template, responseTransformation } = rest;
    if (!template) return [faultOf(`the upstream ${upstream} has no function '${functionName.slice(0, 60)}'`)];
    return [
      ...problemsOf(template, 'request', `function ${functionName} of the upstream ${upstream}`),
      ...(responseTransformation ? problemsOf(responseTransformation, 'response', 'responseTransformation') : []),
    ];
  });
}

function problemsOf(template: TransformationTemplate, side: 'request' | 'response', where: string): FieldProblem[] {
  return templateProblems(template, side).map(({ path, message }) =>
    faultOf(`${where}: ${path.length > 0 ? `${path.join('.')}: ` : ''}${message}`),
  );
}
