import { expect } from 'chai';
import { pathProblem } from '../../../src/validate/route/check-path.ts';

describe('pathProblem', () => {
  for (const path of ['/', '/a', '/a/b.c', "/a/-._~!$&'()*+,;=:@", '/a%20b', '/...', '/a/..b', 'no-slash', '']) {
    it(`accepts ${JSON.stringify(path)}`, () => expect(pathProblem(path)).to.equal(undefined));
  }

  const bad = ['//', '/a//b', '/a/./b', '/a/../b', '/a/..', '/a/.', '/..', '/a%2fb', '/a%2Fb', '/a#b', '/a b', '/a?b'];
  for (const path of [...bad, '/a\u0000', '/a\\b', '/%zz', '/%', '/ü', '/a\nb', '/<script>']) {
    it(`rejects ${JSON.stringify(path)}`, () => expect(pathProblem(path)).to.be.a('string'));
  }
});
