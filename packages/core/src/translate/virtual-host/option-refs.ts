import { fillRefs, type RefFields } from '../reference/fill-refs.ts';

/** Options with references to resources, and the fields of these references. */
const BLOCKS = ['extauth', 'headerManipulation', 'jwt', 'jwtStaged', 'jwtProvidersStaged'] as const;
const FIELDS: RefFields = { names: new Set(['configRef', 'headerSecretRef', 'upstreamRef']) };

type Options = Readonly<Partial<Record<(typeof BLOCKS)[number], unknown>>>;

const localised = new WeakMap<object, { readonly namespace: string; readonly options: object }>();

/**
 * Adds the namespace of the enclosing resource to all references without one, because it is unknown
 * after the options are merged. Returns options without such references unchanged.
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
