import type { FieldPath, FieldProblem } from '../../resource/problem.ts';
import type { JwtProviders } from '../../schema/auth/jwt.ts';
import type { Reader } from '../input.ts';

/** Options that may name the upstreams of JWT key sets. */
export interface HasProviders {
  readonly jwt?: object;
  readonly jwtStaged?: object;
  readonly jwtProvidersStaged?: object;
}

/** Returns the unusable upstreams of key sets; tokens of these providers are rejected until they are usable. */
export function missingKeyUpstreams(options: HasProviders, reader: Reader, above: FieldPath): FieldProblem[] {
  const at = [...above, 'options'];
  const blocks: [FieldPath, object][] = options.jwt ? [[[...at, 'jwt'], options.jwt]] : [];
  for (const name of ['jwtStaged', 'jwtProvidersStaged'] as const) {
    for (const [stage, block] of Object.entries(options[name] ?? {}))
      blocks.push([[...at, name, stage], block as object]);
  }
  return blocks.flatMap(([path, block]) =>
    Object.entries((block as JwtProviders).providers ?? {}).flatMap(([provider, { jwks }]) => {
      const { name, namespace = '' } = jwks?.remote?.upstreamRef ?? {};
      const { fault: why } = name === undefined ? {} : reader.upstream({ name, namespace });
      if (!why) return [];
      const message = `the keys of JWT provider ${provider} cannot be fetched: ${why.message}`;
      return [{ ...why, message, path: [...path, 'providers', provider, 'jwks', 'remote', 'upstreamRef'] }];
    }),
  );
}
