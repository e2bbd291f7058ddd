import type { Derived } from '../derived.ts';
import { fillRefs, type RefFields } from '../reference/fill-refs.ts';

/** Options with references to resources, and the fields of these references. */
const BLOCKS = [
  'extauth',
  'headerManipulation',
  'jwt',
  'jwtStaged',
  'jwtProvidersStaged',
  'rateLimitConfigs',
  'rateLimitEarlyConfigs',
  'rateLimitRegularConfigs',
  'shadowing',
] as const;
const FIELDS: RefFields = { names: new Set(['configRef', 'headerSecretRef', 'refs', 'upstream', 'upstreamRef']) };

type Options = Readonly<Partial<Record<(typeof BLOCKS)[number], unknown>>>;

/**
 * Adds the namespace of the enclosing resource to all references without one, because it is unknown
 * after the options are merged. Returns options without such references unchanged.
 */
export function withNamespaces<O extends Options>(options: O, namespace: string, derived: Derived): O {
  if (!BLOCKS.some((name) => options[name] !== undefined)) return options;
  return derived.of(fillOptionRefs, options, namespace) as O;
}

function fillOptionRefs(options: Options, namespace: string): Options {
  const changed: Record<string, unknown> = {};
  for (const name of BLOCKS) {
    const filled = fillRefs(options[name], FIELDS, namespace);
    if (filled !== options[name]) changed[name] = filled;
  }
  return Object.keys(changed).length > 0 ? Object.freeze({ ...options, ...changed }) : options;
}
