import { GATEWAY_API_LABELS, isFromGatewayApi } from '../../resource/generated.ts';
import type { FieldPath } from '../../resource/problem.ts';
import { keyOf, type Resource, type ResourceKey } from '../../resource/resource.ts';
import type { HttpGateway } from '../../schema/kind/gateway.ts';
import type { VirtualServiceSpec } from '../../schema/kind/virtual-service.ts';
import type { StoredResource } from '../../resource/stored.ts';
import { expressionProblem, hasLabels, satisfies } from '../../syntax/label-expression.ts';
import { missingFault } from '../reference/missing.ts';
import { withItems } from '../lists.ts';
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
  /** Path of `http`. */
  readonly at: FieldPath;
}

/** The usable virtual services that belong to an HTTP gateway, sorted by key. Expressions come before labels, labels before names. */
export function selectVirtualServices(
  selector: Selector,
  input: TranslationInput,
  before?: SelectedBefore,
): readonly StoredResource[] {
  const { http, ssl, namespace, report, at } = selector;
  const selects = selectionOf(http, report);
  const isSelected = (stored: StoredResource): boolean =>
    !!stored.resource && isSsl(stored.resource) === ssl && selects(stored.resource);
  const choosesAmongAll = http.virtualServiceExpressions || hasSelector(http) || !http.virtualServices?.length;
  if (!choosesAmongAll) {
    const chosen = referenced(http.virtualServices ?? [], namespace, { report, input, at });
    return chosen.filter(({ resource }) => !!resource && isSsl(resource) === ssl);
  }
  if (!before) return input.list('VirtualService').filter(isSelected);
  const changed = [...before.changed].map((key) => {
    const stored = input.stored.get(key);
    return [key, stored && isSelected(stored) ? stored : undefined] as const;
  });
  return withItems(before.selected, changed, ({ key }) => key);
}

/** The selection of the same gateway in the previous translation, and the virtual services that changed since. */
interface SelectedBefore {
  readonly selected: readonly StoredResource[];
  readonly changed: Iterable<ResourceKey>;
}

function isSsl(resource: Resource): boolean {
  return (resource as Resource<VirtualServiceSpec>).spec.sslConfig !== undefined;
}

function hasSelector({ virtualServiceSelector }: HttpGateway): boolean {
  return virtualServiceSelector !== undefined && Object.keys(virtualServiceSelector).length > 0;
}

/** Returns whether a gateway that lists no names selects a resource. */
function selectionOf(http: HttpGateway, report: Report): (resource: Resource) => boolean {
  const namespaces = http.virtualServiceNamespaces ?? [];
  const searched = namespaces.length === 0 || namespaces.includes('*') ? undefined : new Set(namespaces);
  const wanted = http.virtualServiceSelector;
  const isGatewayApi = wanted?.['created_by'] === GATEWAY_API_LABELS.created_by;
  const isInside = ({ metadata }: Resource): boolean =>
    (!searched || searched.has(metadata.namespace)) && isFromGatewayApi(metadata) === isGatewayApi;
  if (http.virtualServiceExpressions) {
    const expressions = http.virtualServiceExpressions.expressions ?? [];
    const problem = expressions.map(expressionProblem).find((one) => one !== undefined);
    if (problem) report.error(problem);
    if (problem) return () => false;
    return (resource) =>
      isInside(resource) && expressions.every((expression) => satisfies(resource.metadata.labels ?? {}, expression));
  }
  if (!wanted || !hasSelector(http)) return isInside;
  return (resource) => isInside(resource) && hasLabels(resource.metadata.labels ?? {}, wanted);
}

function referenced(
  refs: NonNullable<HttpGateway['virtualServices']>,
  namespace: string,
  { report, input, at: path }: Pick<Selector, 'report' | 'at'> & { input: TranslationInput },
): readonly StoredResource[] {
  const chosen = new Set<StoredResource>();
  for (const [i, { name = '', namespace: own }] of refs.entries()) {
    const at = [...path, 'virtualServices', i];
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
