import { expect } from 'chai';
import { claimAt, claimHeaders, claimMetadata, unsendableClaim } from '../../../src/security/jwt/claims.ts';
import { parseStrictObject } from '../../../src/syntax/strict-json.ts';

describe('a claim', () => {
  it('is found by its name or by a path, and by its name first', () => {
    const claims = { a: { b: 1 }, 'a.b': 2, c: { d: { e: 3 } } };
    expect(claimAt(claims, 'a.b', '.')).to.equal(2);
    expect(claimAt(claims, 'c.d.e', '.')).to.equal(3);
    expect(claimAt(claims, 'c.d.e', '')).to.equal(undefined);
  });

  it('is never a member that every object has', () => {
    for (const name of ['constructor', '__proto__', 'toString', 'a.constructor', 'a.length', 'list.length.x'])
      expect(claimAt({ a: 'text', list: [1] }, name, '.'), name).to.equal(undefined);
  });
});

describe('headers of claims', () => {
  it('are found by paths, and leave out what is missing or cannot stand in a header', () => {
    const claims = { realm: { team: 'größe' }, roles: ['a'], n: 1, yes: true, none: null, bad: 'a\r\nb: c' };
    const rules = ['realm.team', 'roles', 'n', 'yes', 'none', 'bad', 'realm.x', 'constructor'];
    const headers = claimHeaders(
      claims,
      rules.map((claim, i) => ({ claim, header: `X-${i}`, append: i === 1 })),
    );
    expect(headers).to.deep.equal([
      { op: 'set', name: 'x-0', value: Buffer.from('größe').toString('latin1') },
      { op: 'append', name: 'x-1', value: Buffer.from('["a"]').toString('base64') },
      { op: 'set', name: 'x-2', value: '1' },
      { op: 'set', name: 'x-3', value: 'true' },
    ]);
    const unsendable = unsendableClaim(claims, [
      { claim: 'none', header: 'x-none' },
      { claim: 'bad', header: 'x-bad' },
    ]);
    expect(unsendable).to.equal('bad');
  });

  it('keep all digits of numbers, alone and in lists', () => {
    const claims = parseStrictObject('{"id": 9007199254740993, "wide": 1e22, "ids": [9007199254740993], "part": 0.5}')!;
    const headers = claimHeaders(
      claims,
      ['id', 'wide', 'ids', 'part', 'id.text'].map((claim) => ({ claim, header: claim })),
    );
    expect(headers.map((each) => 'value' in each && each.value)).to.deep.equal([
      '9007199254740993',
      '1e22',
      Buffer.from('[9007199254740993]').toString('base64'),
      '0.5',
    ]);
  });

  it('have metadata beside them, by paths too', () => {
    const claims = { a: { b: [1] }, c: null };
    expect(claimMetadata(claims, { x: 'a.b', y: 'c', z: 'constructor' })).to.deep.equal({ x: [1], y: null });
  });
});
