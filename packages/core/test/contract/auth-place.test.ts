import { expect } from 'chai';
import { authPlaceOf } from '../../src/contract/auth-place.ts';

const SERVER = { extauthzServerRef: { name: 'auth', namespace: 'inner' } };
const CONFIG = { configRef: { name: 'guard', namespace: 'gw-system' } };

describe('authPlaceOf', () => {
  it('evaluates an AuthConfig in the gateway, or by the server of the settings', () => {
    expect(authPlaceOf(CONFIG, {})).to.deep.equal({ type: 'embedded', server: undefined });
    const extauth = { statusOnError: 500 };
    expect(authPlaceOf(CONFIG, { extauth })).to.deep.equal({ type: 'embedded', server: extauth });
    const upstream = { name: 'auth', namespace: 'inner' };
    expect(authPlaceOf(CONFIG, { extauth: SERVER })).to.deep.equal({
      type: 'server',
      name: '',
      server: SERVER,
      upstream,
    });
  });

  it('never evaluates an AuthConfig by a named server', () => {
    expect(authPlaceOf(CONFIG, { namedExtauth: { '': SERVER, guard: SERVER } }).type).to.equal('embedded');
  });

  it('asks the server that customAuth names, or that of the settings', () => {
    const own = { extauthzServerRef: { name: 'own' } };
    const servers = { extauth: SERVER, namedExtauth: { own } };
    expect(authPlaceOf({ customAuth: { name: 'own' } }, servers)).to.deep.include({
      name: 'own',
      upstream: { name: 'own', namespace: 'gw-system' },
    });
    for (const customAuth of [{}, { name: '' }]) {
      expect(authPlaceOf({ customAuth }, servers)).to.deep.include({ name: '', server: SERVER });
    }
  });

  for (const [title, block, servers, reason] of [
    ['an unknown name', { customAuth: { name: 'other' } }, { extauth: SERVER }, /no auth server 'other'/],
    ['the name of a property', { customAuth: { name: 'constructor' } }, { namedExtauth: {} }, /no auth server/],
    ['no server', { customAuth: {} }, { namedExtauth: { own: SERVER } }, /extauth of the Settings or the listener/],
    [
      'a named server without an upstream',
      { customAuth: { name: 'a' } },
      { namedExtauth: { a: {} } },
      /namedExtauth\.a/,
    ],
    ['an upstream without a name', { customAuth: {} }, { extauth: { extauthzServerRef: {} } }, /extauthzServerRef/],
    ['an empty block', {}, { extauth: SERVER }, /neither configRef nor customAuth/],
  ] as const) {
    it(`is missing for ${title}`, () => {
      const place = authPlaceOf(block, servers);
      expect(place).to.have.property('type', 'missing');
      expect(place).to.have.property('reason').that.matches(reason);
    });
  }

  it('is off if disabled, whatever else is set', () => {
    expect(authPlaceOf({ ...CONFIG, disable: true }, { extauth: SERVER })).to.deep.equal({ type: 'off' });
  });
});
