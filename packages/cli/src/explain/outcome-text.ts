import { REDACTED, redactPath } from '@edge-gateway/core';
import type { ExplainedDestination, Outcome } from '@edge-gateway/routing';

/** The destinations of a forwarded request. */
export function destinationsOf(outcome: Outcome): readonly ExplainedDestination[] {
  return outcome.type === 'forward' ? outcome.destinations : [];
}

/** Returns `namespace/name` of an upstream; its cluster is called `name_namespace`. */
export function upstreamName(cluster: string): string {
  const at = cluster.lastIndexOf('_');
  return at < 0 ? cluster : `${cluster.slice(at + 1)}/${cluster.slice(0, at)}`;
}

/** Returns ` (subset version=v1)` for a destination with a subset, else nothing. */
export function subsetText({ subset = {} }: ExplainedDestination): string {
  const labels = Object.entries(subset).map(([name, value]) => `${name}=${value}`);
  return labels.length === 0 ? '' : ` (subset ${labels.join(', ')})`;
}

/** Returns the upstream of a destination with its subset. */
export function destinationName(destination: ExplainedDestination): string {
  return upstreamName(destination.upstream) + subsetText(destination);
}

/** The status of a response from the gateway itself. For forwarded requests, the upstream determines the status. */
export function statusOf(outcome: Outcome): number | undefined {
  if (outcome.type !== 'forward') return outcome.status;
  const [status, ...others] = new Set(outcome.destinations.map(({ reply }) => reply?.status));
  return others.length === 0 ? status : undefined;
}

/** Returns true if an upstream receives the request, whichever destination is selected. */
export function isForwarded(outcome: Outcome): boolean {
  const destinations = destinationsOf(outcome);
  return destinations.length > 0 && destinations.every(({ reply }) => !reply);
}

/** An outcome in a few words, with its reason if it is a response of the gateway itself. Secret values are left out. */
export function outcomeText(outcome: Outcome): string {
  if (outcome.type === 'redirect') return `${outcome.status}, a redirect to ${redactPath(outcome.location, REDACTED)}`;
  if (outcome.type === 'reply') return replyText(outcome);
  const names = outcome.destinations.map((destination) =>
    destination.reply ? replyText(destination.reply) : `forwarded to ${destinationName(destination)}`,
  );
  return names.join(', ');
}

const replyText = ({ status, reason }: { readonly status: number; readonly reason: string }): string =>
  `${status === 0 ? 'no response' : status} (${reason})`;
