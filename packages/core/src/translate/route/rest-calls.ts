import type { RestCall, RouteAction } from '../../contract/snapshot.ts';
import type { FieldPath } from '../../resource/problem.ts';
import { keyOf, type ResourceRef } from '../../resource/resource.ts';
import type { UpstreamGroupSpec } from '../../schema/kind/upstream-group.ts';
import type { DestinationSpec } from '../../schema/route/destination.ts';
import type { TransformationTemplate } from '../../schema/route/transformations.ts';
import { templateProblems } from '../../validate/transformation/template-problems.ts';
import { suggest } from '../../syntax/did-you-mean.ts';
import { serviceSpecOf } from '../../upstream/service-functions.ts';
import type { Reader } from '../input.ts';
import type { ProblemSource, SourcedProblem } from '../status/report.ts';
import type { OptionHolder } from '../virtual-host/option-place.ts';
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
  const functions = found && serviceSpecOf(found.spec)?.rest?.transformations;
  const template = functions && Object.hasOwn(functions, functionName) ? functions[functionName] : undefined;
  return Object.freeze({
    functionName,
    ...(template && { template }),
    ...(parameters && { parameters }),
    ...(responseTransformation && { responseTransformation }),
  });
}

/** A call as it is written. */
interface WrittenCall {
  readonly destination: DestinationSpec | undefined;
  readonly namespace: string;
  /** Of the block `rest`, in the resource with the route. */
  readonly path: FieldPath;
  /** Where it is written, if that is in a group. */
  readonly source?: ProblemSource;
}

/**
 * Returns problems of the functions that the destinations of a route call, at the field with the problem. A last good action
 * may have other destinations than the written one: its problems have no field.
 */
export function restProblems(action: RouteAction, holder: OptionHolder, reader: Reader): readonly SourcedProblem[] {
  if (action.type !== 'forward' || !action.destinations.some(({ rest }) => rest)) return [];
  const written = writtenCalls(holder, reader);
  return action.destinations.flatMap(({ upstream, rest, broken }, i) => {
    if (!rest || broken) return [];
    const { functionName, template, responseTransformation } = rest;
    const call = written[i];
    const isSame = call?.destination?.destinationSpec?.rest?.functionName === functionName;
    const place = isSame ? call : undefined;
    if (!template) {
      const name = functionName.slice(0, 60);
      const hint = suggest(name, Object.keys((place && knownFunctions(place, reader)) ?? {}));
      const message = `the upstream ${upstream} has no function '${name}'${hint ? ` (${hint})` : ''}`;
      return [at(place, ['functionName'], message)];
    }
    const label = `function ${functionName} of the upstream ${upstream}`;
    return [
      ...problemsOf(template, 'request').map(({ text }) => at(place, ['functionName'], `${label}: ${text}`)),
      ...(responseTransformation ? problemsOf(responseTransformation, 'response') : []).map(({ text, path }) =>
        at(place, ['responseTransformation', ...path], `responseTransformation: ${text}`),
      ),
    ];
  });
}

/** Returns the written destinations of a route, in the order of those of its action. */
function writtenCalls({ written, namespace, at: above }: OptionHolder, reader: Reader): readonly WrittenCall[] {
  const { single, multi, upstreamGroup: group } = written.routeAction ?? {};
  const route = [...above, 'routeAction'];
  if (single) return [{ destination: single, namespace, path: [...route, 'single', ...REST] }];
  const list = (multi?.destinations ?? []).map(({ destination }, i) => {
    return { destination, namespace, path: [...route, 'multi', 'destinations', i, 'destination', ...REST] };
  });
  if (!group?.name) return list;
  const ref = { name: group.name, namespace: group.namespace || namespace };
  const found = reader.find<UpstreamGroupSpec>('UpstreamGroup', ref);
  const members = found.state === 'usable' ? (found.resource.spec.destinations ?? []) : [];
  return members.map(({ destination }, i) => {
    const source = { key: keyOf('UpstreamGroup', ref), path: ['spec', 'destinations', i, 'destination', ...REST] };
    return { destination, namespace: ref.namespace, path: [...route, 'upstreamGroup'], source };
  });
}

const REST: FieldPath = ['destinationSpec', 'rest'];

function knownFunctions({ destination, namespace }: WrittenCall, reader: Reader) {
  const { name = '', namespace: own } = destination?.upstream ?? {};
  const { upstream } = reader.upstream({ name, namespace: own || namespace });
  return upstream && serviceSpecOf(upstream.spec)?.rest?.transformations;
}

/** Locates a problem below the block `rest` of a call. */
function at(call: WrittenCall | undefined, below: FieldPath, message: string): SourcedProblem {
  const fault = faultOf(message);
  if (!call) return fault;
  const { path, source } = call;
  if (!source) return { ...fault, path: [...path, ...below] };
  return { ...fault, path, source: { key: source.key, path: [...source.path, ...below] } };
}

function problemsOf(template: TransformationTemplate, side: 'request' | 'response') {
  return templateProblems(template, side).map(({ path, message }) => ({
    path,
    text: `${path.length > 0 ? `${path.join('.')}: ` : ''}${message}`,
  }));
}
