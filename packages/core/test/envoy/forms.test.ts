import { expect } from 'chai';
import { formRows, unfaithfulFields, type Form, type FormContext } from '../../src/envoy/forms/form.ts';
import { HTTP_LISTENER_FORMS } from '../../src/envoy/forms/listener-forms.ts';
import { ROUTE_FORMS } from '../../src/envoy/forms/route-forms.ts';

const CONTEXT: FormContext = { services: {}, settings: { requireRbac: false } };

interface Block {
  readonly plain?: string;
  readonly left?: string;
  readonly even?: number;
  readonly inner?: { readonly a?: string; readonly b?: string };
  readonly list?: readonly { readonly a?: string; readonly b?: string }[];
}

const INNER = { a: 'yes', b: 'no' } as const;
const of = (block: object): string[] => unfaithfulFields(block as Block, FORMS, CONTEXT);

const FORMS: { readonly [K in keyof Block]-?: Form<NonNullable<Block[K]>> } = {
  plain: 'yes',
  left: 'no',
  even: { when: 'if even', holds: (value) => value % 2 === 0 },
  inner: INNER,
  list: INNER,
};

describe('what Envoy expresses of a block', () => {
  it('is found field by field, at any depth', () => {
    const block = { plain: '1', left: '1', even: 3, inner: { a: '1', b: '1' }, list: [{ a: '1' }, { b: '1' }] };
    expect(of(block)).to.deep.equal(['left', 'even', 'inner.b', 'list[1].b']);
    expect(of({ plain: '1', even: 2, inner: { a: '1' }, list: [] })).to.deep.equal([]);
  });

  it('does not contain fields that the table does not have', () => {
    expect(of({ ofTomorrow: true })).to.deep.equal(['ofTomorrow']);
    expect(of({ constructor: {} })).to.deep.equal(['constructor']);
    expect(of({ inner: 'text' })).to.deep.equal(['inner']);
  });

  it('ignores fields without a value', () => {
    expect(of({ left: undefined })).to.deep.equal([]);
  });

  it('is documented in rows', () => {
    expect(formRows(FORMS)).to.deep.equal([
      { field: 'plain', form: 'yes' },
      { field: 'left', form: 'no' },
      { field: 'even', form: { when: 'if even' } },
      { field: 'inner.a', form: 'yes' },
      { field: 'inner.b', form: 'no' },
      { field: 'list.a', form: 'yes' },
      { field: 'list.b', form: 'no' },
    ]);
  });

  const extauth = { configRef: { name: 'login', namespace: 'gw-system' } };
  const oct = JSON.stringify({ kty: 'oct', k: 'AAAA' });
  const jwt = (jwks: object, more: object = {}) => ({
    jwtProvidersStaged: { afterExtAuth: { providers: { idp: { jwks, ...more } } } },
  });
  const remote = { remote: { url: 'https://idp.example/keys', upstreamRef: { name: 'idp', namespace: 'gw-system' } } };
  const cases: readonly (readonly [what: string, options: object, found: string[], context?: Partial<FormContext>])[] =
    [
      ['data loss prevention', { dlp: { actions: [] } }, ['dlp']],
      ['a transformation', { stagedTransformations: { early: {} } }, ['stagedTransformations']],
      ['an AuthConfig without an auth server', { extauth }, ['extauth']],
      ['an AuthConfig with one', { extauth }, [], { services: { extauth: { host: 'auth', port: 8083 } } }],
      [
        'an AuthConfig with that of the Settings',
        { extauth },
        [],
        { settings: { requireRbac: false, extauth: { extauthzServerRef: { name: 'auth', namespace: 'gw-system' } } } },
      ],
      ['disabled external auth', { extauth: { disable: true } }, []],
      ['a custom auth server', { extauth: { customAuth: { name: 'other' } } }, ['extauth']],
      ['a symmetric key', jwt({ local: { key: oct } }), ['jwtProvidersStaged.afterExtAuth']],
      ['keys that cannot be read', jwt({ local: { key: '{' } }), ['jwtProvidersStaged.afterExtAuth']],
      ['remote keys of an upstream', jwt(remote), []],
      ['remote keys without one', jwt({ remote: { url: 'https://a' } }), ['jwtProvidersStaged.afterExtAuth']],
      [
        'claims that are appended',
        jwt(remote, { claimsToHeaders: [{ claim: 'a', header: 'b', append: true }] }),
        ['jwtProvidersStaged.afterExtAuth'],
      ],
      [
        'a header from a Secret',
        { headerManipulation: { requestHeadersToAdd: [{ headerSecretRef: { name: 'a' } }] } },
        ['headerManipulation.requestHeadersToAdd[0].headerSecretRef'],
      ],
    ];
  for (const [what, options, found, context] of cases)
    it(`${found.length === 0 ? 'contains' : 'does not contain'} ${what}`, () => {
      expect(unfaithfulFields(options, ROUTE_FORMS, { ...CONTEXT, ...context })).to.deep.equal(found);
    });

  it('contains path normalization only if it is on', () => {
    const of = (normalizePath: boolean) =>
      unfaithfulFields({ httpConnectionManagerSettings: { normalizePath } }, HTTP_LISTENER_FORMS, CONTEXT);
    expect(of(true)).to.deep.equal([]);
    expect(of(false)).to.deep.equal(['httpConnectionManagerSettings.normalizePath']);
  });
});
