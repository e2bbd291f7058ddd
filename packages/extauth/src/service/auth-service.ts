import type { AuthMethodKind, AuthRequest, Context, ControlPlaneState, SnapshotAuthConfig } from '@edge-gateway/core';
import type { ExtAuthServer } from '@edge-gateway/core/schema';
import { compileConfig, configName, type ServedConfig } from './served-config.ts';
import { createCheckStats } from './check-stats.ts';
import type { Verdict } from './verdict.ts';

/** Options of {@link createAuthService}. */
export interface AuthServiceOptions {
  readonly context: Context;
  /** The methods that steps may use. */
  readonly methods: readonly AuthMethodKind[];
  /** Most checks at a time; further ones are rejected with 503. Default 10,000. */
  readonly maxChecks?: number;
}

/** Decides about requests with the AuthConfigs of a control plane, by their names. */
export interface AuthService {
  /** Applies the AuthConfigs and Settings of a state. Checks in progress finish with the previous ones. */
  update(state: Pick<ControlPlaneState, 'authConfigs' | 'settings'>): void;
  /**
   * Decides about a request with an AuthConfig, `<namespace>.<name>`. Never rejects: without a usable AuthConfig, or after a failure, the
   * verdict is a rejection.
   */
  check(config: string, request: AuthRequest): Promise<Verdict>;
  /** Number of checks in progress. */
  readonly active: number;
  /** Largest body that a check needs, in bytes. */
  readonly maxBodyBytes: number;
  close(): void;
}

const DEFAULT_MAX_CHECKS = 10_000;
/** Largest logout request of a provider. */
const MIN_BODY_BYTES = 65_536;

/** An AuthConfig that cannot be used, with the reason. */
interface Broken {
  readonly reason: string;
}

/**
 * Creates an auth service without AuthConfigs. Every request is rejected until the first `update`.
 *
 * @example
 * const service = createAuthService({ context, methods: [...METHODS, oidcMethod] });
 * controlPlane.subscribe((state) => service.update(state));
 * const { allowed } = await service.check('gw-system.login', request);
 */
export function createAuthService({
  context,
  methods,
  maxChecks = DEFAULT_MAX_CHECKS,
}: AuthServiceOptions): AuthService {
  const log = context.log.get('ext_authz');
  const stats = createCheckStats(context.metrics);
  let served = new Map<string, ServedConfig | Broken>();
  let settings: ExtAuthServer | undefined;

  function compiled(source: SnapshotAuthConfig): ServedConfig | Broken {
    const id = configName(source.ref);
    const known = served.get(id);
    if (known && 'check' in known && known.isCurrent(source, settings)) return known;
    try {
      return compileConfig(source, settings, { context, methods });
    } catch (error) {
      log.error({ config: id, err: error }, 'AuthConfig unusable, requests are rejected');
      return { reason: (error as Error).message };
    }
  }

  function retire(all: Iterable<ServedConfig | Broken>): void {
    for (const each of all) if ('check' in each) each.retire();
  }

  async function decide(config: string, request: AuthRequest): Promise<Verdict> {
    const { requestId } = request;
    const found = served.get(config);
    if (!found) {
      log.warn({ requestId, config }, 'request rejected: unknown AuthConfig');
      return rejection(403, 'unknown AuthConfig');
    }
    if ('check' in found) return found.check(request);
    log.info({ requestId, config, reason: found.reason }, 'request rejected: AuthConfig unusable');
    return rejection(500, found.reason);
  }

  return {
    update({ authConfigs, settings: { extauth } }) {
      settings = extauth;
      const next = new Map<string, ServedConfig | Broken>();
      for (const [key, { config, fault }] of authConfigs) {
        const [, namespace = '', name = ''] = key.split('/');
        const id = configName({ namespace, name });
        // A name with a dot may be that of another namespace.
        if (next.has(id)) next.set(id, { reason: `several AuthConfigs have the name ${id}` });
        else next.set(id, config ? compiled(config) : { reason: fault?.message ?? 'it is rejected' });
      }
      const kept = new Set(next.values());
      const before = served;
      served = next;
      retire([...before.values()].filter((each) => !kept.has(each)));
      stats.keep(new Set(next.keys()));
    },
    async check(config, request) {
      const done = stats.begin(served.has(config) ? config : '');
      try {
        if (stats.active > maxChecks) {
          done('error');
          return rejection(503, 'too many checks', ['retry-after', '1']);
        }
        const verdict = await decide(config, request);
        done(verdict.allowed ? 'allowed' : verdict.details === 'ext_authz_denied' ? 'denied' : 'error');
        return verdict;
      } catch (error) {
        log.error({ requestId: request.requestId, config, err: error }, 'external auth failed');
        done('error');
        return rejection(403, 'external auth failed');
      }
    },
    get active() {
      return stats.active;
    },
    get maxBodyBytes() {
      return Math.max(MIN_BODY_BYTES, settings?.requestBody?.maxRequestBytes ?? 0);
    },
    close() {
      retire(served.values());
      served = new Map();
    },
  };
}

/** Returns the verdict about a request without a decision. */
export function rejection(status: number, reason: string, headers: readonly string[] = []): Verdict {
  return { allowed: false, status, headers, body: '', reason, details: 'ext_authz_error', flags: 'UAEX' };
}
