import { gatewayNamespace } from '../resource/gateway-namespace.ts';
import type { ResourceRef } from '../resource/resource.ts';
import type { ExtAuthExtension, ExtAuthServer } from '../schema/auth/extauth.ts';

/** The auth servers that blocks of external auth may use. */
export interface AuthServers {
  /** Of the listener, else of the Settings. */
  readonly extauth?: ExtAuthServer | undefined;
  readonly namedExtauth?: Readonly<Record<string, ExtAuthServer>> | undefined;
}

/** Where the external auth of a block runs. */
export type AuthPlace =
  | { readonly type: 'off' }
  /** In the gateway itself. */
  | { readonly type: 'embedded'; readonly server: ExtAuthServer | undefined }
  | {
      readonly type: 'server';
      /** Entry of `namedExtauth`; empty for the server of the listener or the Settings. */
      readonly name: string;
      readonly server: ExtAuthServer;
      readonly upstream: ResourceRef;
    }
  /** Nowhere: requests must be rejected. */
  | { readonly type: 'missing'; readonly reason: string };

/**
 * Returns where the external auth of a block runs. `customAuth` is a call of the server that it names, or of the one in `extauth`. An AuthConfig is
 * evaluated by the server in `extauth`, and without `extauthzServerRef` there in the gateway itself.
 *
 * @example
 * authPlaceOf({ customAuth: { name: 'staff' } }, { namedExtauth: { staff: { extauthzServerRef: { name: 'staff' } } } });
 */
export function authPlaceOf(block: ExtAuthExtension, { extauth, namedExtauth = {} }: AuthServers): AuthPlace {
  if (block.disable) return { type: 'off' };
  if (!block.customAuth) {
    if (!block.configRef) return { type: 'missing', reason: 'extauth has neither configRef nor customAuth' };
    return extauth?.extauthzServerRef?.name ? placeOf('', extauth) : { type: 'embedded', server: extauth };
  }
  const { name = '' } = block.customAuth;
  if (name === '') return placeOf('', extauth);
  const named = Object.hasOwn(namedExtauth, name) ? namedExtauth[name] : undefined;
  if (!named) return { type: 'missing', reason: `namedExtauth of the Settings has no auth server '${name}'` };
  return placeOf(name, named);
}

function placeOf(name: string, server: ExtAuthServer | undefined): AuthPlace {
  const ref = server?.extauthzServerRef;
  if (server && ref?.name) {
    return {
      type: 'server',
      name,
      server,
      upstream: { name: ref.name, namespace: ref.namespace || gatewayNamespace() },
    };
  }
  const place = name === '' ? 'extauth of the Settings or the listener' : `namedExtauth.${name} of the Settings`;
  return { type: 'missing', reason: `customAuth needs extauthzServerRef in ${place}` };
}
