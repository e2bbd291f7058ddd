import type { ServerMetadata } from 'openid-client';
import type { AuthRequest, GroupLookup, Logger } from '@edge-gateway/core';
import type { ExpiringMap } from '../session/expiring.ts';
import type { ProviderClient } from '../provider/client.ts';
import type { Provider } from '../provider/provider.ts';
import type { Verifier } from '../provider/verify.ts';
import type { Renewed } from '../session/renew.ts';
import type { StoredSession, Session, SessionStorage } from '../session/session.ts';
import type { LoginBlock, LoginSettings } from './settings.ts';

/** The parts of one login, created once; the steps of a login are functions of it. */
export interface Login {
  readonly block: LoginBlock;
  readonly settings: LoginSettings;
  /** False for plain OAuth 2: no id token, no nonce. */
  readonly openid: boolean;
  readonly provider: Provider;
  readonly client: ProviderClient;
  readonly verifier: Verifier;
  readonly storage: SessionStorage;
  /** True if sessions are renewed with their refresh token. */
  readonly allowRefreshing: boolean;
  renew(request: AuthRequest, stored: StoredSession): Promise<Renewed>;
  /** Ends the renewals of a session in this process: they no longer serve requests. Returns the newest tokens. */
  endRenewals(session: Session): Promise<Session>;
  /** Missing if tokens contain all groups. */
  readonly groups: GroupLookup | undefined;
  readonly verifiedTokens: TokenMemory;
  /** Used states, to detect replays. */
  readonly usedAttempts: ExpiringMap<true>;
  /** Provider metadata that was compared with what the login requests. */
  readonly compared: WeakSet<ServerMetadata>;
  readonly now: () => number;
  readonly log: Logger;
}

/** A check of tokens that remembers the valid ones. */
export interface TokenMemory {
  check(session: Session): Promise<void>;
  /** Records tokens that came from the provider itself as valid. */
  accept(session: Session): void;
}
