import { keyOf, type Resource } from '../../resource/resource.ts';
import type { HttpGateway } from '../../schema/kind/gateway.ts';
import type { VirtualServiceSpec } from '../../schema/kind/virtual-service.ts';
import type { StoredResource } from '../../resource/stored.ts';
import { expressionProblem, hasLabels, satisfies } from '../../syntax/label-expression.ts';
import { missingFault } from '../reference/missing.ts';
import { dotted } from '../names.ts';
import type { Report } from '../status/report.ts';
import type { TranslationInput } from '../input.ts';
import { causeOf } from '../reference/find.ts';

/** The selecting gateway. */
export interface Selector {
  readonly http: HttpGateway;
  readonly ssl: boolean;
  /** Default namespace of references. */
  readonly namespace: string;
  readonly report: Report;
}

/** The usable virtual services that belong to an HTTP gateway, sorted by key. Expressions come before labels, labels before names. */
export function selectVirtualServices(selector: Selector, input: TranslationInput): readonly StoredResource[] {
  const chosen = choose(selector, input);
  return chosen.filter(({ resource }) => !!resource && isSsl(resource) === selector.ssl);
}

function isSsl(resource: Resource): boolean {
  return (resource as Resource<VirtualServiceSpec>).spec.sslConfig !== undefined;
}

function choose({ http, namespace, report }: Selector, input: TranslationInput): readonly StoredResource[] {
  const all = input.list('VirtualService');
  const namespaces = http.virtualServiceNamespaces ?? [];
  const searched = namespaces.length === 0 || namespaces.includes('*') ? undefined : new Set(namespaces);
  const inside = searched ? all.filter(({ resource }) => resource && searched.has(resource.metadata.namespace)) : all;
  if (http.virtualServiceExpressions) {
    const expressions = http.virtualServiceExpressions.expressions ?? [];
    const problem = expressions.map(expressionProblem).find((one) => one !== undefined);
    if (problem) report.error(problem);
    return problem ? [] : inside.filter((one) => expressions.every((expression) => satisfies(labels(one), expression)));
  }
  const wanted = http.virtualServiceSelector;
  if (wanted && Object.keys(wanted).length > 0) return inside.filter((one) => hasLabels(labels(one), wanted));
  return http.virtualServices?.length ? referenced(http.virtualServices, namespace, { report, input }) : inside;
}

function labels({ resource }: StoredResource) {
  return resource?.metadata.labels ?? {};
}

function referenced(
  refs: NonNullable<HttpGateway['virtualServices']>,
  namespace: string,
  { report, input }: { report: Report; input: TranslationInput },
): readonly StoredResource[] {
  const chosen = new Set<StoredResource>();
  for (const [i, { name = '', namespace: own }] of refs.entries()) {
    const at = ['spec', 'httpGateway', 'virtualServices', i];
    const ref = { name, namespace: own || namespace };
    const stored = input.stored.get(keyOf('VirtualService', ref));
    if (!stored) {
      const fault = missingFault(`virtual service ${dotted(ref)} not found`, 'VirtualService', ref, input);
      report.error(fault, at);
    } else if (!stored.resource) report.warn(`virtual service ${dotted(ref)} is rejected: ${causeOf(stored)}`, at);
    else chosen.add(stored);
  }
  return [...chosen].sort((a, b) => (a.key < b.key ? -1 : 1));
}
