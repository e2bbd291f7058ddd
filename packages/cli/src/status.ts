import { STATES, type State } from '@edge-gateway/core';
import { dig, entries, text, type StatusObject } from './objects.ts';

/** What one controller says of a resource, read from either spelling of a state. */
export interface Report {
  /** Namespace of the controller. */
  readonly controller: string;
  readonly state: State;
  readonly reason: string;
  readonly reportedBy: string;
  readonly subresources: readonly { readonly name: string; readonly state: State; readonly reason: string }[];
}

/** A state by name or number; anything else is `Pending`. */
export function readState(value: unknown): State {
  if (typeof value === 'number') return STATES[value] ?? 'Pending';
  return STATES.find((state) => state === value) ?? 'Pending';
}

/** The reports in the status of a resource, by controller namespace. */
export function reportsOf(object: StatusObject): Report[] {
  return entries(object.status, 'statuses').map(([controller, report]) => ({
    controller,
    state: readState(dig(report, 'state')),
    reason: text(report, 'reason'),
    reportedBy: text(report, 'reportedBy'),
    subresources: entries(report, 'subresourceStatuses').map(([name, sub]) => ({
      name,
      state: readState(dig(sub, 'state')),
      reason: text(sub, 'reason'),
    })),
  }));
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

/** The STATUS cell of a virtual service, which also tells of the proxies that could not take it. */
export function virtualServiceStatus(object: StatusObject, replacesInvalidRoutes: boolean): string {
  return statusCell(object, (report) => {
    const bad = report.subresources.filter((sub) => sub.state !== 'Accepted');
    if (report.state === 'Pending' || bad.length === 0) return report.state;
    if (report.state === 'Accepted') {
      if (replacesInvalidRoutes) return report.state;
      return ['Accepted', ...bad.map(blocked)].join('\n');
    }
    return [report.state, ...bad.map((sub) => `${sub.name} ${sub.state}: ${sub.reason}`)].join('\n');
  });
}

function blocked(sub: { name: string; state: State }): string {
  const consequence = 'Updates to this resource may be blocked by problems with another resource.';
  return `${sub.name} is in a ${sub.state} state. ${consequence}`;
}
