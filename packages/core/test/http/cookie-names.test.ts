import { expect } from 'chai';
import type { IncomingMessage } from 'node:http';
import { factsOf } from '../../src/contract/facts.ts';
import { cookieNameProblem, hostPrefix } from '../../src/http/cookie-names.ts';
import { hideCookies } from '../../src/http/hide-cookies.ts';

describe('names of cookies', () => {
  const attributes = { secure: true, path: '/', domain: undefined };

  it('have __Host- only for secure cookies of one host and all its paths', () => {
    expect(hostPrefix(attributes)).to.equal('__Host-');
    for (const other of [{ secure: false }, { path: '/shop' }, { path: '' }, { domain: 'example.com' }])
      expect(hostPrefix({ ...attributes, ...other }), JSON.stringify(other)).to.equal('');
  });

  it('are reported if browsers reject them', () => {
    for (const name of ['session', '__Host-session', '__Secure-x', 'a.b-c_d'])
      expect(cookieNameProblem(name, attributes), name).to.equal(undefined);
    for (const name of ['', 'a b', 'a=b', 'a;b', 'a,b', 'ä'])
      expect(cookieNameProblem(name, attributes), name).to.be.a('string');
    expect(cookieNameProblem('__Host-x', { ...attributes, domain: 'example.com' })).to.match(/__Host-/);
    expect(cookieNameProblem('__host-x', { ...attributes, path: '/a' })).to.match(/__Host-/);
    expect(cookieNameProblem('__Secure-x', { ...attributes, secure: false })).to.match(/__Secure-/);
  });

  const after = (cookie: string | undefined, hidden: RegExp | undefined): string | undefined => {
    const facts = factsOf({ url: '/', headers: { cookie } } as IncomingMessage);
    facts.hiddenCookies = hidden && ((name) => hidden.test(name));
    hideCookies(facts);
    return facts.header('cookie');
  };

  it('are removed if hidden, and the others stay', () => {
    expect(after('a=1; sid=x; b="2;=3"; sid=y', /^sid$/)).to.equal('a=1; b="2; =3"');
    expect(after(' sid = x ;a=1', /^sid$/)).to.equal('a=1');
    expect(after('sid', /^sid$/)).to.equal(undefined);
    expect(after('a=1', /^sid$/)).to.equal('a=1');
    expect(after('a=1', undefined)).to.equal('a=1');
    expect(after(undefined, /^sid$/)).to.equal(undefined);
  });
});
