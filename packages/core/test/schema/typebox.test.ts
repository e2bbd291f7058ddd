import { expect } from 'chai';
import type { Static as TypeBoxStatic, TUnsafe } from 'typebox';
import { Check } from 'typebox/value';
import type { Static } from '../../src/schema/field.ts';
import { Gzip } from '../../src/schema/listener/gateway-options.ts';
import { Cors } from '../../src/schema/route/cors.ts';
import { RateLimit } from '../../src/schema/route/rate-limit.ts';
import { firstProblem } from '../../src/validate/types/first-problem.ts';

/** Compiles only if both libraries see the same type in a schema. */
const sameType = <S>(_schema: TUnsafe<S>, value: TypeBoxStatic<TUnsafe<S>>): S => value;

describe('the schemas as TypeBox reads them', () => {
  const values = [
    [RateLimit, { requestsPerUnit: 5, unit: 'HOUR' }, true],
    [RateLimit, { requestsPerUnit: '5', unit: 'HOUR' }, false],
    [RateLimit, { requestsPerUnit: -1, unit: 'HOUR' }, false],
    [RateLimit, { requestsPerUnit: 5, unit: 'FORTNIGHT' }, false],
    [RateLimit, { requestPerUnit: 5 }, false],
    [Cors, { allowOrigin: ['https://a.example'], allowCredentials: true }, true],
    [Cors, { allowOrigin: 'https://a.example' }, false],
    [Cors, { allowOrigin: [5] }, false],
    [Gzip, { encodings: ['gzip', 'br'], contentLength: 100 }, true],
    [Gzip, { encodings: ['deflate'] }, false],
    [Gzip, { contentLength: 1.5 }, false],
  ] as const;
  for (const [schema, value, isValid] of values)
    it(`${isValid ? 'accept' : 'reject'} ${JSON.stringify(value)}, as the gateway does`, () => {
      expect(Check(schema as TUnsafe<unknown>, value)).to.equal(isValid);
      expect(firstProblem(schema, value) === undefined).to.equal(isValid);
    });

  it('have the same static types', () => {
    const limit: Static<typeof RateLimit> = sameType(RateLimit as TUnsafe<RateLimit>, { requestsPerUnit: 1 });
    expect(limit.requestsPerUnit).to.equal(1);
  });
});
