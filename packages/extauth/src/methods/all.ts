import type { AuthMethodKind } from '@edge-gateway/core';
import { accessTokenMethod } from './access-token.ts';
import { apiKeyMethod } from './api-key.ts';
import { basicMethod } from './basic.ts';
import { hmacMethod } from './hmac.ts';
import { jwtMethod } from './jwt.ts';
import { ldapMethod } from './ldap.ts';
import { opaServerMethod } from './opa-server.ts';
import { opaMethod } from './opa.ts';
import { passThroughGrpcMethod } from './pass-through-grpc.ts';
import { passThroughHttpMethod } from './pass-through-http.ts';

/** Every method of this package. Logins by OpenID Connect come from `@edge-gateway/oidc`. */
export const METHODS: readonly AuthMethodKind[] = [
  basicMethod,
  apiKeyMethod,
  jwtMethod,
  hmacMethod,
  ldapMethod,
  opaMethod,
  opaServerMethod,
  accessTokenMethod,
  passThroughHttpMethod,
  passThroughGrpcMethod,
] as readonly AuthMethodKind[];
