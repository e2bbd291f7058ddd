import { isDeepStrictEqual } from 'node:util';
import type { FieldPath, Problem } from '../resource/problem.ts';
import { gatewayNamespace } from '../resource/gateway-namespace.ts';
import type { Resource } from '../resource/resource.ts';
import type { ExtAuthServer } from '../schema/auth/extauth.ts';
import type { SettingsSpec } from '../schema/kind/settings.ts';
import type { WrittenResource } from '../source/source.ts';
import { isObject } from './resource-identity.ts';
import type { ResourceCheck } from './check.ts';
import { validateWritten } from './validate.ts';

/** Each attempt removes what the previous one found; problems that this reveals are found in the next. */
const MAX_ATTEMPTS = 5;

/**
 * Returns rejected Settings without their invalid fields. The defaults are not always the safe choice: a
 * mistake in one field must not disable the others. An invalid block fails closed: that of `rbac` requires policies, those
 * of `extauth` and `ratelimitServer` deny requests whose check fails, and without the selection of namespaces only the write namespace is read. External auth has no server if the mistake is in how it is called, and an
 * invalid entry of `namedExtauth` is removed. Of the rules of `ratelimit` only the invalid ones are removed. Returns `undefined` if invalid
 * parts cannot be removed.
 */
export function salvageSettings(
  written: WrittenResource,
  issues: readonly Problem[],
  checks?: readonly ResourceCheck[],
): Resource | undefined {
  if (!isObject(written.value)) return undefined;
  let value: unknown = written.value;
  let found = issues;
  const mistakes: FieldPath[] = [];
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const wrong = found.filter(({ severity }) => severity === 'error').map(({ path }) => path);
    mistakes.push(...wrong);
    const [rules, others] = [wrong.filter(isRule), wrong.filter((path) => !isRule(path))];
    const rest = others.reduce(without, withoutRules(value, rules));
    if (isDeepStrictEqual(rest, value)) return undefined;
    const { resource, issues: left } = validateWritten({ ...written, value: rest }, checks);
    if (resource) return failClosed(resource, mistakes);
    value = rest;
    found = left;
  }
  return undefined;
}

/** Lists of rules of rate limits: without an invalid rule the others still limit. */
const RULES: ReadonlySet<unknown> = new Set(['descriptors', 'setDescriptors', 'set_descriptors']);

function isRule([, block, list, index]: FieldPath): boolean {
  return block === 'ratelimit' && RULES.has(list) && typeof index === 'number';
}

/** Returns a copy without the rules of rate limits that contain the paths. */
function withoutRules(value: unknown, paths: readonly FieldPath[]): unknown {
  if (paths.length === 0 || !isObject(value) || !isObject(value['spec'])) return value;
  const { ratelimit } = value['spec'];
  if (!isObject(ratelimit)) return value;
  const left = Object.entries(ratelimit).map(([name, rules]) => {
    const wrong = new Set(paths.flatMap(([, , list, index]) => (list === name ? [index] : [])));
    return [name, Array.isArray(rules) ? rules.filter((_, i) => !wrong.has(i)) : rules] as const;
  });
  return { ...value, spec: { ...value['spec'], ratelimit: Object.fromEntries(left) } };
}

/** Returns a copy without the field at `path`, or without its nearest existing parent below `spec`. */
function without(value: unknown, path: FieldPath): unknown {
  if (path.length < 2 || path[0] !== 'spec') return value;
  return withoutField(value, path) ?? value;
}

/** Returns `undefined` if the path does not exist. Lists are removed as a whole: without one element they would have another meaning. */
function withoutField(value: unknown, [step, ...rest]: FieldPath): unknown {
  if (!isObject(value) || typeof step !== 'string' || !Object.hasOwn(value, step)) return undefined;
  const inner = rest.length === 0 ? undefined : withoutField(value[step], rest);
  const { [step]: _, ...others } = value;
  if (inner !== undefined) return { ...others, [step]: inner };
  return step === 'spec' ? undefined : others;
}

function failClosed(resource: Resource, mistakes: readonly FieldPath[]): Resource {
  const { rbac, extauth, namedExtauth, ratelimitServer, ...others } = resource.spec as SettingsSpec;
  const { discoveryNamespace } = others;
  const fieldsOf = (block: string): string[] =>
    mistakes.flatMap(([, name, field]) => (camelCase(name) === block ? [camelCase(field)] : []));
  const isWrong = (block: string): boolean => fieldsOf(block).length > 0;
  const wrongNames = new Set(
    mistakes.flatMap(([, block, name]) => (camelCase(block) === 'namedExtauth' ? [name] : [])),
  );
  const named = Object.entries(namedExtauth ?? {}).filter(([name]) => !wrongNames.has(name));
  const server = isWrong('ratelimitServer') ? { ...ratelimitServer, denyOnFail: true } : ratelimitServer;
  const spec = {
    ...others,
    ...(extauth && { extauth: closeServer(extauth, fieldsOf('extauth')) }),
    ...(namedExtauth && { namedExtauth: Object.fromEntries(named) }),
    ...(ratelimitServer && { ratelimitServer: server }),
    ...((isWrong('watchNamespaces') || isWrong('watchNamespaceSelectors')) && {
      watchNamespaces: [discoveryNamespace || gatewayNamespace()],
    }),
    ...(isWrong('rbac') ? { rbac: { ...rbac, requireRbac: true } } : rbac && { rbac }),
  };
  return Object.freeze({ ...resource, spec });
}

/** Fields that determine which server is called, and with what: a call without them might be allowed. */
const CALL_FIELDS: ReadonlySet<string> = new Set(['extauthzServerRef', 'httpService', 'grpcService', 'requestBody']);

function closeServer(server: ExtAuthServer, wrong: readonly string[]): ExtAuthServer {
  if (wrong.length === 0) return server;
  const closed = { ...server, failureModeAllow: false };
  // A mistake without a field is one of the block as a whole.
  if (!wrong.some((field) => field === '' || CALL_FIELDS.has(field))) return closed;
  const { extauthzServerRef: _ref, httpService: _http, grpcService: _grpc, ...others } = closed;
  return others;
}

/** Returns the name of a field, which may be written in snake case; empty for none. */
function camelCase(step: string | number | undefined): string {
  return String(step ?? '').replaceAll(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase());
}
