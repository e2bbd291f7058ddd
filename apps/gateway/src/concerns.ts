import type { Concern } from '@edge-gateway/core';

/** The concerns that routes are compiled with, beside what routing itself does. Their stages order them. */
export const CONCERNS: readonly Concern[] = [];
