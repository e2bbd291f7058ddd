import { createHash } from 'node:crypto';
import { parseJson } from '@edge-gateway/core';

type Builtin = (...args: readonly unknown[]) => unknown;

/**
 * Built-in functions of Rego that compiled policies do not contain, beside those of `@open-policy-agent/opa-wasm`. None of them calls
 * a server. `undefined` is an error of the function: the expression is undefined.
 */
export const BUILTINS: Readonly<Record<string, Builtin>> = {
  'io.jwt.decode': (token) => decodeToken(token),
  'time.now_ns': () => Date.now() * 1e6,
  'time.parse_rfc3339_ns': (text) => {
    const at = typeof text === 'string' ? Date.parse(text) : Number.NaN;
    return Number.isNaN(at) ? undefined : at * 1e6;
  },
  'crypto.sha256': (text) => digestOf('sha256', text),
  'crypto.sha1': (text) => digestOf('sha1', text),
  trace: () => true,
};

/** Names of the built-in functions of `@open-policy-agent/opa-wasm`. */
export const LIBRARY_BUILTINS: ReadonlySet<string> = new Set([
  'json.is_valid',
  'regex.split',
  'sprintf',
  'yaml.is_valid',
  'yaml.marshal',
  'yaml.unmarshal',
]);

function digestOf(algorithm: string, text: unknown): string | undefined {
  return typeof text === 'string' ? createHash(algorithm).update(text).digest('hex') : undefined;
}

/** Returns header, claims and signature of a token without verifying it, as OPA does. */
function decodeToken(token: unknown): unknown {
  const parts = typeof token === 'string' ? token.split('.') : [];
  if (parts.length !== 3) return undefined;
  try {
    const [header, claims] = parts
      .slice(0, 2)
      .map((part) => parseJson(Buffer.from(part, 'base64url').toString('utf8')));
    return [header, claims, Buffer.from(parts[2]!, 'base64url').toString('hex')];
  } catch {
    return undefined;
  }
}
