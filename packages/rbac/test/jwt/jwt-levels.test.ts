import { expect } from 'chai';
import { jwtBeforeExtAuthConcern, jwtConcern } from '../../src/index.ts';

const A = { providers: { a: {} } };
const B = { providers: { b: {} } };

describe('the effective providers of a route', () => {
  for (const [what, host, route, before, after] of [
    ['none', {}, {}, undefined, undefined],
    ['jwt of the host', { jwt: A }, {}, undefined, A],
    ['jwtStaged of the host', { jwtStaged: { beforeExtAuth: A, afterExtAuth: B } }, {}, A, B],
    ['jwt.disable of the route', { jwt: A }, { jwt: { disable: true } }, undefined, undefined],
    ['jwt.disable: false of the route', { jwt: A }, { jwt: { disable: false } }, undefined, A],
    [
      'jwt.disable of the route, which is about one stage',
      { jwtStaged: { beforeExtAuth: A, afterExtAuth: B } },
      { jwt: { disable: true } },
      A,
      undefined,
    ],
    [
      'jwtStaged.beforeExtAuth.disable of the route',
      { jwtStaged: { beforeExtAuth: A, afterExtAuth: B } },
      { jwtStaged: { beforeExtAuth: { disable: true } } },
      undefined,
      B,
    ],
    [
      'jwtStaged.afterExtAuth.disable of the route',
      { jwtStaged: { beforeExtAuth: A, afterExtAuth: B } },
      { jwtStaged: { afterExtAuth: { disable: true } } },
      A,
      undefined,
    ],
    [
      'jwtProvidersStaged.beforeExtAuth of the route beside the host',
      { jwtStaged: { afterExtAuth: B } },
      { jwtProvidersStaged: { beforeExtAuth: A } },
      A,
      B,
    ],
    [
      'jwtProvidersStaged of the route in place of the host',
      { jwtStaged: { beforeExtAuth: A, afterExtAuth: A } },
      { jwtProvidersStaged: { beforeExtAuth: B, afterExtAuth: B } },
      B,
      B,
    ],
    ['jwtProvidersStaged in place of jwt', { jwt: A }, { jwtProvidersStaged: { afterExtAuth: B } }, undefined, B],
  ] as const) {
    it(what, () => {
      const first = jwtBeforeExtAuthConcern.pick!([host, route])!;
      // Where nothing holds there is a block without providers: the client's copies of claim headers go all the same.
      expect(first.providers === undefined ? undefined : first).to.equal(before);
      expect(jwtConcern.pick!([host, route])).to.equal(after);
    });
  }
});
