import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
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

  it('reject NaN', () => {
    const provider = { issuer: 'https://id.example.com', jwks: KEY, clockSkewSeconds: Number.NaN };
    expect(create(jwt, { providers: { main: provider } }))
      .to.throw('jwt: providers.main.clockSkewSeconds: must be plain data, got NaN')
      .with.property('code', 'ERR_CORE_MIDDLEWARE');
  });

  for (const [name, role] of [
    ['undefined', undefined],
    ['null', null],
    ['a function', () => 'admin'],
    ['a symbol', Symbol('admin')],
    ['NaN', Number.NaN],
    ['a Date', new Date()],
  ] as const)
    it(`reject a claim that is ${name}, without which everybody would match`, () => {
      const claims = { role };
      expect(create(rbac, { policies: { admins: { principals: [{ jwtPrincipal: { claims } }] } } }))
        .to.throw(/^rbac: policies\.admins\.principals\[0\]\.jwtPrincipal\.claims\.role: must be /)
        .with.property('code', 'ERR_CORE_MIDDLEWARE');
    });

  it('reject what is not plain data', () => {
    const cyclic: Record<string, unknown> = {};
    cyclic['policies'] = cyclic;
    const options: readonly (readonly [object, string])[] = [
      [cyclic, 'policies: must be plain data, got a cycle'],
      [{ policies: { a: { permissions: { methods: [1n] } } } }, 'methods[0]: must be plain data, got a bigint'],
      [{ policies: { a: { permissions: () => ({}) } } }, 'permissions: must be plain data, got a function'],
      [{ policies: { a: { permissions: null } } }, 'permissions: must be plain data, got null'],
      [{ policies: new Map() }, 'policies: must be plain data, got a Map'],
    ];
    for (const [each, message] of options)
      expect(create(rbac, each)).to.throw(message).with.property('code', 'ERR_CORE_MIDDLEWARE');
  });

  it('have the same effect with names in snake case', async () => {
    for (const permissions of [{ pathPrefix: '/open' }, { path_prefix: '/open' }]) {
      const guard = rbac({ policies: { open: { principals: [], permissions } } } as never);
      const server = createServer((req, res) => guard(req, res, () => res.end()));
      await once(server.listen(0, '127.0.0.1'), 'listening');
      try {
        const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
        const statuses = [(await fetch(`${url}/open/a`)).status, (await fetch(`${url}/closed`)).status];
        expect(statuses).to.deep.equal([200, 403]);
      } finally {
        server.closeAllConnections();
        server.close();
      }
    }
  });

  it('may have fields that are undefined', () => {
    expect(rbac({ policies: {}, disable: undefined } as never)).to.be.a('function');
  });
});
