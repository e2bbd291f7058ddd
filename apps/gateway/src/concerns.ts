import type { Concern } from '@edge-gateway/core';
import { jwtBeforeExtAuthConcern, jwtConcern, rbacConcern } from '@edge-gateway/rbac';

/** The concerns that routes are compiled with, beside what routing itself does. Their stages order them. */
export const CONCERNS: readonly Concern[] = [jwtBeforeExtAuthConcern, jwtConcern, rbacConcern] as readonly Concern[];
