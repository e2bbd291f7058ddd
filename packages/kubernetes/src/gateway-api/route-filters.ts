import type { HeaderManipulation, RedirectAction, RouteOptions, RouteSpec } from '@edge-gateway/core/schema';
import { destinationOf, isRefProblem, type BackendContext, type RefProblem } from './backends.ts';
import type { RouteFilter } from './gateway-objects.ts';
import type { MatchForm } from './route-matches.ts';

/** The filters of a rule in our form. */
export interface TranslatedFilters {
  readonly options: RouteOptions;
  readonly redirect?: RedirectAction;
  /** RouteOptions of the namespace of the route, by name. */
  readonly routeOptions: readonly string[];
  readonly problems: RefProblem[];
  /** True if a filter cannot be applied: requests must be rejected, because they must not skip it. */
  readonly isIncomplete: boolean;
}

const REDIRECT_CODES: Readonly<Record<number, RedirectAction['responseCode']>> = {
  301: 'MOVED_PERMANENTLY',
  302: 'FOUND',
  303: 'SEE_OTHER',
  307: 'TEMPORARY_REDIRECT',
  308: 'PERMANENT_REDIRECT',
};

/** Ports that belong to a scheme and are not written. */
const SCHEME_PORTS: Readonly<Record<string, number>> = { http: 80, https: 443 };

interface FilterContext {
  readonly form: MatchForm;
  readonly backends: BackendContext;
  /** The listener of the route. */
  readonly listener: { readonly port: number; readonly isTls: boolean };
}

/** Translates the filters of a rule. Throws for one that is not supported: it must not be skipped. */
export function translateFilters(filters: readonly RouteFilter[], context: FilterContext): TranslatedFilters {
  let options: RouteOptions = {};
  let redirect: RedirectAction | undefined;
  const routeOptions: string[] = [];
  const problems: RefProblem[] = [];
  let isIncomplete = false;
  for (const filter of filters) {
    switch (filter.type) {
      case 'RequestHeaderModifier':
      case 'ResponseHeaderModifier':
        options = { ...options, headerManipulation: { ...options.headerManipulation, ...headerManipulation(filter) } };
        break;
      case 'RequestRedirect':
        redirect = redirectOf(filter.requestRedirect ?? {}, context);
        break;
      case 'URLRewrite':
        options = { ...options, ...rewriteOf(filter.urlRewrite ?? {}, context.form) };
        break;
      case 'RequestMirror': {
        const mirror = mirrorOf(filter.requestMirror, context.backends);
        if ('reason' in mirror) problems.push(mirror);
        else if (options.shadowing) throw new Error('a rule can have only one filter RequestMirror');
        else options = { ...options, ...mirror };
        break;
      }
      case 'ExtensionRef': {
        const name = routeOptionOf(filter);
        const { namespace, input } = context.backends;
        const problem = input.optionProblem('RouteOption', { name, namespace });
        if (problem?.isMissing) isIncomplete = true;
        // The last good version of an invalid one may be known; requests are rejected if it is not.
        else routeOptions.push(name);
        if (problem)
          problems.push({ reason: problem.isMissing ? 'BackendNotFound' : 'InvalidOption', message: problem.message });
        break;
      }
      default:
        throw new Error(`filter ${filter.type} is not supported`);
    }
  }
  return { options, ...(redirect && { redirect }), routeOptions, problems, isIncomplete };
}

/** Returns the changes to headers of one filter. */
export function headerManipulation({
  requestHeaderModifier: request,
  responseHeaderModifier: response,
}: RouteFilter): HeaderManipulation {
  const toAdd = ({ set = [], add = [] }: NonNullable<typeof request>) => [
    ...set.map(({ name, value }) => ({ header: { key: name, value: literal(value) }, append: false })),
    ...add.map(({ name, value }) => ({ header: { key: name, value: literal(value) }, append: true })),
  ];
  return {
    ...(request && { requestHeadersToAdd: toAdd(request), requestHeadersToRemove: [...(request.remove ?? [])] }),
    ...(response && { responseHeadersToAdd: toAdd(response), responseHeadersToRemove: [...(response.remove ?? [])] }),
  };
}

/** Values have no operators in this API. */
function literal(value: string): string {
  return value.replaceAll('%', '%%');
}

function redirectOf(
  { scheme, hostname, path, port, statusCode = 302 }: NonNullable<RouteFilter['requestRedirect']>,
  { form, listener }: FilterContext,
): RedirectAction {
  const responseCode = REDIRECT_CODES[statusCode];
  if (!responseCode) throw new Error(`redirects with status ${statusCode} are not supported`);
  const target = scheme ?? (listener.isTls ? 'https' : 'http');
  if (!Object.hasOwn(SCHEME_PORTS, target))
    throw new Error(`redirects to scheme ${target} are not supported; http and https are`);
  // Without a port, that of a given scheme, else that of the listener: never that of the request.
  const number = port ?? (scheme ? SCHEME_PORTS[scheme] : listener.port);
  return {
    responseCode,
    ...(hostname && { hostRedirect: hostname }),
    ...(scheme === 'https' && { httpsRedirect: true }),
    ...(scheme === 'http' && { schemeRedirect: 'http' as const }),
    ...(number !== undefined && { portRedirect: number }),
    ...(path?.type === 'ReplaceFullPath' && { pathRedirect: path.replaceFullPath ?? '/' }),
    ...(path?.type === 'ReplacePrefixMatch' && { prefixRewrite: replacedPrefix(path.replacePrefixMatch, form) }),
  };
}

function rewriteOf({ hostname, path }: NonNullable<RouteFilter['urlRewrite']>, form: MatchForm): RouteOptions {
  return {
    ...(hostname && { hostRewrite: hostname }),
    ...(path?.type === 'ReplaceFullPath' && {
      regexRewrite: {
        pattern: { regex: '^.*$' },
        substitution: (path.replaceFullPath ?? '/').replaceAll('\\', '\\\\'),
      },
    }),
    ...(path?.type === 'ReplacePrefixMatch' && { prefixRewrite: replacedPrefix(path.replacePrefixMatch, form) }),
  };
}

/** Returns what replaces the prefix of one form of a match: a slash follows where the form ends with one. */
function replacedPrefix(replacement = '/', { prefix }: MatchForm): string {
  if (prefix === undefined) throw new Error('ReplacePrefixMatch needs a match of type PathPrefix');
  const plain = replacement.replace(/\/+$/, '');
  return prefix === 'below' || plain === '' ? `${plain}/` : plain;
}

function mirrorOf(
  mirror: RouteFilter['requestMirror'],
  context: BackendContext,
): Pick<RouteOptions, 'shadowing'> | RefProblem {
  if (!mirror) throw new Error('filter RequestMirror has no backend');
  const destination = destinationOf(mirror.backendRef, context);
  if (isRefProblem(destination)) return destination;
  const { kube, upstream } = destination;
  const { name = '', namespace = '' } = kube?.ref ?? upstream ?? {};
  const ref = kube ? { name: `kube-svc:${namespace}-${name}-${kube.port}`, namespace } : { name, namespace };
  const { numerator = 100, denominator = 100 } = mirror.fraction ?? {};
  const percentage = mirror.percent ?? (100 * numerator) / denominator;
  return { shadowing: { upstream: ref, percentage } };
}

function routeOptionOf({ extensionRef }: RouteFilter): string {
  const { group = '', kind = '', name = '' } = extensionRef ?? {};
  if (group !== 'gateway.vendor.io' || kind !== 'RouteOption')
    throw new Error(`extension ${group}/${kind} is not supported; RouteOption of gateway.vendor.io is`);
  return name;
}

/** Returns the part of a route that refers to RouteOptions. */
export function optionRefs(names: readonly string[], namespace: string): Pick<RouteSpec, 'optionsConfigRefs'> {
  if (names.length === 0) return {};
  return { optionsConfigRefs: { delegateOptions: [...new Set(names)].map((name) => ({ name, namespace })) } };
}
