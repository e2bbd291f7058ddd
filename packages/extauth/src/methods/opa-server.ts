import type { AuthMethodKind } from '@edge-gateway/core';
import type { OpaServerAuth } from '@edge-gateway/core/schema';
import { configError } from '../error-codes.ts';
import { decisionOf } from '../opa/decision.ts';
import { inputOf } from '../opa/input-document.ts';
import { askJson } from '../server/ask.ts';

const DEFAULT_ADDRESS = 'http://localhost:8181';

/** An Open Policy Agent server, asked through its Data API: `POST /v1/data/<package>/<rule>`. An undefined rule denies. */
export const opaServerMethod: AuthMethodKind<OpaServerAuth> = {
  type: 'opaServerAuth',
  create(spec, { id, context }) {
    const url = urlOf(spec, id);
    const isFast = spec.options?.fastInputConversion ?? false;
    const withReason = spec.options?.returnDecisionReason ?? false;
    return {
      async authorize(request) {
        const input = inputOf(request, { id, now: context.now(), isFast });
        const { result } = await askJson(url, {
          method: 'POST',
          headers: { 'content-type': 'application/json', accept: 'application/json' },
          body: JSON.stringify({ input }),
          signal: request.signal,
        });
        return decisionOf(result, { withReason });
      },
    };
  },
};

function urlOf({ package: name = '', ruleName = '', serverAddr }: OpaServerAuth, id: string): string {
  const address = serverAddr || DEFAULT_ADDRESS;
  const base = URL.parse(/^https?:\/\//i.test(address) ? address : `http://${address}`);
  const isPlain = base && base.username === '' && base.pathname === '/' && base.search === '' && base.hash === '';
  if (!isPlain) throw configError(`${id}: invalid serverAddr ${JSON.stringify(address)}`);
  const steps = [...name.split('.'), ...(ruleName === '' ? [] : ruleName.split('/'))];
  if (steps.some((step) => /^\.{0,2}$/.test(step))) throw configError(`${id}: invalid package or ruleName`);
  return `${base.origin}/v1/data/${steps.map(encodeURIComponent).join('/')}`;
}
