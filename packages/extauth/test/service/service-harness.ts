import { createContext, createLoggers, type AuthMethodKind, type Context, type Secrets } from '@edge-gateway/core';
import { DEFAULT_SNAPSHOT_SETTINGS } from '@edge-gateway/core';
import type { AuthConfigSpec, AuthStep, ExtAuthServer } from '@edge-gateway/core/schema';
import { METHODS, createAuthService, type AuthService } from '../../src/index.ts';
import { secretsOf } from '../harness.ts';

/** The specs of AuthConfigs by `<namespace>/<name>`; a text is the reason why one is broken. */
export type Specs = Readonly<Record<string, AuthConfigSpec | string>>;

export interface Served {
  readonly service: AuthService;
  readonly context: Context;
  readonly lines: { readonly msg: string; readonly level: number; readonly [field: string]: unknown }[];
  update(specs: Specs, extauth?: ExtAuthServer): void;
}

/** An AuthConfig with one API key, `key-of-alice`, in the Secret `alice`. */
export const KEYS: AuthConfigSpec = {
  configs: [
    {
      apiKeyAuth: {
        k8sSecretApikeyStorage: { apiKeySecretRefs: [{ name: 'alice', namespace: 'n' }] },
        headersFromMetadataEntry: { 'x-team': { name: 'team' } },
      },
    },
  ],
};

/** A method that decides as told, in place of one of the package. */
export function told(authorize: ReturnType<AuthMethodKind['create']>['authorize']): AuthMethodKind<never> {
  return { type: 'jwt', create: () => ({ local: true, authorize }) };
}

export const TOLD: AuthConfigSpec = { configs: [{ jwt: {} } as AuthStep] };

/** A service with AuthConfigs, and the log that it writes. */
export function serve(
  specs: Specs,
  {
    methods = METHODS,
    extauth,
    secrets = secretsOf({ alice: { 'api-key': 'key-of-alice', team: 'red' } }),
    maxChecks,
  }: {
    methods?: readonly AuthMethodKind[];
    extauth?: ExtAuthServer;
    secrets?: Secrets;
    maxChecks?: number;
  } = {},
): Served {
  const lines: Served['lines'] = [];
  const log = createLoggers({
    level: 'debug',
    destination: { write: (text: string) => void lines.push(JSON.parse(text)) },
  });
  const context = createContext({ log, secrets });
  const service = createAuthService({ context, methods, ...(maxChecks !== undefined && { maxChecks }) });
  const configs = new Map<object, { ref: { namespace: string; name: string }; spec: AuthConfigSpec }>();
  const sourceOf = (id: string, spec: AuthConfigSpec) => {
    const [namespace = '', name = ''] = id.split('/');
    const known = configs.get(spec) ?? { ref: { namespace, name }, spec };
    configs.set(spec, known);
    return known.ref.namespace === namespace && known.ref.name === name ? known : { ref: { namespace, name }, spec };
  };
  const update: Served['update'] = (next, written) =>
    service.update({
      authConfigs: new Map(
        Object.entries(next).map(([id, spec]) => [
          `AuthConfig/${id}` as never,
          typeof spec === 'string'
            ? { fault: { message: spec, path: [], code: 'BROKEN', severity: 'error' } as never }
            : { config: sourceOf(id, spec) },
        ]),
      ),
      settings: { ...DEFAULT_SNAPSHOT_SETTINGS, ...(written && { extauth: written }) },
    });
  update(specs, extauth);
  return { service, context, lines, update };
}
