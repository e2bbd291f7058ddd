import type { FieldPath, FieldProblem } from '../../resource/problem.ts';
import type { Resource, ResourceRef } from '../../resource/resource.ts';
import type { DelegateAction, RouteTableSelector } from '../../schema/route/route.ts';
import type { RouteTableSpec } from '../../schema/kind/route-table.ts';
import { expressionProblem, matchesSelector, type Labels } from '../../syntax/label-expression.ts';
import { dotted } from '../names.ts';
import { statusProblem, type Report } from '../status/report.ts';
import type { Reader } from '../input.ts';
import { causeOf } from '../reference/find.ts';

/** A route table that a delegating route refers to. */
export interface SelectedTable {
  readonly ref: ResourceRef;
  readonly spec: RouteTableSpec;
}

/** The delegating route: default namespace, report, and path of the action. */
export interface Delegator {
  readonly ref: ResourceRef;
  readonly report: Report;
  readonly at: FieldPath;
  /** The table to use if the named one does not exist. */
  readonly kept?: ResourceRef | undefined;
}

/** Returns the usable tables of an action, sorted by namespace and name. Missing tables become warnings. */
export function selectTables(action: DelegateAction, from: Delegator, reader: Reader): readonly SelectedTable[] {
  const { name = action.ref?.name, namespace = '' } = action;
  if (name) {
    const ref = { name, namespace: namespace || action.ref?.namespace || from.ref.namespace };
    return referenced(ref, { ...from, at: [...from.at, ...(action.name ? ['name'] : ['ref'])] }, reader);
  }
  if (action.selector) return selected(action.selector, { ...from, at: [...from.at, 'selector'] }, reader);
  warnOfLack(from, 'a delegating route names neither a route table nor a selector');
  return [];
}

function referenced(ref: ResourceRef, from: Delegator, reader: Reader): readonly SelectedTable[] {
  const found = reader.find<RouteTableSpec>('RouteTable', ref);
  if (found.state === 'missing') {
    const fault = reader.missing(`route table ${dotted(ref)} not found`, 'RouteTable', ref);
    const kept = from.kept && reader.find<RouteTableSpec>('RouteTable', from.kept);
    if (kept?.state === 'usable') {
      const tail = `the last good route table ${dotted(from.kept!)} stays in use`;
      from.report.warn({ ...fault, message: `${fault.message}; ${tail}`, effect: 'keeps-last-good' }, from.at);
      return [{ ref: from.kept!, spec: kept.resource.spec }];
    }
    warnOfLack(from, fault);
  } else if (found.state === 'rejected') warnOfLack(from, rejectedMessage(ref, found.cause));
  else if (found.stale) from.report.warn(staleMessage(ref, found.stale), from.at);
  return found.state === 'usable' ? [{ ref, spec: found.resource.spec }] : [];
}

function selected(selector: RouteTableSelector, from: Delegator, reader: Reader): readonly SelectedTable[] {
  const problem = selectorProblem(selector);
  if (problem) {
    warnOfLack(from, problem);
    return [];
  }
  const tables: SelectedTable[] = [];
  for (const stored of reader.tables()) {
    const resource = stored.resource as Resource<RouteTableSpec> | undefined;
    if (!resource || !fits(resource, selector, from.ref.namespace)) continue;
    const { name, namespace } = resource.metadata;
    if (stored.stale) from.report.warn(staleMessage({ name, namespace }, causeOf(stored)), from.at);
    tables.push({ ref: { name, namespace }, spec: resource.spec });
  }
  if (tables.length === 0) warnOfLack(from, `the selector ${selectorText(selector)} finds no route table`);
  return tables;
}

/** Warns about a problem that leaves a delegating route without routes. */
function warnOfLack({ report, at }: Delegator, problem: string | FieldProblem): void {
  report.warn({ ...statusProblem('warning', problem, at), effect: 'lacks-routes' });
}

function selectorProblem({ labels, expressions }: RouteTableSelector): string | undefined {
  if (labels && Object.keys(labels).length > 0 && expressions && expressions.length > 0) {
    return 'a route table selector may have labels or expressions, not both';
  }
  return expressions?.map(expressionProblem).find((problem) => problem !== undefined);
}

function fits(
  { metadata }: Resource,
  { namespaces = [], labels = {}, expressions = [] }: RouteTableSelector,
  own: string,
) {
  const searched = namespaces.length > 0 ? namespaces : [own];
  if (!searched.includes('*') && !searched.includes(metadata.namespace)) return false;
  const carried: Labels = metadata.labels ?? {};
  return matchesSelector(carried, { matchLabels: labels, matchExpressions: expressions });
}

function rejectedMessage(ref: ResourceRef, cause: string): string {
  return `route table ${dotted(ref)} is rejected, its routes are missing: ${cause}`;
}

function staleMessage(ref: ResourceRef, cause: string): string {
  return `route table ${dotted(ref)} serves its last good version: ${cause}`;
}

function selectorText({ namespaces = [], labels = {}, expressions = [] }: RouteTableSelector): string {
  const parts = [
    namespaces.length > 0 && `namespaces ${namespaces.join(', ')}`,
    ...Object.entries(labels).map(([key, value]) => `${key}=${value}`),
    ...expressions.map(({ key, operator = 'Equals', values = [] }) => `${key} ${operator} ${values.join(', ')}`.trim()),
  ];
  return `{ ${parts.filter(Boolean).join('; ')} }`;
}
