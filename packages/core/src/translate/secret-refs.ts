import type { HeaderManipulation } from '../schema/header-manipulation.ts';

interface HasHeaders {
  readonly headerManipulation?: HeaderManipulation;
}

const localised = new WeakMap<object, object>();

/**
 * Options whose references to header secrets all name a namespace: that of the resource the options are written in, for
 * nobody knows it any more once they are merged. Options without such references are given as they are.
 */
export function withSecretNamespaces<O extends HasHeaders>(options: O, namespace: string): O {
  const added = options.headerManipulation?.requestHeadersToAdd;
  if (!added?.some(({ headerSecretRef: ref }) => ref && !ref.namespace)) return options;
  const known = localised.get(options);
  if (known) return known as O;
  const requestHeadersToAdd = added.map((header) => {
    const ref = header.headerSecretRef;
    if (!ref || ref.namespace) return header;
    return Object.freeze({ ...header, headerSecretRef: Object.freeze({ name: ref.name ?? '', namespace }) });
  });
  const headerManipulation = Object.freeze({
    ...options.headerManipulation,
    requestHeadersToAdd: Object.freeze(requestHeadersToAdd),
  });
  const result = Object.freeze({ ...options, headerManipulation });
  localised.set(options, result);
  return result;
}
