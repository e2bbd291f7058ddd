import type { FieldPath } from '../resource/problem.ts';

const STEP = /\.((?:[^.[\]\\\s'"{}]|\\.)+)|\[(?:(\d{1,6})|'([^']*)'|"([^"]*)")\]/y;

/**
 * Returns the steps of a JSON path to one value, as in Kubernetes, or `undefined` if it is invalid: `{.metadata.name}`, `.metadata.labels['a.b']`,
 * `.metadata.labels.a\.b`, `.spec.hosts[0]`. Braces are optional.
 */
export function parseJsonPath(text: string): FieldPath | undefined {
  const path = /^\{(.*)\}$/s.exec(text)?.[1] ?? text;
  const steps: (string | number)[] = [];
  STEP.lastIndex = 0;
  while (STEP.lastIndex < path.length) {
    const [, name, index, ...quoted] = STEP.exec(path) ?? [];
    const step = name?.replaceAll(/\\(.)/g, '$1') ?? quoted.find((each) => each !== undefined);
    if (index !== undefined) steps.push(Number(index));
    else if (step !== undefined) steps.push(step);
    else return undefined;
  }
  return steps.length > 0 ? steps : undefined;
}

/** Returns the value at a path as text; empty if there is none, or no single value. */
export function textAt(value: unknown, path: FieldPath): string {
  let found = value;
  for (const step of path) {
    const isContainer = typeof found === 'object' && found !== null;
    found =
      isContainer && Object.hasOwn(found as object, step)
        ? (found as Record<string | number, unknown>)[step]
        : undefined;
  }
  return ['string', 'number', 'boolean'].includes(typeof found) ? String(found) : '';
}
