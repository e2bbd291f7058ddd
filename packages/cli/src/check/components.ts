import { items, text } from '../resources/objects.ts';
import type { Check, CheckInput, RunningComponent } from './contract.ts';

/** Reads the response of `GET /components`, a list. */
export function readComponents(response: unknown): RunningComponent[] {
  return items(response).map((one) => ({
    name: text(one, 'name'),
    kind: text(one, 'kind'),
    state: text(one, 'state'),
    reason: text(one, 'reason'),
    resources: items(one, 'resources').map((each) => ({
      kind: text(each, 'kind'),
      namespace: text(each, 'namespace'),
      name: text(each, 'name'),
    })),
    waitsFor: items(one, 'waitsFor').map(String),
  }));
}

/** Returns true if a component works. */
export const isReady = ({ state }: RunningComponent) => state === 'ready';

/** Returns true if a component is a listener of a proxy. */
export const isListener = (component: RunningComponent) => component.kind === 'listener';

/** Returns true if `Deployments` reports that the proxy is not ready. */
export function isProxyReported({ components = [], excluded }: CheckInput): boolean {
  return !excluded.has('deployments') && components.some((one) => one.kind === 'proxy' && !isReady(one));
}

/** The parts a gateway consists of: its control plane and its proxies. */
export const deployments: Check = {
  name: 'Deployments',
  excludedBy: 'deployments',
  run(input: CheckInput) {
    const { components, note } = input;
    if (components === undefined) {
      note(
        'Warning: the gateway does not list its components (GET /components); Deployments and Pods were not checked',
      );
      return [];
    }
    const parts = components.filter((one) => !isListener(one));
    if (parts.length === 0) return ['No running control plane or proxy was found'];
    return parts.filter((one) => !isReady(one)).map((one) => componentLine(one, input));
  },
};

/** A component that is not ready; the reasons of its listeners are left to `Pods`. */
function componentLine({ name, kind, state, reason, waitsFor }: RunningComponent, { excluded }: CheckInput): string {
  const isLeftToPods = waitsFor.length > 0 && !excluded.has('pods');
  const why = isLeftToPods ? `not every listener is served: ${waitsFor.join(', ')}` : reason;
  return `Component ${name} (${kind}) is ${state || 'unknown'}${why && `: ${why}`}`;
}

/** What runs inside those parts: every listener that should be open. */
export const pods: Check = {
  name: 'Pods',
  excludedBy: 'pods',
  run(input: CheckInput) {
    const { components, podSelector, note } = input;
    if (components === undefined) return [];
    const all = podSelector === 'gw';
    const chosen = components.filter(
      ({ name, kind }) => all || name === podSelector || kind === podSelector || name.includes(podSelector),
    );
    if (chosen.length === 0) {
      note(`Warning: The provided label selector (${podSelector}) applies to no pods`);
      return [];
    }
    return chosen.filter((one) => !isReady(one) && (isListener(one) || !all)).map((one) => listenerLine(one, input));
  },
};

/** A listener that is not served; the reason is left to the check that prints the problem of its resource. */
function listenerLine({ name, kind, state, reason, resources }: RunningComponent, { printed }: CheckInput): string {
  const blamed = resources.filter((ref) =>
    printed.some((one) => one.kind === ref.kind && one.namespace === ref.namespace && one.name === ref.name),
  );
  const shown = kind === 'listener' && state === 'failed' ? 'not served' : state || 'unknown';
  const why = blamed.map((ref) => `${ref.kind} ${ref.namespace}/${ref.name}`).join(', ');
  return `Listener ${name} (${kind}) is ${shown}${why ? ` because of ${why}` : reason && `: ${reason}`}`;
}
