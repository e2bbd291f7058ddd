import type { AuthRequest, Scope } from '@edge-gateway/core';
import type { ExtAuthExtension } from '@edge-gateway/core/schema';

/**
 * Returns the function for the context extensions of a block: those of `customAuth`, or for an AuthConfig its name `config_id`, and the
 * level that refers to it: `source_type` and `source_name`, which is the name of the virtual host or of the route.
 */
export function contextExtensionsOf(
  block: ExtAuthExtension,
  scope: Scope | undefined,
): (request: Pick<AuthRequest, 'routeName'>) => Readonly<Record<string, string>> {
  if (block.customAuth) {
    const fixed = block.customAuth.contextExtensions ?? {};
    return () => fixed;
  }
  const { name = '', namespace = '' } = block.configRef ?? {};
  const config_id = `${namespace}.${name}`;
  const source_type = levelOf(block, scope);
  const host = scope?.virtualHost.name ?? '';
  if (source_type === 'virtual_host') {
    const fixed = { config_id, source_name: host, source_type };
    return () => fixed;
  }
  return ({ routeName }) => ({ config_id, source_name: routeName || host, source_type });
}

function levelOf(block: ExtAuthExtension, scope: Scope | undefined): string {
  if (!scope || scope.virtualHost.options.extauth === block) return 'virtual_host';
  return scope.virtualHost.routes.some(({ options }) => options.extauth === block) ? 'route' : 'weighted_destination';
}
