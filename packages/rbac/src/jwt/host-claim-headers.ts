import { canonicalName, type Facts, type VirtualHost } from '@edge-gateway/core';
import type { JwtProvider, JwtProviders, VirtualHostOptions } from '@edge-gateway/core/schema';
import { claimHeadersOf, removeOthersCopies } from './claim-headers.ts';

type Stages = { readonly beforeExtAuth?: JwtProviders; readonly afterExtAuth?: JwtProviders };
type Blocks = Pick<VirtualHostOptions, 'jwt' | 'jwtStaged'> & { readonly jwtProvidersStaged?: Stages };

const known = new WeakMap<VirtualHost, ReadonlySet<string>>();
const cleaned = new WeakMap<Facts, ReadonlySet<string>>();

/**
 * Returns the headers that claims are copied to on any route of a virtual host, in lower case with `_` as `-`, because its
 * upstreams trust them on every route. Headers that tokens are read from are not included.
 */
export function claimHeadersIn(host: VirtualHost): ReadonlySet<string> {
  const before = known.get(host);
  if (before) return before;
  const providers = [host, ...host.routes].flatMap(({ options }) => providersOf(options as Blocks));
  const names = new Set(providers.flatMap(({ claimsToHeaders = [] }) => claimHeadersOf(claimsToHeaders)));
  for (const { tokenSource = {} } of providers)
    for (const { header = '' } of tokenSource.headers ?? []) names.delete(canonicalName(header));
  names.delete('authorization');
  known.set(host, names);
  return names;
}

/** Removes the client's headers with these names, once per request: headers that an earlier route of the request set are kept. */
export function removeClientCopies(names: ReadonlySet<string>, facts: Facts): void {
  if (cleaned.get(facts) === names) return;
  cleaned.set(facts, names);
  removeOthersCopies(names, facts, []);
}

function providersOf({ jwt, jwtStaged, jwtProvidersStaged }: Blocks): JwtProvider[] {
  const stages = [jwtStaged as Stages | undefined, jwtProvidersStaged];
  const blocks = [
    jwt as JwtProviders | undefined,
    ...stages.flatMap((each) => [each?.beforeExtAuth, each?.afterExtAuth]),
  ];
  return blocks.flatMap((block) => Object.values(block?.providers ?? {}));
}
