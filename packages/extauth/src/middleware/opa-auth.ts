import {
  createContext,
  type Context,
  type Handler,
  type MiddlewareOptions,
  type PolicySource,
} from '@edge-gateway/core';
import * as f from '@edge-gateway/core/options';
import { configError } from '../error-codes.ts';
import { createOpaMethod } from '../methods/opa.ts';
import { extauth } from '../middleware.ts';
import { ON_REFUSAL } from './on-refusal.ts';
import { createPolicyCompiler } from '../opa/compiler.ts';

/** Options of {@link opaAuth}. */
export interface OpaAuthOptions extends MiddlewareOptions {
  /** Rego modules by name, compiled with the program `opa`; or a bundle made by `opa build -t wasm`, which needs no program. */
  readonly policy: Readonly<Record<string, string>> | Uint8Array;
  /** Query that must be true, e.g. `data.pets.allow`; of a bundle, the name of an entrypoint. */
  readonly query: string;
  /** Name or path of the program `opa`. Default `opa`. */
  readonly program?: string;
}

const STEP = 'opaAuth';
const fields = {
  policy: f.value<OpaAuthOptions['policy']>((policy) =>
    policy instanceof Uint8Array || (typeof policy === 'object' && policy !== null)
      ? undefined
      : 'must be modules by name, or a bundle as bytes',
  ),
  query: f.text(),
  program: f.text(),
  onRefusal: ON_REFUSAL,
} satisfies Record<keyof OpaAuthOptions, f.Schema>;
const rules: f.OptionRules = { schema: f.block(f.required('policy', 'query'), fields), error: configError };

/**
 * Allows requests for which a query about Rego modules is true; all others are rejected with 403, also if the policy fails, takes more
 * than 200 ms or cannot be compiled, which is logged. Throws `ERR_EXTAUTH_CONFIG` without modules or query.
 *
 * @example
 * app.use(opaAuth({ policy: { 'pets.rego': readFileSync('pets.rego', 'utf8') }, query: 'data.pets.allow' }));
 */
export function opaAuth(written: OpaAuthOptions, context: Context = createContext()): Handler {
  const options = f.checkOptions(STEP, written, rules);
  const { policy, query, program, onRefusal } = options;
  if (query.trim() === '') throw configError(`${STEP}: query is missing`);
  const method = createOpaMethod({ compiler: createPolicyCompiler({ program }), sources: sourcesOf(policy) });
  const config = { configs: [{ name: STEP, opaAuth: { query, modules: [] } }] };
  return extauth({ config, methods: [method], name: STEP, onRefusal }, context);
}

function sourcesOf(policy: OpaAuthOptions['policy']): readonly PolicySource[] {
  if (policy instanceof Uint8Array) return [{ name: 'policy', binary: Buffer.from(policy).toString('base64') }];
  const modules = Object.entries(policy ?? {});
  if (modules.length === 0) throw configError(`${STEP}: policy has no modules`);
  return modules.map(([name, text]) => {
    if (typeof text !== 'string') throw configError(`${STEP}: the module ${name} is not text`);
    return { name, text };
  });
}
