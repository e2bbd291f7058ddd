import { expect } from 'chai';
import { PathIndex } from '../../src/transcode/path-index.ts';
import { parsePathTemplate } from '../../src/transcode/path-template.ts';

/** Adds rules like `GET /v1/{id}`. */
function indexOf(...rules: readonly string[]): PathIndex<string> {
  const index = new PathIndex<string>();
  for (const rule of rules) index.add(...(rule.split(' ') as [string, string]), rule);
  return index;
}

/** Returns the rule that matches, with its fields. */
function found(index: PathIndex<string>, request: string): string {
  const match = index.find(...(request.split(' ') as [string, string]));
  return match ? [match.value, ...match.bindings.map(({ field, text }) => `${field.join('.')}=${text}`)].join(' ') : '';
}

describe('path templates', () => {
  const invalid: Readonly<Record<string, string>> = {
    v1: 'it must start with a slash',
    '/v1/': 'a segment is empty',
    '//v1': 'a segment is empty',
    '/v1/{id': "the variable 'id' is not closed",
    '/v1/{}': "'' is not a field path",
    '/v1/{a-b}': "'a-b' is not a field path",
    '/v1/{a.}': "'a.' is not a field path",
    '/v1/{a={b}}': 'variables must not be nested',
    '/v1/{a=}': 'a segment is empty',
    '/v1/{a=*/}': 'a segment is empty',
    '/v1/a*': "unexpected segment 'a*'",
    '/v1/***': "unexpected segment '***'",
    '/v1/{a}b': "unexpected 'b'",
    '/v1/b{a}': "unexpected '{'",
    '/v1/**/*': 'only literals may follow **',
    '/v1/**/{a}': 'only literals may follow **',
    '/v1/**/**': 'only literals may follow **',
    '/v1/{a}/{a}': 'a field is bound twice',
    '/v1/x:': 'the verb is invalid',
    '/v1/x:y/z': 'the verb is invalid',
    '/v1/x:y:z': 'the verb is invalid',
    '': 'it must start with a slash',
  };
  for (const [text, reason] of Object.entries(invalid)) {
    it(`rejects ${text || 'an empty one'}`, () => {
      expect(() => parsePathTemplate(text)).to.throw(`invalid path '${text}': ${reason}`);
    });
  }

  it('have literals, segments, variables and a verb', () => {
    expect(parsePathTemplate('/v1/{name=shelves/*}/books/{book.id}/**:read')).to.deep.equal({
      segments: ['v1', 'shelves', '*', 'books', '*', '**'],
      variables: [
        { field: ['name'], start: 1, end: 3, isMulti: true },
        { field: ['book', 'id'], start: 4, end: 5, isMulti: false },
      ],
      verb: 'read',
    });
    expect(parsePathTemplate('/').segments).to.deep.equal([]);
  });
});

describe('the index of paths', () => {
  it('prefers literals to *, and * to **', () => {
    const index = indexOf('GET /a/b/c', 'GET /a/*/c', 'GET /a/**', 'GET /{rest=**}', 'GET /a/b/{x}');
    expect(found(index, 'GET /a/b/c')).to.equal('GET /a/b/c');
    expect(found(index, 'GET /a/x/c')).to.equal('GET /a/*/c');
    expect(found(index, 'GET /a/b/d')).to.equal('GET /a/b/{x} x=d');
    expect(found(index, 'GET /a/x/d')).to.equal('GET /a/**');
    expect(found(index, 'GET /a')).to.equal('GET /a/**');
    expect(found(index, 'GET /b/c')).to.equal('GET /{rest=**} rest=b/c');
    expect(found(index, 'GET /')).to.equal('GET /{rest=**} rest=');
  });

  it('matches the method, and * for each', () => {
    const index = indexOf('GET /a', '* /b', 'POST /b');
    expect(found(index, 'POST /a')).to.equal('');
    expect(found(index, 'DELETE /b')).to.equal('* /b');
    expect(found(index, 'POST /b')).to.equal('POST /b');
  });

  it('goes back if the more specific path has another method', () => {
    const index = indexOf('POST /a/b', 'GET /a/{x}', 'PUT /**');
    expect(found(index, 'GET /a/b')).to.equal('GET /a/{x} x=b');
    expect(found(index, 'PUT /a/b')).to.equal('PUT /**');
  });

  it('matches literals after **', () => {
    const index = indexOf('GET /a/{x=**}/end', 'GET /a/{x=**}', 'GET /a/{x=**}/very/end');
    expect(found(index, 'GET /a/b/c/end')).to.equal('GET /a/{x=**}/end x=b/c');
    expect(found(index, 'GET /a/end')).to.equal('GET /a/{x=**}/end x=');
    expect(found(index, 'GET /a/b/very/end')).to.equal('GET /a/{x=**}/very/end x=b');
    expect(found(index, 'GET /a/b')).to.equal('GET /a/{x=**} x=b');
  });

  it('binds literals of a variable, and fields after **', () => {
    const index = indexOf('GET /{name=shelves/*/books/**}:read', 'GET /{a}/{b=**}/x');
    expect(found(index, 'GET /shelves/1/books/2/3:read')).to.equal(
      'GET /{name=shelves/*/books/**}:read name=shelves/1/books/2/3',
    );
    expect(found(index, 'GET /1/2/3/x')).to.equal('GET /{a}/{b=**}/x a=1 b=2/3');
  });

  it('reads a verb only if a rule has it', () => {
    const index = indexOf('POST /{id}:archive', 'POST /{id}');
    expect(found(index, 'POST /a:archive')).to.equal('POST /{id}:archive id=a');
    expect(found(index, 'POST /a:b:archive')).to.equal('POST /{id}:archive id=a:b');
    expect(found(index, 'POST /a:other')).to.equal('POST /{id} id=a:other');
    expect(found(index, 'POST /a:archive/')).to.equal('POST /{id} id=a:archive');
  });

  it('decodes all of one segment, but no reserved characters of several', () => {
    const index = indexOf('GET /one/{x}', 'GET /rest/{x=**}', 'GET /two/{x=*/*}');
    expect(found(index, 'GET /one/a%2Fb%20c%C3%A9%25')).to.equal('GET /one/{x} x=a/b cé%');
    expect(found(index, 'GET /rest/a%2Fb%20c/%C3%A9%3f%25')).to.equal('GET /rest/{x=**} x=a%2Fb c/é%3f%');
    expect(found(index, 'GET /two/a%2F/%40')).to.equal('GET /two/{x=*/*} x=a%2F/%40');
    expect(() => index.find('GET', '/one/%C3')).to.throw(URIError);
  });

  it('ignores slashes at the end, and binds no empty segment', () => {
    const index = indexOf('GET /a/{x}', 'GET /a');
    expect(found(index, 'GET /a/b//')).to.equal('GET /a/{x} x=b');
    expect(found(index, 'GET /a/')).to.equal('GET /a');
    expect(found(index, 'GET /a//b')).to.equal('');
  });

  it('rejects two rules of one path', () => {
    expect(() => indexOf('GET /a/{x}', 'GET /a/{y}')).to.throw('GET /a/{y} is bound twice');
    expect(() => indexOf('GET /a/{x=**}', 'GET /a/**')).to.throw('GET /a/** is bound twice');
  });

  it('visits each node at most once', () => {
    // Each level has two ways on; a path of 25 levels has 2^25.
    const index = indexOf(
      ...Array.from({ length: 25 }, (_, i) => `POST ${'/a'.repeat(i)}/{x${i}}${'/a'.repeat(24 - i)}`),
    );
    expect(found(index, `GET ${'/a'.repeat(25)}`)).to.equal('');
    expect(found(index, `GET ${'/a'.repeat(4000)}`)).to.equal('');
  });
});
