import '@edge-gateway/core/supported-node';
import {
  applyHeaderChanges,
  createContext,
  headerIn,
  silentLoggers,
  type AuthMethodKind,
  type AuthRequest,
  type Facts,
  type Secrets,
  type SnapshotAuthConfig,
} from '@edge-gateway/core';
import type { ApiKeyAuth, BasicAuth, ExtAuthServer } from '@edge-gateway/core/schema';
import { createChain } from './chain.ts';
import { record, removeClientCopies } from './grants.ts';
import { blockOf, hiddenOf } from './method-of.ts';
import { createSettlement, type Outcome } from './settle.ts';
import { apiKeyMethod, keyRefsOf } from '../methods/api-key.ts';
import { basicMethod } from '../methods/basic.ts';
import { isMatch } from '../password/hash.ts';
import { PASSWORDS, createVerifier } from '../password/verifier.ts';
import { settingsOf } from '../settings.ts';

/** A request that reaches external auth. */
export interface AuthToExplain {
  readonly config: SnapshotAuthConfig;
  /** All AuthConfigs of the virtual host: clients must not send the headers that they grant. */
  readonly neighbours: readonly SnapshotAuthConfig[];
  /** Receives the same changes as when the request is served. */
  readonly facts: Facts;
  /** Those of the listener or the Settings. */
  readonly settings: ExtAuthServer | undefined;
}

/** What an AuthConfig decides, or why that is not evaluated. */
export type ExplainedAuth =
  | {
      readonly type: 'allowed';
      readonly user: string | undefined;
      /** Values of granted headers, which may come from Secrets. */
      readonly granted: readonly string[];
    }
  | { readonly type: 'denied'; readonly status: number; readonly body: string; readonly reason: string }
  | { readonly type: 'notEvaluated'; readonly reason: string };

/** Evaluates AuthConfigs for one explained request. */
export interface AuthExplainer {
  /** Returns what an AuthConfig decides, and records its grants; `undefined` before `settle` has evaluated it. */
  explain(reached: AuthToExplain): ExplainedAuth | undefined;
  /** Evaluates the AuthConfigs that were asked for since the last call. Resolves with false if there were none. */
  settle(): Promise<boolean>;
}

type Evaluated = Outcome | { readonly notEvaluated: string };

/**
 * Creates an explainer that runs the chains of a gateway with the methods that need nothing but the request and Secrets: API
 * keys and passwords. Sends nothing and starts no threads. Without `secrets`, nothing is evaluated.
 */
export function createAuthExplainer(secrets: Secrets | undefined): AuthExplainer {
  const known = new Map<string, Evaluated>();
  const reachedConfigs = new Map<string, () => Promise<Evaluated>>();
  return {
    explain({ config, neighbours, facts, settings: written }) {
      const id = `${config.ref.namespace}.${config.ref.name}`;
      const outcome = known.get(id);
      if (outcome) return apply(outcome, { neighbours, facts, settings: written });
      const request = requestOf(facts);
      reachedConfigs.set(id, () => evaluate(request, { id, config, written, secrets }));
      return undefined;
    },
    async settle() {
      const reached = [...reachedConfigs];
      reachedConfigs.clear();
      for (const [id, run] of reached) known.set(id, await run());
      return reached.length > 0;
    },
  };
}

/** Copies what the methods read, because later steps change the facts. */
function requestOf(facts: Facts): AuthRequest {
  const { requestId, routeName, path, connection, metadata } = facts;
  const headers = applyHeaderChanges(facts.headers ?? [], facts.requestChanges);
  return {
    requestId,
    routeName,
    path,
    method: facts.method.toUpperCase(),
    scheme: connection.scheme,
    host: headerIn(headers, 'host') ?? '',
    header: (name) => headerIn(headers, name.toLowerCase()),
    headers: () => headers,
    clientAddress: connection.clientAddress,
    connection,
    state: {},
    metadata,
  };
}

interface EvaluationParts {
  readonly id: string;
  readonly config: SnapshotAuthConfig;
  readonly written: ExtAuthServer | undefined;
  readonly secrets: Secrets | undefined;
}

async function evaluate(request: AuthRequest, { id, config, written, secrets }: EvaluationParts): Promise<Evaluated> {
  const settings = settingsOf(written);
  const context = createContext({ log: silentLoggers, ...(secrets && { secrets }) });
  context.state(PASSWORDS, () =>
    createVerifier(context.now, async ({ password, hashes }) =>
      hashes.slice(0, 1).map((one) => isMatch(password, one)),
    ),
  );
  const skipped: string[] = [];
  const types = new Set((config.spec.configs ?? []).map((step) => blockOf(step)?.type ?? ''));
  const kinds = Array.from(types, (type) => kindOf(type, secrets, (reason) => skipped.push(reason)));
  const settlement = createSettlement({ settings, context, id });
  const settled = { requestId: request.requestId, hasLeft: () => false };
  try {
    const chain = createChain(config.spec, { kinds, context, id, timeoutMs: settings.timeoutMs });
    const decision = await chain.authorize(request);
    return skipped.length > 0 ? { notEvaluated: skipped[0]! } : settlement.settle(decision, settled);
  } catch (error) {
    const { message: reason } = error as Error;
    return { allowed: false, refusal: { status: 500, headers: [], body: '', reason, details: '', flags: '' } };
  }
}

/** Returns a method that evaluates a step; one that cannot reports why when its step is reached. */
function kindOf(type: string, secrets: Secrets | undefined, skip: (reason: string) => void): AuthMethodKind {
  const kind = ([apiKeyMethod, basicMethod] as readonly AuthMethodKind[]).find((one) => one.type === type);
  const reasonFor = (spec: unknown): string | undefined => {
    if (!kind) return `only apiKeyAuth and basicAuth are evaluated, not ${type}`;
    if (!secrets)
      return 'keys and passwords of a running gateway are not read; --config DIR reads those of a directory';
    return type === apiKeyMethod.type ? missingKeys(spec as ApiKeyAuth, secrets) : undefined;
  };
  return {
    type,
    create(spec, parts) {
      const reason = reasonFor(spec);
      if (reason === undefined) return kind!.create(spec as ApiKeyAuth | BasicAuth, parts);
      return {
        local: true,
        authorize() {
          skip(reason);
          return { allowed: false, status: 403, outcome: 'indeterminate', reason };
        },
      };
    },
  };
}

/** Returns why keys are unknown: Secrets that are managed elsewhere must not count as missing keys. */
function missingKeys(spec: ApiKeyAuth, secrets: Secrets): string | undefined {
  const refs = keyRefsOf(spec);
  if (refs.length === 0 && !spec.aerospikeApikeyStorage) return 'the resources contain no Secret with an API key';
  const shared = spec.hmac?.sharedSecretRef;
  const missing = [...refs, ...(shared ? [shared] : [])].find(
    (ref) => !secrets.get({ name: '', namespace: '', ...ref }),
  );
  return missing && `Secret ${missing.namespace}/${missing.name} is not among the resources`;
}

/** Changes the facts as the handler of the gateway does. */
function apply(
  outcome: Evaluated,
  { neighbours, facts, settings: written }: Omit<AuthToExplain, 'config'>,
): ExplainedAuth {
  if ('notEvaluated' in outcome) return { type: 'notEvaluated', reason: outcome.notEvaluated };
  if (!outcome.allowed) {
    const { status, body, reason } = outcome.refusal;
    return { type: 'denied', status, body: body.toString(), reason };
  }
  const { granted } = outcome;
  const settings = settingsOf(written);
  const kinds = [apiKeyMethod, basicMethod] as readonly AuthMethodKind[];
  const { headers } = hiddenOf(
    neighbours.map(({ spec }) => spec),
    kinds,
  );
  const { requestChanges = [] } = granted;
  const names = [settings.userIdHeader, ...headers, ...requestChanges.map(({ name }) => name)];
  const sent = (facts.headers ?? []).flatMap((name, i, all) => (i % 2 === 0 ? [[name, all[i + 1]] as const] : []));
  removeClientCopies({ headers: Object.fromEntries(sent) }, facts, names);
  record(granted, facts, settings);
  const values = requestChanges.flatMap((change) => (change.op === 'remove' ? [] : [change.value]));
  return { type: 'allowed', user: granted.userId, granted: values };
}
