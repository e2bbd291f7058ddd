import '@edge-gateway/core/supported-node';
/** The parts of a name that depend on the proxy; `*` is anything. */
const VARIABLES = ['{namespace}', '{proxy}', '*'] as const;

/** One part of a name between slashes or dots: a variable, or the text of which it consists. */
export type NameSegment = (typeof VARIABLES)[number] | { readonly text: string };

/** A name that client certificates of proxies have: a URI, or a DNS name. */
export interface ClientName {
  /** As `alternativeNames` writes it. */
  readonly kind: 'URI' | 'DNS';
  readonly pattern: string;
  readonly segments: readonly NameSegment[];
}

/**
 * Parses names, separated by commas. `{proxy}` is the name of the proxy, `{namespace}` the namespace of its control plane, `*` anything. Each of
 * them is a whole segment, so that no two proxies have the same name. Throws an `Error` that says what is wrong.
 *
 * @example
 * parseClientNames('spiffe://example.com/ns/{namespace}/proxy/{proxy},{proxy}.{namespace}.svc');
 */
export function parseClientNames(text: string): readonly ClientName[] {
  return text.split(',').map((each) => parseName(each.trim()));
}

function parseName(pattern: string): ClientName {
  const kind = pattern.includes('://') ? 'URI' : 'DNS';
  const invalid = (reason: string): Error => new Error(`invalid name ${JSON.stringify(pattern)}: ${reason}`);
  if (!/^[\x21-\x7e]+$/.test(pattern)) throw invalid('1 or more visible characters are required');
  const segments = pattern.split(kind === 'URI' ? '/' : '.').map((text): NameSegment => {
    const variable = VARIABLES.find((each) => each === text);
    if (variable === undefined && /[{}*]/.test(text))
      throw invalid(
        `${VARIABLES.join(', ')} must be whole segments, separated by ${kind === 'URI' ? 'slashes' : 'dots'}`,
      );
    return variable ?? { text };
  });
  if (segments.filter((each) => each === '{proxy}').length !== 1) throw invalid('{proxy} is required once');
  return { kind, pattern, segments };
}
