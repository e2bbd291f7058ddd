/**
 * Returns the encoding with the highest weight in `Accept-Encoding` among `supported`, the first of several (RFC 9110 12.5.3);
 * `undefined` if the client prefers none of them over no encoding.
 *
 * @example
 * chooseEncoding('gzip;q=0.5, br', ['gzip', 'br']); // 'br'
 */
export function chooseEncoding<E extends string>(accepted: string, supported: Iterable<E>): E | undefined {
  const weights = weightsOf(accepted);
  let best: E | undefined;
  let highest = 0;
  for (const encoding of supported) {
    const weight = weights.get(encoding) ?? weights.get('*') ?? 0;
    if (weight <= highest) continue;
    best = encoding;
    highest = weight;
  }
  return (weights.get('identity') ?? 0) > highest ? undefined : best;
}

function weightsOf(accepted: string): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  for (const part of accepted.split(',')) {
    const [name = '', ...parameters] = part.split(';').map((each) => each.trim().toLowerCase());
    if (name === '') continue;
    const written = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
    const weight = written === undefined ? 1 : Number(written);
    // An invalid weight accepts nothing.
    weights.set(name === 'x-gzip' ? 'gzip' : name, weight >= 0 && weight <= 1 ? weight : 0);
  }
  return weights;
}
