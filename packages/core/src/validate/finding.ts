import type { FieldPath, Issue } from '../resource/issue.ts';
import type { TextPlace } from '../parse/text-place.ts';
import type { Resource } from '../resource/resource.ts';

/** A problem of meaning: what fits the schema and still cannot work. */
export interface Finding {
  readonly code: SemanticCode;
  readonly path: FieldPath;
  /** Place inside the text of the field. */
  readonly place?: TextPlace;
  readonly message: string;
  readonly hint?: string;
  /** Default: an error, which refuses the resource. */
  readonly severity?: Issue['severity'];
  /** Name of the route that has the problem. */
  readonly route?: string;
}

/** Codes of findings, with what each is about. */
export const SEMANTIC_CODES = {
  EMPTY_DOMAIN: 'An empty domain among others.',
  INVALID_ACCESS_LOG: 'An access log filter that lacks what it needs; a format with an unknown operator is a warning.',
  INVALID_AUTH_CONFIG: 'An auth config whose steps or expression cannot work.',
  INVALID_ACTION: 'A route action that cannot work: no destination, or weights that add up to nothing.',
  INVALID_CORS: 'A `cors` block without any origin.',
  INVALID_DELEGATION: 'A delegating route with several matchers or without a prefix.',
  INVALID_DOMAIN: 'A domain that no host can match.',
  INVALID_EXT_AUTH: 'Settings of external auth that cannot work.',
  INVALID_FAULT: 'A fault that the data plane refuses.',
  INVALID_GATEWAY: 'A gateway that says not what it serves.',
  INVALID_GRAPHQL_API: 'A GraphQLApi whose parts do not fit each other.',
  INVALID_HEADER: 'A header that must not be added or removed, is no header name, or has a value that cannot be sent.',
  INVALID_HEALTH_CHECK: 'A health check that lacks what it needs.',
  INVALID_HOST: 'A host without address or port.',
  INVALID_JWT: 'A provider of tokens without usable keys, or with claims that lead to no header.',
  INVALID_MATCHER: 'A matcher without a path.',
  INVALID_OUTLIER_DETECTION: 'Outlier detection without an interval.',
  INVALID_PATH: 'A path with characters or segments that are not allowed.',
  INVALID_RBAC: 'A policy whose expressions do not compile, or with methods that no request has, which is a warning.',
  INVALID_RETRIES: 'Retry settings that contradict each other.',
  INVALID_REWRITE: 'Rewrites that exclude each other or give no host.',
  INVALID_SECRET: 'A secret without the entries that its type asks for; a warning.',
  INVALID_SHADOWING: 'Shadowing without an upstream.',
  INVALID_TRANSFORMATION: 'An extractor or a value of a transformation that lacks what it needs.',
  INVALID_UPGRADE: 'An upgrade that is named twice.',
  INVALID_UPSTREAM: 'Upstream settings that cannot work.',
  UNMATCHABLE_PATH: 'A path to match that begins with no slash, as that of every request does; a warning.',
} as const;
export type SemanticCode = keyof typeof SEMANTIC_CODES;

/** True for the codes of {@link SEMANTIC_CODES}. */
export function isSemantic(code: string): code is SemanticCode {
  return Object.hasOwn(SEMANTIC_CODES, code);
}

/** What finds problems in a part of a resource; `path` is where the part is. */
export type Check<T> = (part: T, path: FieldPath) => Finding[];

/** The findings of a list, each element with its place. */
export function each<T>(parts: readonly T[] | undefined, path: FieldPath, check: Check<T>): Finding[] {
  return parts ? parts.flatMap((part, i) => check(part, [...path, i])) : [];
}

/** The findings of a part that may be missing. */
export function within<T>(part: T | undefined, path: FieldPath, check: Check<T>): Finding[] {
  return part === undefined ? [] : check(part, path);
}

/** A finding as an issue of its resource, at the place that `locate` gives. */
export function toIssue(
  { place, ...finding }: Finding,
  resource: Resource,
  locate: (path: FieldPath, place?: TextPlace) => Issue['origin'],
): Issue {
  const { kind, metadata } = resource;
  const { name, namespace } = metadata;
  return { severity: 'error', ...finding, origin: locate(finding.path, place), kind, namespace, name };
}
