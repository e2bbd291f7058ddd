import { canonicalName, type Facts, type VirtualHost } from '@edge-gateway/core';
import type { JwtProvider, JwtProviders, VirtualHostOptions } from '@edge-gateway/core/schema';
import { claimHeadersOf, removeOthersCopies } from './claim-headers.ts';

type Stages = { readonly beforeExtAuth?: JwtProviders; readonly afterExtAuth?: JwtProviders };
type Blocks = Pick<VirtualHostOptions, 'jwt' | 'jwtStaged'> & { readonly jwtProvidersStaged?: Stages };

const known = new WeakMap<VirtualHost, ReadonlySet<string>>();
const cleaned = new WeakMap<Facts, ReadonlySet<string>>();

/**
 * The headers that claims are copied to anywhere in a virtual host, in lower case with `_` as `-`: its upstreams believe
 * them, whichever route led there. Those that tokens are read from stay.
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

/** Takes what the client sent under these names out, once: what a route that the request has left put there stays. */
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
