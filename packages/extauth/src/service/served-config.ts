import {
  canonicalName,
  isStale,
  noteSecrets,
  type AuthMethodKind,
  type AuthRequest,
  type Context,
  type ResourceRef,
  type SnapshotAuthConfig,
} from '@edge-gateway/core';
import type { ExtAuthServer } from '@edge-gateway/core/schema';
import { createChain } from '../chain/chain.ts';
import { hiddenOf } from '../chain/method-of.ts';
import { createSettlement, type Outcome } from '../chain/settle.ts';
import { settingsOf } from '../settings.ts';
import { grantOf, type Verdict } from './verdict.ts';

/** A compiled AuthConfig. */
export interface ServedConfig {
  check(request: AuthRequest): Promise<Verdict>;
  /** Returns true if it was compiled from the same resources and secrets. */
  isCurrent(source: SnapshotAuthConfig, settings: ExtAuthServer | undefined): boolean;
  /** Accepts no new checks; closes its connections after the last one. */
  retire(): void;
}

/** An outcome, with the metadata of the step that denied. */
type Decided = Outcome & { readonly metadata?: Readonly<Record<string, unknown>> };

/** Returns the name of an AuthConfig in the protocol. */
export const configName = ({ namespace, name }: ResourceRef): string => `${namespace}.${name}`;

/** Compiles an AuthConfig. Throws what {@link createChain} throws, and `ERR_EXTAUTH_CONFIG` for invalid settings. */
export function compileConfig(
  source: SnapshotAuthConfig,
  written: ExtAuthServer | undefined,
  { context, methods }: { readonly context: Context; readonly methods: readonly AuthMethodKind[] },
): ServedConfig {
  const id = configName(source.ref);
  const settings = settingsOf(written);
  const hold = context.holdStates?.();
  const secrets = noteSecrets(hold ? { ...context, state: hold.state.bind(hold) } : context);
  const chain = createChain(source.spec, {
    kinds: methods,
    context: secrets.context,
    id,
    timeoutMs: settings.timeoutMs,
  });
  const settlement = createSettlement({ settings, context, id });
  const { headers: owned, cookies: hidden } = hiddenOf([source.spec], methods);
  const parts = { settings, owned, hidden };
  let active = 0;
  let isRetired = false;

  function closeIfUnused(): void {
    if (!isRetired || active > 0) return;
    hold?.release();
    chain.close().catch((err: unknown) => context.log.get('ext_authz').warn({ config: id, err }, 'closing failed'));
  }

  async function outcomeOf(request: AuthRequest): Promise<Decided> {
    const settled = { requestId: request.requestId, hasLeft: () => request.signal?.aborted ?? false };
    try {
      const decision = await chain.authorize(withoutUser(request, settings.userIdHeader));
      const metadata = decision.allowed ? undefined : decision.metadata;
      return { ...settlement.settle(decision, settled), ...(metadata && { metadata }) };
    } catch (error) {
      return settlement.fail(error, settled);
    }
  }

  return {
    async check(request) {
      active++;
      try {
        const outcome = await outcomeOf(request);
        if (outcome.allowed) return grantOf(outcome.granted, request, parts);
        const { metadata } = outcome;
        return { allowed: false, ...outcome.refusal, ...(metadata && { metadata }) };
      } finally {
        active--;
        closeIfUnused();
      }
    },
    isCurrent: (other, settings) => source === other && written === settings && !isStale(secrets, context.secrets),
    retire() {
      isRetired = true;
      closeIfUnused();
    },
  };
}

/** Steps must not read a user that the client names. */
function withoutUser(request: AuthRequest, userIdHeader: string): AuthRequest {
  const user = canonicalName(userIdHeader);
  const flat = request.headers();
  const kept = flat.filter((_, i) => canonicalName(flat[i - (i % 2)]!) !== user);
  if (kept.length === flat.length) return request;
  return {
    ...request,
    headers: () => kept,
    header: (name) => (canonicalName(name) === user ? undefined : request.header(name)),
  };
}
