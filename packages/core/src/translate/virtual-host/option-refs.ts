import { fillRefs, type RefFields } from '../reference/fill-refs.ts';

/** Options that hold references to resources, and the fields they are in. */
const BLOCKS = ['extauth', 'headerManipulation', 'jwt', 'jwtStaged', 'jwtProvidersStaged'] as const;
const FIELDS: RefFields = { names: new Set(['configRef', 'headerSecretRef', 'upstreamRef']) };

type Options = Readonly<Partial<Record<(typeof BLOCKS)[number], unknown>>>;

const localised = new WeakMap<object, { readonly namespace: string; readonly options: object }>();

/**
 * Options whose references all name a namespace: that of the resource the options are written in, for nobody knows it
 * any more once they are merged. Options without such references are given as they are.
 */
export function withNamespaces<O extends Options>(options: O, namespace: string): O {
  if (!BLOCKS.some((name) => options[name] !== undefined)) return options;
  const known = localised.get(options);
  if (known?.namespace === namespace) return known.options as O;
  const changed: Record<string, unknown> = {};
  for (const name of BLOCKS) {
    const filled = fillRefs(options[name], FIELDS, namespace);
    if (filled !== options[name]) changed[name] = filled;
  }
  const result = Object.keys(changed).length > 0 ? Object.freeze({ ...options, ...changed }) : options;
  localised.set(options, { namespace, options: result });
  return result;
}
