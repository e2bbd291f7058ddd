import type { HashedRequest, RequestHash } from '../route/options/lb-hash.ts';
import type { StatefulSession } from '../route/options/stateful-session.ts';
import type { Host } from '../upstream/hosts/host.ts';
import type { PickContext } from '../upstream/hosts/pick-context.ts';

/** A request whose host depends on its content. */
export interface ChoosingRequest extends HashedRequest {
  readonly head: HashedRequest['head'] & { readonly originalPath: string };
  readonly settings: { readonly session: StatefulSession | undefined };
}

/** What the choice of a host depends on, besides the load. */
export interface HostChoice {
  readonly hash: RequestHash | undefined;
  readonly subset: Readonly<Record<string, string>> | undefined;
}

/** Returns what a request brings to the choice of its host. `setCookie` receives the cookie that the response must set. */
export function pickContextOf(
  request: ChoosingRequest,
  { hash, subset }: HostChoice,
  setCookie: (value: string) => void,
): PickContext {
  const { session } = request.settings;
  return {
    hash: hash?.(request, setCookie),
    metadataMatch: subset,
    wanted: session?.hostOf(request.head.headers, request.head.originalPath),
    strict: session?.strict,
  };
}

/** Returns the response header that binds the client to a host; `undefined` if it is bound to that host already. */
export function sessionHeader(
  { settings: { session }, head }: ChoosingRequest,
  context: PickContext | undefined,
  host: Host,
): readonly [name: string, value: string] | undefined {
  const address = host.name;
  return context?.wanted === address ? undefined : session?.headerFor(address, head.originalPath);
}
