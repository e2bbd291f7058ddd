import type { Concern } from '@edge-gateway/core';
import { createExtAuth, METHODS } from '@edge-gateway/extauth';
import { oauth2Method, oidcMethod } from '@edge-gateway/oidc';
import { jwtBeforeExtAuthConcern, jwtConcern, rbacConcern } from '@edge-gateway/rbac';

/** The concerns that routes are compiled with, beside what routing itself does. Their stages order them. */
export const CONCERNS = [
  jwtBeforeExtAuthConcern,
  createExtAuth({ methods: [...METHODS, oidcMethod, oauth2Method] }),
  jwtConcern,
  rbacConcern,
] as readonly Concern[];
