import { items, text } from '../resources/objects.ts';
import type { Check, CheckInput, RunningComponent } from './contract.ts';

/** Reads the response of `GET /components`: a list, or an object with one as `data` or `components`. */
export function readComponents(answer: unknown): RunningComponent[] {
  const list = [answer, ...['data', 'components'].map((key) => items(answer, key))].find(
    (one): one is unknown[] => Array.isArray(one) && one.length > 0,
  );
  return (list ?? []).map((one) => ({
    name: text(one, 'name'),
    kind: text(one, 'kind'),
    state: text(one, 'state') || text(one, 'status'),
    reason: text(one, 'reason'),
  }));
}

/** The start of a listener's status message; only what follows it is the cause. */
const LISTENER_MESSAGE = /^Listener (?:Warning|Error): \w+\. Reason: /;

function problems(components: readonly RunningComponent[], noun: string): string[] {
  return components
    .filter((one) => !isReady(one))
    .map(({ name, kind, state, reason }) => {
      const shown = kind === 'listener' && state === 'failed' ? 'not served' : state || 'unknown';
      return `${noun} ${name} (${kind}) is ${shown}${reason && `: ${reason.replace(LISTENER_MESSAGE, '')}`}`;
    });
}

/** Returns true if a component works. */
export const isReady = ({ state }: RunningComponent) => state === 'ready' || state === 'OK';

/** Returns true if a component is a listener of a proxy. */
export const isListener = (component: RunningComponent) => component.kind === 'listener';

/** Returns true if `Pods` reports why the proxy is not ready: a listener is missing. */
export function missesListener({ components = [], excluded }: CheckInput): boolean {
  return !excluded.has('pods') && components.some((one) => isListener(one) && !isReady(one));
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
    const isToldByPods = missesListener(input);
    return problems(
      parts.filter(({ reason }) => !(isToldByPods && reason.startsWith('not every listener is served'))),
      'Component',
    );
  },
};

/** What runs inside those parts: every listener that should be open. */
export const pods: Check = {
  name: 'Pods',
  excludedBy: 'pods',
  run({ components, podSelector, note }: CheckInput) {
    if (components === undefined) return [];
    const all = podSelector === 'gw';
    const chosen = components.filter(
      ({ name, kind }) => all || name === podSelector || kind === podSelector || name.includes(podSelector),
    );
    if (chosen.length === 0) {
      note(`Warning: The provided label selector (${podSelector}) applies to no pods`);
      return [];
    }
    return problems(all ? chosen.filter(isListener) : chosen, 'Listener');
  },
};
