import type { Route, VirtualHost } from '../../contract/snapshot.ts';
import type { FieldPath } from '../../resource/problem.ts';
import { identityOfKey, keyOf, type Resource, type ResourceKey } from '../../resource/resource.ts';
import type { RouteSpec } from '../../schema/route/route.ts';
import { writtenRoute, type WrittenRoute } from '../route/written-route.ts';
import type { OptionSource } from '../virtual-host/options.ts';

/** A field of a resource. */
export interface WrittenField {
  readonly key: ResourceKey;
  readonly path: FieldPath;
}

type Resources = ReadonlyMap<ResourceKey, Resource>;

/**
 * Returns the field of a resource that a field of a virtual host was translated from: of its virtual service, of a route table, or of shared
 * options.
 *
 * @example
 * writtenHostField(host, ['routes', 0, 'options', 'timeout'], state.resources);
 * // { key: 'VirtualService gw-system/shop', path: ['spec', 'virtualHost', 'routes', 0, 'options', 'timeout'] }
 */
export function writtenHostField(host: VirtualHost, path: FieldPath, resources: Resources): WrittenField {
  const key = keyOf('VirtualService', host.virtualService);
  const at = ['spec', 'virtualHost'] as const;
  const [field, index, ...rest] = path;
  if (field === 'routes' && typeof index === 'number') {
    const route = host.routes[index];
    const place = route && writtenRoute(route);
    return place ? routeField(route, place, { path: rest, resources }) : { key, path: at };
  }
  if (field === 'domains') return { key, path: [...at, ...path] };
  if (field !== 'options') return { key, path: at };
  const source = resources.get(key)?.spec as { readonly virtualHost?: OptionSource<object> } | undefined;
  const found = optionField(source?.virtualHost, path, { key, path: at, kind: 'VirtualHostOption', resources });
  return found ?? { key, path: at };
}

interface RouteField {
  /** Below the route. */
  readonly path: FieldPath;
  readonly resources: Resources;
}

function routeField(route: Route, place: WrittenRoute, { path, resources }: RouteField): WrittenField {
  const [field, ...rest] = path;
  const here = { key: keyOf(place.kind, place.ref), path: place.at };
  if (field === 'options') return inheritedOption(place, path, resources) ?? here;
  const spec = specOf(place, resources);
  if (field === 'matchers') return spec?.matchers?.length ? { ...here, path: [...here.path, ...path] } : here;
  if (field === 'action') return { ...here, path: [...here.path, ...actionPath(route, spec, rest)] };
  return here;
}

function actionPath(route: Route, spec: RouteSpec | undefined, path: FieldPath): FieldPath {
  const { type } = route.action;
  const [field, index, ...rest] = path;
  if (type === 'redirect') return ['redirectAction', ...path.slice(1)];
  if (type === 'direct') return ['directResponseAction', ...path];
  if (type === 'graphql') return ['graphqlApiRef'];
  if (field !== 'destinations' || !spec?.routeAction) return spec?.routeAction ? ['routeAction'] : [];
  if (spec.routeAction.multi) return ['routeAction', 'multi', 'destinations', index!, ...rest];
  return ['routeAction', spec.routeAction.upstreamGroup ? 'upstreamGroup' : 'single'];
}

/** Returns where an option of a route is written: on it, in shared options, or on the routes that delegate to it. */
function inheritedOption(place: WrittenRoute, path: FieldPath, resources: Resources): WrittenField | undefined {
  for (let at: WrittenRoute | undefined = place; at; at = at.above) {
    const own = { key: keyOf(at.kind, at.ref), path: at.at, kind: 'RouteOption', resources } as const;
    const found = optionField(specOf(at, resources), path, own);
    if (found) return found;
  }
  return undefined;
}

interface OptionHolder extends WrittenField {
  readonly kind: 'RouteOption' | 'VirtualHostOption';
  readonly resources: Resources;
}

/** Returns where an option is written; `undefined` if its holder and the shared options do not have it. */
function optionField(
  source: OptionSource<object> | undefined,
  path: FieldPath,
  { key, path: at, kind, resources }: OptionHolder,
): WrittenField | undefined {
  const name = String(path[1] ?? '');
  const has = (options: object | undefined): boolean => options !== undefined && Object.hasOwn(options, name);
  if (has(source?.options)) return { key, path: [...at, ...path] };
  const own = identityOfKey(key).namespace;
  for (const { name: ref = '', namespace = own } of source?.optionsConfigRefs?.delegateOptions ?? []) {
    const shared = keyOf(kind, { name: ref, namespace });
    if (has((resources.get(shared)?.spec as OptionSource<object> | undefined)?.options))
      return { key: shared, path: ['spec', ...path] };
  }
  return undefined;
}

/** Returns the written route. */
function specOf({ kind, ref, at }: WrittenRoute, resources: Resources): RouteSpec | undefined {
  let part: unknown = { spec: resources.get(keyOf(kind, ref))?.spec };
  for (const step of at) part = (part as Readonly<Record<string, unknown>> | undefined)?.[step];
  return part as RouteSpec | undefined;
}
