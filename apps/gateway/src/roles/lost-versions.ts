import { keyOf, type ControlPlaneState, type Kind, type Logger, type Problem } from '@edge-gateway/core';

/** Maximum number of resources in one log entry. */
const MAX_NAMED = 50;

/** Warns of invalid resources, broken references and unreadable files for which no earlier version is served. */
export function warnOfLostVersions(state: ControlPlaneState | undefined, log: Logger): void {
  if (!state) return;
  const resources = new Set<string>();
  const files = new Set<string>();
  for (const issue of state.issues) {
    if (!isLost(issue, state)) continue;
    const { kind, namespace, name, origin } = issue;
    if (name === undefined) files.add(origin.file);
    else resources.add(`${kind} ${namespace}/${name}`);
  }
  if (resources.size + files.size === 0) return;
  log.warn(
    {
      resources: [...resources].slice(0, MAX_NAMED),
      files: [...files].slice(0, MAX_NAMED),
      count: resources.size + files.size,
    },
    'no last good version of invalid resources and routes: they are not served',
  );
}

function isLost({ severity, code, effect, kind, namespace, name, origin }: Problem, state: ControlPlaneState): boolean {
  if (code === 'MISSING_REFERENCE' && severity === 'warning') return effect !== 'keeps-last-good';
  if (severity !== 'error') return false;
  const used = state.resources;
  if (name === undefined || namespace === undefined)
    return ![...used.values()].some((resource) => resource.origin.file === origin.file);
  if (!used.has(keyOf(kind as Kind, { namespace, name }))) return true;
  return kind === 'VirtualService' && !isServed({ namespace, name }, state);
}

function isServed({ namespace, name }: { namespace: string; name: string }, { snapshots }: ControlPlaneState): boolean {
  const listeners = [...snapshots.values()].flatMap((snapshot) => snapshot.listeners);
  const all = listeners.flatMap((listener) => [listener, ...(listener.parts ?? []).flatMap(({ http }) => http ?? [])]);
  return all.some(({ virtualHosts }) =>
    virtualHosts.some((host) => host.virtualService.name === name && host.virtualService.namespace === namespace),
  );
}
