import type { GatewayObject, ReferenceGrantSpec } from './gateway-objects.ts';

interface GrantedReference {
  readonly group: string;
  readonly kind: string;
  readonly namespace: string;
}

/** Returns whether a reference to another namespace is granted there; references inside of one namespace always are. */
export function isGranted(
  grants: readonly GatewayObject<ReferenceGrantSpec>[],
  from: GrantedReference,
  to: GrantedReference & { readonly name: string },
): boolean {
  if (from.namespace === to.namespace) return true;
  return grants.some(({ metadata, spec = {} }) => {
    if (metadata.namespace !== to.namespace) return false;
    const isFrom = spec.from?.some(
      ({ group = '', kind, namespace }) => group === from.group && kind === from.kind && namespace === from.namespace,
    );
    const isTo = spec.to?.some(
      ({ group = '', kind, name }) =>
        group === to.group && kind === to.kind && (name === undefined || name === '' || name === to.name),
    );
    return isFrom === true && isTo === true;
  });
}
