import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { compilePolicy, type CompiledPolicy, type PolicyText } from './compile.ts';

/** Most compiled policies that are kept. */
const MAX_KEPT = 100;

/** Compiles policies, the same one once. */
export interface PolicyCompiler {
  /** Rejects with `ERR_EXTAUTH_CONFIG` if the policy cannot be compiled; the next call tries again. */
  compile(policy: PolicyText): Promise<CompiledPolicy>;
}

/** Options of {@link createPolicyCompiler}. */
export interface PolicyCompilerOptions {
  /** Name or path of the program `opa`, which compiles modules. Default `opa`. */
  readonly program?: string;
}

/** Creates a compiler that keeps the last 100 policies. */
export function createPolicyCompiler({ program }: PolicyCompilerOptions = {}): PolicyCompiler {
  const kept = new LRUCache<string, Promise<CompiledPolicy>>({ max: MAX_KEPT });
  return {
    compile(policy) {
      const key = keyOf(policy);
      const found = kept.get(key);
      if (found) return found;
      const compiling = compilePolicy(policy, program);
      kept.set(key, compiling);
      compiling.catch(() => kept.delete(key));
      return compiling;
    },
  };
}

/** Returns the same text for the same policy. */
export function keyOf({ sources, query }: PolicyText): string {
  return createHash('sha256')
    .update(JSON.stringify([query, sources.map(({ name, text, binary }) => [name, text, binary])]))
    .digest('hex');
}
