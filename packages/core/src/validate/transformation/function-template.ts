import type { TransformationTemplate } from '../../schema/route/transformations.ts';

/** Headers that the gateway itself derives from the body; discovered functions contain them. */
const FRAMING: ReadonlySet<string> = new Set(['content-length', 'transfer-encoding']);

/**
 * Returns the template of a function without headers that frame the body.
 *
 * @example
 * functionTemplate({ headers: { ':method': { text: 'GET' }, 'content-length': { text: '0' } } }).headers; // { ':method': … }
 */
export function functionTemplate(template: TransformationTemplate): TransformationTemplate {
  const { headers = {} } = template;
  const kept = Object.entries(headers).filter(([name]) => !FRAMING.has(name.toLowerCase()));
  return kept.length === Object.keys(headers).length ? template : { ...template, headers: Object.fromEntries(kept) };
}
