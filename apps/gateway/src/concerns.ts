import type { Concern } from '@edge-gateway/core';
import { createAccessTokenMethod, createExtAuth, METHODS } from '@edge-gateway/extauth';
import { azureGroups, oauth2Method, oidcMethod } from '@edge-gateway/oidc';
import { jwtBeforeExtAuthConcern, jwtConcern, rbacConcern } from '@edge-gateway/rbac';

/** The concerns that routes are compiled with, beside what routing itself does. Their stages order them. */
export const CONCERNS = [
  jwtBeforeExtAuthConcern,
  // Of two methods of one type the first is taken.
  createExtAuth({ methods: [createAccessTokenMethod({ groups: azureGroups }), ...METHODS, oidcMethod, oauth2Method] }),
  jwtConcern,
  rbacConcern,
] as readonly Concern[];
