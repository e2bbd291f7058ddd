import type { AuthMethodKind } from '@edge-gateway/core';
import { accessTokenMethod } from './methods/access-token.ts';
import { apiKeyMethod } from './methods/api-key.ts';
import { basicMethod } from './methods/basic.ts';
import { jwtMethod } from './methods/jwt.ts';
import { passThroughGrpcMethod } from './methods/pass-through-grpc.ts';
import { passThroughHttpMethod } from './methods/pass-through-http.ts';

/** Every method of this package. Logins by OpenID Connect come from `@edge-gateway/oidc`. */
export const METHODS: readonly AuthMethodKind[] = [
  basicMethod,
  apiKeyMethod,
  jwtMethod,
  accessTokenMethod,
  passThroughHttpMethod,
  passThroughGrpcMethod,
] as readonly AuthMethodKind[];
