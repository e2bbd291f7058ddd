import { gatewayNamespace, formatPath, parseDocuments, validateWritten } from '@edge-gateway/core';
import type { RouteSpec as GatewayRoute, WeightedDestination } from '@edge-gateway/core/schema';
import { backendsOf, type BackendContext, type RefProblem } from './backends.ts';
import type { BackendReference, RouteMatch, RouteObject, RouteRule } from './gateway-objects.ts';
import { headerManipulation, optionRefs, translateFilters } from './route-filters.ts';
import { translateMatch, type MatchForm } from './route-matches.ts';

/** A route in our form with its place among others. */
export interface OrderedRoute {
  readonly route: GatewayRoute;
  readonly precedence: readonly number[];
}

/** The rules of a route in our form. */
export interface TranslatedRules {
  readonly routes: readonly OrderedRoute[];
  readonly problems: readonly RefProblem[];
  /** Why the route cannot be accepted; it has no routes then. */
  readonly fault?: string;
}

interface RulesContext {
  readonly backends: BackendContext;
  readonly listener: { readonly port: number; readonly isTls: boolean };
  /** Names of RouteOptions that target the whole route. */
  readonly routeOptions: readonly string[];
  readonly memo: FaultMemo;
}

/** What is wrong with the routes of an object, by their text. An object that changes is another one. */
export type FaultMemo = WeakMap<RouteObject, Map<string, string | undefined>>;

/** Texts of one object that are remembered: it has one for each port, until backends change. */
const MAX_TEXTS = 16;

/** Status of requests without a valid backend. */
const NO_BACKEND = 500;
const ANY_MATCH: readonly RouteMatch[] = [{}];

/** Translates the rules of a route. One that is not valid or not supported has a fault and changes nothing for others. */
export function translateRules(object: RouteObject, context: RulesContext): TranslatedRules {
  const { metadata, spec = {} } = object;
  const routes: OrderedRoute[] = [];
  const problems: RefProblem[] = [];
  try {
    for (const [i, rule] of (spec.rules ?? []).entries()) {
      const name = rule.name ?? `${metadata.namespace}.${metadata.name}.${i}`;
      for (const match of rule.matches?.length ? rule.matches : ANY_MATCH) {
        const { forms, precedence } = translateMatch(context.backends.kind, match);
        for (const form of forms) {
          const { route, problems: found } = routeOf(rule, form, { ...context, name });
          problems.push(...found);
          routes.push({ route, precedence });
        }
      }
    }
  } catch (error) {
    return { routes: [], problems, fault: (error as Error).message };
  }
  const fault = knownFault(object, JSON.stringify(routes.map(({ route }) => route)), context.memo);
  return fault === undefined ? { routes, problems } : { routes: [], problems, fault };
}

/** Validates routes once for each object and text: all are translated again after each change of one. */
function knownFault(object: RouteObject, text: string, memo: FaultMemo): string | undefined {
  const known = memo.get(object) ?? new Map<string, string | undefined>();
  if (!known.has(text)) {
    if (known.size >= MAX_TEXTS) known.clear();
    known.set(text, faultOf(text));
    memo.set(object, known);
  }
  return known.get(text);
}

/** Returns what is wrong with routes in JSON, as a VirtualService of their own would report it. */
function faultOf(routes: string): string | undefined {
  const document = `{"apiVersion":"gateway.vendor.io/v1","kind":"VirtualService","metadata":{"name":"route"},"spec":{"virtualHost":{"domains":["*"],"routes":${routes}}}}`;
  const { issues } = validateWritten(parseDocuments(document, 'route.json')[0]!);
  const error = issues.find(({ severity }) => severity === 'error');
  return error && `${formatPath(error.path.slice(3))}: ${error.message}`;
}

function routeOf(
  rule: RouteRule,
  form: MatchForm,
  { backends, listener, routeOptions, name }: RulesContext & { readonly name: string },
): { readonly route: GatewayRoute; readonly problems: readonly RefProblem[] } {
  const {
    options,
    redirect,
    routeOptions: own,
    problems,
    isIncomplete,
  } = translateFilters(rule.filters ?? [], { form, backends, listener });
  for (const each of routeOptions) {
    const problem = backends.input.optionProblem('RouteOption', { name: each, namespace: backends.namespace });
    if (problem) problems.push({ reason: 'InvalidOption', message: problem.message });
  }
  const timeout = timeoutOf(rule);
  const all = timeout === undefined ? options : { ...options, timeout };
  const head: GatewayRoute = {
    name,
    matchers: [form.matcher],
    ...(Object.keys(all).length > 0 && { options: all }),
    ...optionRefs([...own, ...routeOptions], backends.namespace),
  };
  if (isIncomplete) return { route: { ...head, directResponseAction: { status: NO_BACKEND } }, problems };
  if (redirect) return { route: { ...head, redirectAction: redirect }, problems };
  const found = backendsOf(rule.backendRefs ?? [], backends, backendOptions);
  return { route: { ...head, ...actionOf(found) }, problems: [...problems, ...found.problems] };
}

/** A share without a valid backend is answered with 500 by all of the rule if there is no other, else by its share. */
function actionOf({ destinations, invalidWeight }: ReturnType<typeof backendsOf>): GatewayRoute {
  const weight = destinations.reduce((sum, each) => sum + (each.weight ?? 0), 0);
  if (weight === 0) return { directResponseAction: { status: NO_BACKEND } };
  const [only] = destinations;
  if (destinations.length === 1 && invalidWeight === 0 && !only!.options)
    return { routeAction: { single: only!.destination! } };
  const invalid: WeightedDestination[] = invalidWeight > 0 ? [{ destination: missing(), weight: invalidWeight }] : [];
  return { routeAction: { multi: { destinations: [...destinations, ...invalid] } } };
}

/** An upstream that never exists. */
const missing = () => ({ upstream: { name: 'gateway-api.invalid-backend', namespace: gatewayNamespace() } });

function backendOptions({ filters = [] }: BackendReference): WeightedDestination['options'] | undefined {
  if (filters.length === 0) return undefined;
  const other = filters.find(({ type }) => type !== 'RequestHeaderModifier' && type !== 'ResponseHeaderModifier');
  if (other) throw new Error(`filter ${other.type} is not supported in a backend`);
  return {
    headerManipulation: Object.assign({}, ...filters.map(headerManipulation)) as ReturnType<typeof headerManipulation>,
  };
}

/** `request` limits all attempts, `backendRequest` one; there is only one. */
function timeoutOf({ timeouts = {} }: RouteRule): string | undefined {
  const { request, backendRequest } = timeouts;
  if (backendRequest !== undefined && !isZero(backendRequest)) return backendRequest;
  return request;
}

function isZero(duration: string): boolean {
  return /^0+[a-z]+$/.test(duration);
}
