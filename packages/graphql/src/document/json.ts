import { ExactNumber } from '@edge-gateway/core';

/** Maximum nesting depth of data from clients: bodies, and `variables` and `extensions` of query strings. */
export const MAX_REQUEST_DEPTH = 64;
/** Deepest nesting of one result of a remote server: deeper ones cannot be serialized again. */
export const MAX_RESULT_DEPTH = 1000;

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber);
}

/** Returns a number as JavaScript represents it; other values stay the same. */
export function plainNumber(value: unknown): unknown {
  return value instanceof ExactNumber ? Number(value.text) : value;
}

/** Returns the digits of an integer that JavaScript cannot represent; other values stay the same. */
export function integerText(value: unknown): unknown {
  return value instanceof ExactNumber && /^-?\d+$/.test(value.text) ? value.text : value;
}

/** Returns true if JSON is nested deeper than `limit`. Counts brackets, so that deep input is rejected before recursive code reads it. */
export function isTextDeeper(text: string, limit: number): boolean {
  let depth = 0;
  let inText = false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (inText) {
      if (code === 92) i++;
      else if (code === 34) inText = false;
    } else if (code === 34) inText = true;
    else if (code === 123 || code === 91) {
      if (++depth > limit) return true;
    } else if (code === 125 || code === 93) depth--;
  }
  return false;
}

/** Returns true if objects and lists are nested in a value deeper than `limit`. Looks no deeper than that. */
export function isDeeper(value: object, limit: number): boolean {
  if (limit === 0) return true;
  for (const inner of Object.values(value)) {
    if (typeof inner === 'object' && inner !== null && isDeeper(inner as object, limit - 1)) return true;
  }
  return false;
}
