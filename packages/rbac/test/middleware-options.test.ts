import { expect } from 'chai';
import { jwt, rbac } from '../src/index.ts';

/** Options of programs without a type check. */
const create = (middleware: typeof jwt | typeof rbac, options: object) => (): unknown => middleware(options as never);

const KEY = { kty: 'oct', k: 'AAAA' };

describe('options of rbac and jwt', () => {
  const wrong: readonly (readonly [string, () => unknown, RegExp])[] = [
    [
      'a misspelt field of a policy, which would allow everybody',
      create(rbac, { policies: { admins: { principalz: [{}] } } }),
      /^rbac: policies\.admins\.principalz: .*principals/,
    ],
    ['a misspelt block', create(rbac, { policy: {} }), /^rbac: policy: .*policies/],
    [
      'a principal with an unknown field',
      create(rbac, { policies: { a: { principals: [{ jwt: { claims: { role: 'a' } } }] } } }),
      /^rbac: policies\.a\.principals\[0\]\.jwt: .*jwtPrincipal/,
    ],
    [
      'a wrong type',
      create(rbac, { policies: { a: { permissions: { methods: 'GET' } } } }),
      /^rbac: policies\.a\.permissions\.methods: /,
    ],
    [
      'a misspelt field of a provider, which would not be checked',
      create(jwt, { providers: { main: { isuer: 'https://id.example.com', jwks: KEY } } }),
      /^jwt: providers\.main\.isuer: .*issuer/,
    ],
    [
      'misspelt keys of a provider',
      create(jwt, { providers: { main: { jwksz: KEY } } }),
      /^jwt: providers\.main\.jwksz: .*jwks/,
    ],
  ];
  for (const [name, call, message] of wrong)
    it(`reject ${name}`, () => {
      expect(call).to.throw(message).with.property('code', 'ERR_CORE_MIDDLEWARE');
    });

  it('may have fields that are undefined', () => {
    expect(rbac({ policies: {}, disable: undefined } as never)).to.be.a('function');
  });
});
