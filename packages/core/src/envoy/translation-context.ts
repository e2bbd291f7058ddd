import type { Secrets, SnapshotSettings } from '../contract/snapshot.ts';
import { redactText, redact } from '../security/redact.ts';
import { REDACTED_IN_LOG, redactPath } from '../security/request-secrets.ts';
import type { EnvoyServices } from './services.ts';

/** The context in which messages are created. */
export interface MessageContext {
  readonly secrets: Secrets;
  /**
   * Set for Envoys. Missing for `/config_dump`, which describes this gateway: with filters that Envoy does not have, and with redacted values.
   */
  readonly services?: EnvoyServices;
}

/** The context in which the parts of a listener are created. */
export interface TranslationContext extends MessageContext {
  readonly settings: SnapshotSettings;
}

type Target = Pick<MessageContext, 'services'>;

/** Returns a value; in a dump redacted if it is secret. */
export function shownValue(value: string, isSecret: boolean, { services }: Target): string {
  return !services && isSecret ? REDACTED_IN_LOG : value;
}

/** Returns a text; in a dump without what looks like a secret. */
export function shownText(text: string, { services }: Target): string {
  return services ? text : redactText(text);
}

/** Returns a path; in a dump without the secrets in its query. */
export function shownPath(path: string, { services }: Target): string {
  return services ? path : redactPath(path);
}

/** Returns a URL; redacted in a dump. */
export function shownUrl(url: string, { services }: Target): string {
  return services ? url : redact(url);
}
