import { expect } from 'chai';
import { formatAddress, readServerAddresses } from '../../src/index.ts';

describe('addresses of control planes', () => {
  it('are read with commas between them', () => {
    const text = 'cp-1.example:9977, 10.0.0.1:1,[::1]:65535,my_host:80';
    expect(readServerAddresses(text).map(formatAddress).join()).to.equal(text.replaceAll(' ', ''));
  });

  for (const text of [
    '',
    'a',
    'a:',
    ':1',
    'a:0',
    'a:65536',
    'a:x',
    '::1:9977',
    '[a]:1',
    '[::1]',
    'a:1,',
    'a b:1',
    'a/b:1',
    'http://a:1',
    '-a:1',
  ]) {
    it(`reject "${text}"`, () => {
      expect(() => readServerAddresses(text))
        .to.throw('must be host:port')
        .with.property('code', 'ERR_XDS_ADDRESS');
    });
  }

  it('reject one that is given twice', () => {
    expect(() => readServerAddresses('a:1,b:1,a:1')).to.throw('a:1 is given twice');
  });
});
