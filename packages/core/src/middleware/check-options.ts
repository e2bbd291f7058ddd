import type { TSchema } from 'typebox';
import { formatPath, type FieldProblem } from '../resource/problem.ts';
import { JwtProviders } from '../schema/auth/jwt.ts';
import { Rbac } from '../schema/auth/rbac.ts';
import { Gzip } from '../schema/listener/gateway-options.ts';
import { Cors } from '../schema/route/cors.ts';
import { Dlp } from '../schema/route/dlp.ts';
import { BufferPerRoute, Csrf } from '../schema/route/small-options.ts';
import { TransformationStage } from '../schema/route/transformations.ts';
import { DocumentReport } from '../validate/document-report.ts';
import type { Check } from '../validate/check.ts';
import { checkCors } from '../validate/route/check-cors.ts';
import { checkCsrf } from '../validate/route/check-csrf.ts';
import { checkDlp } from '../validate/route/check-dlp.ts';
import { checkStage } from '../validate/transformation/check-transformations.ts';
import { normalise } from '../validate/types/normalise.ts';

/** The blocks of resources that middlewares have as options. */
const BLOCKS = {
  BufferPerRoute,
  Cors,
  Csrf,
  Dlp,
  Gzip,
  JwtProviders,
  Rbac,
  TransformationStage,
} as const satisfies Record<string, TSchema>;

/** What the schemas of the blocks cannot express; the same checks as for resources. */
const CHECKS: { readonly [B in OptionBlock]?: Check<never> } = {
  Cors: checkCors,
  Csrf: checkCsrf,
  Dlp: checkDlp,
  TransformationStage: checkStage,
};

const ORIGIN = { file: 'options', line: 1, column: 1 };

/** The block of resources that a middleware has as its options. */
export type OptionBlock = keyof typeof BLOCKS;

/** The options of a middleware as its concern reads them, or what is wrong with them. */
export interface CheckedOptions {
  readonly options: object;
  readonly problem?: string;
}

/**
 * Checks the options of a middleware by the schema of their block and by the semantic checks of resources. The options returned are a copy in the form that resources are
 * normalized to: a block may be written with names in snake case, which a concern does not know.
 */
export function checkedOptions(written: object, block: OptionBlock): CheckedOptions {
  let content: unknown;
  try {
    // Fields that are undefined are absent.
    content = JSON.parse(JSON.stringify(written, withNonFinite));
  } catch {
    return { options: written, problem: 'options must be plain data, as in JSON' };
  }
  const report = new DocumentReport({ unit: '', value: content, origin: ORIGIN, locate: () => ORIGIN, issues: [] });
  const { spec } = normalise(BLOCKS[block], { written: content, at: [] }, report);
  const found = report.issues.find(isError) ?? CHECKS[block]?.(spec as never, []).find(isError);
  if (!found) return { options: spec as object };
  const { path, message, hint } = found;
  const problem = [path.length > 0 && `${formatPath(path)}: `, message, hint && ` (${hint})`].filter(Boolean).join('');
  return { options: written, problem };
}

/** JSON has no `NaN`, which would be absent then: as text it is a value of the wrong type. */
function withNonFinite(_key: string, value: unknown): unknown {
  return typeof value === 'number' && !Number.isFinite(value) ? String(value) : value;
}

function isError({ severity }: Pick<FieldProblem, 'severity'>): boolean {
  return severity !== 'warning';
}
