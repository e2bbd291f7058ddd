import type { FieldProblem } from '../../resource/problem.ts';
import type { ResourceRef } from '../../resource/resource.ts';
import type { HeaderManipulation } from '../../schema/route/header-manipulation.ts';
import type { Matcher } from '../../schema/route/matcher.ts';
import type { RouteOptions } from '../../schema/route/route-options.ts';
import { compileRegex } from '../../syntax/regex.ts';
import { thrownBy } from '../../validate/check.ts';
import type { RouteAction } from '../../contract/snapshot.ts';
import { authProblems } from '../virtual-host/auth-refs.ts';
import { faultOf } from '../reference/missing.ts';
import { dotted } from '../names.ts';
import { rateLimitProblems, routeLimitProblems, type LimitedRoute } from '../virtual-host/rate-limits.ts';
import { restProblems } from './rest-calls.ts';
import { subsetProblems } from './subsets.ts';
import { transformationProblems } from '../virtual-host/effective-transformations.ts';
import type { Reader } from '../input.ts';
import type { SourcedProblem } from '../status/report.ts';

/** Options that require forwarding. */
const NOT_ON_REDIRECTS = ['shadowing', 'lbHash', 'cors'] as const;
const HEADER_SECRET_TYPES = new Set(['gw.vendor.io/header', 'Opaque']);

/** A merged route to check. */
export interface JudgedRoute extends LimitedRoute {
  readonly matchers: readonly Matcher[];
  readonly options: RouteOptions;
  readonly maxDirectBodyBytes: number;
}

/** Returns problems of a merged route that its resource alone does not show. */
export function routeProblems(route: JudgedRoute, reader: Reader): readonly SourcedProblem[] {
  const { matchers, options, action } = route;
  const destinations = action.type === 'forward' ? action.destinations.map((one) => one.options) : [];
  const levels = [options, ...destinations];
  return [
    ...[...redirectProblems(options, action), ...bodyProblems(route)].map(faultOf),
    ...levels.flatMap((level) => [
      ...headerProblems(level.headerManipulation, reader),
      ...authProblems(level.extauth, reader),
      ...transformationProblems(level, route.holder, reader),
    ]),
    ...rateLimitProblems(options, route.holder, reader),
    ...routeLimitProblems(options, route, reader),
    ...subsetProblems(action, reader).errors,
    ...restProblems(action, route.holder, reader),
    ...regexProblems(regexesOf(matchers, options, action), reader.input.settings.regexMaxProgramSize).map(faultOf),
  ];
}

/** Returns problems of the secrets whose entries become headers. */
export function headerProblems(block: HeaderManipulation | undefined, reader: Reader): readonly FieldProblem[] {
  return (block?.requestHeadersToAdd ?? []).flatMap(({ headerSecretRef: ref }) => {
    if (!ref) return [];
    return secretProblem({ name: ref.name ?? '', namespace: ref.namespace ?? '' }, reader);
  });
}

function secretProblem(ref: ResourceRef, reader: Reader): readonly FieldProblem[] {
  const found = reader.find<{ type?: string }>('Secret', ref);
  if (found.state === 'missing') return [reader.missing(`header secret ${dotted(ref)} not found`, 'Secret', ref)];
  if (found.state === 'rejected') return [faultOf(`header secret ${dotted(ref)} is rejected: ${found.cause}`)];
  const type = found.resource.spec.type ?? 'Opaque';
  return HEADER_SECRET_TYPES.has(type)
    ? []
    : [faultOf(`secret ${dotted(ref)} is of type ${type}, headers need gw.vendor.io/header or Opaque`)];
}

function redirectProblems(options: RouteOptions, action: RouteAction): string[] {
  if (action.type !== 'redirect') return [];
  return NOT_ON_REDIRECTS.filter((key) => options[key] !== undefined).map(
    (key) => `${key} cannot be used on a redirect`,
  );
}

function bodyProblems({ action, maxDirectBodyBytes }: JudgedRoute): string[] {
  if (action.type !== 'direct') return [];
  const bytes = Buffer.byteLength(action.body);
  return bytes > maxDirectBodyBytes
    ? [`the body of the direct response has ${bytes} bytes, more than ${maxDirectBodyBytes}`]
    : [];
}

interface SizedRegex {
  readonly pattern: string;
  readonly maxProgramSize?: number;
}

function regexesOf(matchers: readonly Matcher[], options: RouteOptions, action: RouteAction): SizedRegex[] {
  const found: SizedRegex[] = [];
  for (const { regex, headers = [], queryParameters = [] } of matchers) {
    if (regex !== undefined) found.push({ pattern: regex });
    for (const condition of [...headers, ...queryParameters]) {
      if (condition.regex && condition.value) found.push({ pattern: condition.value });
    }
  }
  const rewrites = [options.regexRewrite, action.type === 'redirect' ? action.redirect.regexRewrite : undefined];
  for (const rewrite of rewrites) {
    const { regex, googleRe2 } = rewrite?.pattern ?? {};
    if (regex !== undefined) found.push({ pattern: regex, maxProgramSize: googleRe2?.maxProgramSize });
  }
  const host = options.hostRewritePathRegex?.pattern?.regex;
  if (host !== undefined) found.push({ pattern: host });
  return found;
}

function regexProblems(regexes: readonly SizedRegex[], limit: number): string[] {
  return regexes.flatMap(({ pattern, maxProgramSize = limit }) => {
    const problem = thrownBy(() => compileRegex(pattern, { maxProgramSize }));
    return problem === undefined ? [] : [`regex '${pattern}': ${problem}`];
  });
}
