import { STATES, type State } from '@edge-gateway/core';
import { dig, entries, items, text, type StatusObject } from './objects.ts';

/** The report of one controller about a resource; states are read by name or number. */
interface Report {
  /** Namespace of the controller. */
  readonly controller: string;
  readonly state: State;
  readonly reason: string;
  readonly reportedBy: string;
  /** Remarks that the state does not depend on. */
  readonly messages: readonly string[];
  readonly subresources: readonly { readonly name: string; readonly state: State; readonly reason: string }[];
}

/** A state by name or number; anything else is `Pending`. */
export function readState(value: unknown): State {
  if (typeof value === 'number') return STATES[value] ?? 'Pending';
  return STATES.find((state) => state === value) ?? 'Pending';
}

/** The reports in the status of a resource, by controller namespace; the report of a RateLimitConfig has no namespace. */
export function reportsOf(object: StatusObject): Report[] {
  if (dig(object.status, 'state') !== undefined) return [singleReport(object.status)];
  return entries(object.status, 'statuses').map(([controller, report]) => ({
    controller,
    state: readState(dig(report, 'state')),
    reason: text(report, 'reason'),
    reportedBy: text(report, 'reportedBy'),
    messages: items(report, 'messages').map(String),
    subresources: entries(report, 'subresourceStatuses').map(([name, sub]) => ({
      name,
      state: readState(dig(sub, 'state')),
      reason: text(sub, 'reason'),
    })),
  }));
}

/** The report in the status of a RateLimitConfig: state by name or number, and message. */
function singleReport(status: unknown): Report {
  const [state, reason] = [dig(status, 'state'), text(status, 'message')];
  const named = readState(typeof state === 'string' ? `${state.slice(0, 1)}${state.slice(1).toLowerCase()}` : state);
  return {
    controller: '',
    state: named === 'Accepted' && reason.startsWith('warning:') ? 'Warning' : named,
    reason,
    reportedBy: '',
    messages: [],
    subresources: [],
  };
}

/** The STATUS cell of most kinds: the state, or a line per controller when there are several. */
export function statusCell(
  object: StatusObject,
  cellOf: (report: Report) => string = (report) => report.state,
): string {
  const reports = reportsOf(object);
  if (reports.length === 0) return 'Pending';
  if (reports.length === 1) return cellOf(reports[0]!);
  return reports.map((report) => `${report.controller}: ${cellOf(report)}`).join('\n');
}

/**
 * Returns the STATUS cell of a virtual service: its state, its remarks, the first line of its own reason, and the
 * proxies that have other problems. One that is accepted with remarks has warnings. Warnings of a proxy are those of
 * other resources and block nothing.
 */
export function virtualServiceStatus(object: StatusObject, replacesInvalidRoutes: boolean): string {
  return statusCell(object, ({ state, messages, reason, subresources }) => {
    const bad = subresources.filter((sub) => sub.state !== 'Accepted');
    const cause = firstProblem(reason);
    const shownState = state === 'Accepted' && messages.length > 0 ? 'Warning' : state;
    const lines = [shownState, ...messages, ...(state === 'Accepted' || state === 'Pending' ? [] : [cause])];
    if (state === 'Accepted') {
      const blocking = replacesInvalidRoutes ? [] : bad.filter((sub) => sub.state === 'Rejected');
      lines.push(...blocking.map(blocked));
    } else if (state !== 'Pending') {
      // A proxy repeats the problems of this virtual service, and its warnings may be those of others.
      const own = (sub: (typeof bad)[number]) =>
        cause !== '' && (sub.state !== 'Rejected' || sub.reason.includes(cause));
      lines.push(...bad.filter((sub) => !own(sub)).map((sub) => `${sub.name} ${sub.state}: ${sub.reason}`));
    }
    return lines.filter(Boolean).join('\n');
  });
}

/** Returns the first problem of a reason: errors come first, warnings below the line `warning:`. */
function firstProblem(reason: string): string {
  const lines = reason.split('\n').map((line) => line.trim());
  return lines.find((line) => line !== '' && line !== 'warning:') ?? '';
}

function blocked(sub: { name: string; state: State }): string {
  const consequence = 'Updates to this resource may be blocked by problems with another resource.';
  return `${sub.name} is in a ${sub.state} state. ${consequence}`;
}
