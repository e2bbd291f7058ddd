import type { SecretSpec } from '../../schema/kind/secret.ts';
import type { DocumentReport } from '../document-report.ts';

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Returns a stored secret: type and base64 data, with `stringData` merged in. Messages never contain a value. */
export function foldSecret({ type, data = {}, stringData = {} }: SecretSpec, report: DocumentReport): SecretSpec {
  const folded: Record<string, string> = {};
  for (const [key, value] of Object.entries(data)) {
    const compact = value.replace(/\s+/g, '');
    folded[key] = compact;
    if (BASE64.test(compact)) continue;
    const hint = 'write plain text under stringData';
    report.add({ code: 'BAD_BASE64', path: ['data', key], message: `${key} is not base64`, hint, on: 'value' });
  }
  for (const [key, value] of Object.entries(stringData)) folded[key] = Buffer.from(value, 'utf8').toString('base64');
  return Object.freeze({ type: type ?? 'Opaque', data: Object.freeze(folded) });
}
