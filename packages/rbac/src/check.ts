import { checkMethod, compileRegex, type FieldProblem, isHeaderName, type ResourceCheck } from '@edge-gateway/core';
import { JWT_STATUS, parseKeys } from '@edge-gateway/core/jwt';
import type { JwtProvider, JwtProviders, Rbac, RbacPolicy } from '@edge-gateway/core/schema';
import { isClaimCopy } from './jwt/claim-headers.ts';
import { isCanonical } from './policy/decide.ts';

type Path = FieldProblem['path'];

const jwtProblem = (path: Path, message: string, hint?: string): FieldProblem => ({
  code: 'INVALID_JWT',
  path,
  message,
  ...(hint !== undefined && { hint }),
});

/** The blocks of a virtual host or route that control access. */
interface Options {
  readonly rbac?: Rbac;
  readonly jwt?: object;
  readonly jwtStaged?: object;
  readonly jwtProvidersStaged?: object;
}

interface HasOptions {
  readonly name?: string;
  readonly options?: Options;
}

/**
 * Reject resources whose token providers or policies cannot work: invalid keys, claims without a header, an invalid
 * URL, an expression that does not compile.
 *
 * @example
 * createControlPlane({ source: directorySource('resources'), checks: accessChecks });
 */
export const accessChecks: readonly ResourceCheck[] = [
  {
    kind: 'VirtualService',
    check(
      { virtualHost = {} }: { readonly virtualHost?: HasOptions & { readonly routes?: readonly HasOptions[] } },
      at,
    ) {
      const host = [...at, 'virtualHost'];
      return [...checkOptions(virtualHost, host), ...checkRoutes(virtualHost.routes, host)];
    },
  },
  {
    kind: 'RouteTable',
    check: ({ routes }: { readonly routes?: readonly HasOptions[] }, at) => checkRoutes(routes, at),
  },
  { kind: 'VirtualHostOption', check: (spec: HasOptions, at) => checkOptions(spec, at) },
  { kind: 'RouteOption', check: (spec: HasOptions, at) => checkOptions(spec, at) },
];

function checkRoutes(routes: readonly HasOptions[] = [], at: Path): FieldProblem[] {
  return routes.flatMap((route, i) => {
    const found = checkOptions(route, [...at, 'routes', i]);
    return route.name === undefined ? found : found.map((finding) => ({ ...finding, route: route.name! }));
  });
}

function checkOptions({ options = {} }: HasOptions, above: Path): FieldProblem[] {
  const at = [...above, 'options'];
  const blocks: (readonly [Path, object | undefined])[] = [[[...at, 'jwt'], options.jwt]];
  for (const name of ['jwtStaged', 'jwtProvidersStaged'] as const) {
    for (const [stage, block] of Object.entries(options[name] ?? {}))
      blocks.push([[...at, name, stage], block as object]);
  }
  return [
    ...blocks.flatMap(([path, block]) => (block ? checkProviders(block, path) : [])),
    ...Object.entries(options.rbac?.policies ?? {}).flatMap(([name, policy]) =>
      checkPolicy(policy, [...at, 'rbac', 'policies', name]),
    ),
  ];
}

function checkProviders(block: JwtProviders, at: Path): FieldProblem[] {
  const { providers = {} } = block;
  if (Object.keys(providers).length === 0 && !('disable' in block)) {
    const message = 'no provider is configured, so every request passes, with or without a token';
    return [{ ...jwtProblem(at, message, 'providers'), severity: 'warning' }];
  }
  return Object.entries(providers).flatMap(([name, provider]) => {
    const path = [...at, 'providers', name];
    return [
      ...checkKeys(provider, path),
      ...checkOrigin(provider, path),
      ...checkSource(provider, path),
      ...checkCopies(provider, path),
    ];
  });
}

function checkKeys({ jwks }: JwtProvider, at: Path): FieldProblem[] {
  if (jwks?.remote) {
    const { url = '' } = jwks.remote;
    if (/^https?:$/.test(URL.parse(url)?.protocol ?? '')) return [];
    return [
      jwtProblem([...at, 'jwks', 'remote', 'url'], 'must be an absolute URL such as https://id.example.com/keys'),
    ];
  }
  const key = jwks?.local?.key;
  if (!key) return [jwtProblem(at, 'a provider needs keys to verify signatures', 'jwks.local.key or jwks.remote')];
  const keys = parseKeys(key);
  if (typeof keys !== 'string') return [];
  return [jwtProblem([...at, 'jwks', 'local', 'key'], `invalid keys: ${JWT_STATUS[keys].text}`)];
}

/** Without both, a token that the same keys signed for another service is valid here. */
function checkOrigin({ issuer = '', audiences = [] }: JwtProvider, at: Path): FieldProblem[] {
  if (issuer !== '' || audiences.length > 0) return [];
  const message = 'neither issuer nor audiences are set, so every token with a valid signature is accepted';
  return [{ ...jwtProblem(at, message, 'issuer and audiences'), severity: 'warning' }];
}

/** A token source without a name would reject every request. */
function checkSource({ tokenSource: { headers = [], queryParams = [] } = {} }: JwtProvider, at: Path): FieldProblem[] {
  const source = [...at, 'tokenSource'];
  return [
    ...headers.flatMap(({ header = '' }, i) =>
      isHeaderName(header) ? [] : jwtProblem([...source, 'headers', i], 'needs a header name'),
    ),
    ...queryParams.flatMap((name, i) =>
      name === '' ? jwtProblem([...source, 'queryParams', i], 'needs a parameter name') : [],
    ),
  ];
}

function checkCopies({ claimsToHeaders = [] }: JwtProvider, at: Path): FieldProblem[] {
  return claimsToHeaders.flatMap((copy, i) =>
    isClaimCopy(copy) ? [] : jwtProblem([...at, 'claimsToHeaders', i], 'needs a claim and a header name'),
  );
}

function checkPolicy({ principals = [], permissions = {} }: RbacPolicy, at: Path): FieldProblem[] {
  return [
    ...principals.flatMap(({ jwtPrincipal = {} }, i) =>
      checkClaims(jwtPrincipal, [...at, 'principals', i, 'jwtPrincipal', 'claims']),
    ),
    ...(permissions.methods ?? []).flatMap((method, i) =>
      checkMethod(method, [...at, 'permissions', 'methods', i]).map((found) => ({
        ...found,
        code: 'INVALID_RBAC' as const,
      })),
    ),
    ...checkPrefix(permissions.pathPrefix ?? '', [...at, 'permissions', 'pathPrefix']),
  ];
}

type Principal = NonNullable<NonNullable<RbacPolicy['principals']>[number]['jwtPrincipal']>;

function checkClaims({ claims = {}, matcher = 'EXACT_STRING' }: Principal, at: Path): FieldProblem[] {
  return Object.entries(claims).flatMap(([claim, value]): FieldProblem[] => {
    const path = [...at, claim];
    if (matcher === 'REGEX_MATCH') return checkRegex(String(value), path);
    const warn = (message: string, hint: string): FieldProblem[] => [
      { code: 'INVALID_RBAC', path, message, hint, severity: 'warning' },
    ];
    if (matcher === 'BOOLEAN')
      return /^(?:true|false)$/.test(String(value))
        ? []
        : warn('a boolean claim cannot have this value', 'true or false');
    if (typeof value === 'string') return [];
    return warn(`${matcher} compares with the text "${value}", which a boolean claim cannot have`, 'matcher: BOOLEAN');
  });
}

function checkPrefix(prefix: string, path: Path): FieldProblem[] {
  const warn = (message: string): FieldProblem[] => [{ code: 'UNMATCHABLE_PATH', path, message, severity: 'warning' }];
  if (prefix === '') return [];
  if (!prefix.startsWith('/')) return warn('a path must begin with a slash');
  if (/[?#]/.test(prefix)) return warn('it is compared with the path only, without query and fragment');
  // A dot at the end may be the beginning of a name.
  return isCanonical(`${prefix}x`)
    ? []
    : warn('a canonical path contains no dot segments, backslashes or empty segments');
}

function checkRegex(pattern: string, path: Path): FieldProblem[] {
  try {
    compileRegex(pattern);
    return [];
  } catch (error) {
    return [{ code: 'INVALID_RBAC', path, message: `the expression does not compile: ${(error as Error).message}` }];
  }
}
