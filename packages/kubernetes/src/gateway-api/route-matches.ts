import type { Matcher } from '@edge-gateway/core/schema';
import type { RouteKind, RouteMatch, ValueMatch } from './gateway-objects.ts';

/** A match in our form: several matchers if a prefix ends at a path segment. */
export interface TranslatedMatch {
  /** The path as a prefix of whole segments; its forms are rewritten in different ways. */
  readonly forms: readonly MatchForm[];
  /** Compared in order: greater ones first. */
  readonly precedence: readonly number[];
}

export interface MatchForm {
  readonly matcher: Matcher;
  /** Set for a prefix of segments: `exact` matches the prefix itself, `below` what is below it. */
  readonly prefix?: 'exact' | 'below';
}

const KINDS_OF_PATH = { Exact: 3, RegularExpression: 2, PathPrefix: 1 } as const;
type PathType = keyof typeof KINDS_OF_PATH;

/** Translates a match of a rule. Throws for a type that is not supported. */
export function translateMatch(kind: RouteKind, match: RouteMatch): TranslatedMatch {
  const [type, path] = kind === 'HTTPRoute' ? httpPath(match) : grpcPath(match);
  const headers = (match.headers ?? []).map(valueMatcher);
  const queryParameters = (match.queryParams ?? []).map(valueMatcher);
  const method = typeof match.method === 'string' ? match.method : undefined;
  const conditions = {
    ...(headers.length > 0 && { headers }),
    ...(queryParameters.length > 0 && { queryParameters }),
    ...(method !== undefined && { methods: [method] }),
  };
  const precedence = [
    KINDS_OF_PATH[type],
    path.length,
    Number(method !== undefined),
    headers.length,
    queryParameters.length,
  ];
  return {
    forms: formsOf(type, path).map((form) => ({ ...form, matcher: { ...form.matcher, ...conditions } })),
    precedence,
  };
}

function httpPath({ path = {} }: RouteMatch): [PathType, string] {
  const { type = 'PathPrefix', value = '/' } = path;
  if (!(type in KINDS_OF_PATH)) throw new Error(`path match type ${type} is not supported`);
  return [type as PathType, value];
}

function grpcPath({ method }: RouteMatch): [PathType, string] {
  const { type = 'Exact', service, method: name } = typeof method === 'object' ? method : {};
  if (type === 'RegularExpression') return ['RegularExpression', `/${service || '[^/]+'}/${name || '[^/]+'}`];
  if (type !== 'Exact') throw new Error(`method match type ${type} is not supported`);
  if (service && name) return ['Exact', `/${service}/${name}`];
  if (service) return ['PathPrefix', `/${service}`];
  return name ? ['RegularExpression', `/[^/]+/${escaped(name)}`] : ['PathPrefix', '/'];
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

/** A prefix matches whole segments: `/a` is `/a` and what begins with `/a/`. */
function formsOf(type: PathType, path: string): MatchForm[] {
  if (type === 'Exact') return [{ matcher: { exact: path } }];
  if (type === 'RegularExpression') return [{ matcher: { regex: path } }];
  const prefix = path.replace(/\/+$/, '');
  if (prefix === '') return [{ matcher: { prefix: '/' }, prefix: 'below' }];
  return [
    { matcher: { exact: prefix }, prefix: 'exact' },
    { matcher: { prefix: `${prefix}/` }, prefix: 'below' },
  ];
}

function valueMatcher({ type = 'Exact', name, value }: ValueMatch): { name: string; value: string; regex?: boolean } {
  if (type === 'RegularExpression') return { name, value, regex: true };
  if (type !== 'Exact') throw new Error(`match type ${type} is not supported`);
  return { name, value };
}
