import { expect } from 'chai';
import { toByteString } from '@edge-gateway/core';
import { applyMask, compileMasks, maskValue } from '../../src/dlp/mask.ts';
import { StreamMask } from '../../src/dlp/stream-mask.ts';
import type { Dlp } from '@edge-gateway/core/schema';

type Action = NonNullable<Dlp['actions']>[number];

const masked = (text: string, ...actions: Action[]): string =>
  Buffer.from(
    actions.flatMap(compileMasks).reduce((out, mask) => applyMask(out, mask), toByteString(text)),
    'latin1',
  ).toString();

describe('maskValue', () => {
  it('masks the share of the characters from the left, and keeps dashes', () => {
    expect(maskValue('123-45-6789', { char: 'X', percent: 75 })).equal('XXX-XX-X789');
    expect(maskValue('Dog', { char: 'X', percent: 60 })).equal('XXg');
    expect(maskValue('hello', { char: 'Y', percent: 60 })).equal('YYYlo');
    expect(maskValue('abc', { char: '*', percent: 0 })).equal('abc');
    expect(maskValue('abc', { char: '*', percent: 100 })).equal('***');
  });

  it('never cuts a character of several bytes', () => {
    const out = Buffer.from(maskValue(toByteString('äöü'), { char: '*', percent: 50 }), 'latin1');
    expect(out.toString()).equal('****ü');
  });
});

describe('the known types', () => {
  const cases: readonly (readonly [NonNullable<Action['actionType']>, string, string])[] = [
    ['SSN', 'a 123-45-6789 b 123456789, 123 45 6789;', 'a XXX-XX-X789 b XXXXXXX89, XXXXXXXX789;'],
    ['SSN', '1234567890 and 0123-45-6789', '1234567890 and 0123-45-6789'],
    ['MASTERCARD', '5105105105105100 5105-1051-0510-5100', 'XXXXXXXXXXXX5100 XXXX-XXXX-XXXX-5100'],
    ['VISA', 'x4111 1111 1111 1111x', 'xXXXXXXXXXXXXXX 1111x'],
    ['AMEX', '378282246310005', 'XXXXXXXXXXX0005'],
    ['DISCOVER', '6011111111111117', 'XXXXXXXXXXXX1117'],
    ['JCB', '3530111333300000 213112345678901', 'XXXXXXXXXXXX0000 XXXXXXXXXXX8901'],
    ['DINERS_CLUB', '30569309025904', 'XXXXXXXXXXX904'],
    ['CREDIT_CARD_TRACKERS', ';4111111111111111=25121010;', 'XXXXXXXXXXXXXXXXXXXX121010;'],
    ['ALL_CREDIT_CARDS', '4111111111111111,378282246310005', 'XXXXXXXXXXXX1111,XXXXXXXXXXX0005'],
    ['ALL_CREDIT_CARDS_COMBINED', '4111111111111111,378282246310005', 'XXXXXXXXXXXX1111,XXXXXXXXXXX0005'],
    ['VISA', '41111111111111112', '41111111111111112'],
  ];
  for (const [actionType, text, expected] of cases) {
    it(`${actionType} in ${text}`, () => {
      expect(masked(text, { actionType })).equal(expected);
    });
  }

  it('mask neighbours that one character separates', () => {
    expect(masked('123-45-6789 123-45-6780', { actionType: 'SSN' })).equal('XXX-XX-X789 XXX-XX-X780');
  });
});

describe('custom masks', () => {
  it('run in order, each on the result of the one before', () => {
    const customAction = {
      name: 'pets',
      maskChar: 'Y',
      percent: { value: 60 },
      regex: ['hello'],
      regexActions: [{ regex: '"name":"([^"]*)"', subgroup: 1 }],
    };
    expect(masked('hello {"name":"Dog"}', { customAction })).equal('YYYlo {"name":"YYg"}');
  });

  it('match literal text beyond ASCII', () => {
    expect(masked('ein Müller', { customAction: { regex: ['Müller'], percent: { value: 100 } } })).equal(
      'ein *******'.replaceAll('*', 'X'),
    );
  });

  it('leave empty matches, and groups without part in the match', () => {
    expect(masked('abc', { customAction: { regex: ['x*'], regexActions: [{ regex: '(x)?b', subgroup: 1 }] } })).equal(
      'abc',
    );
  });

  it('only count in shadow mode', () => {
    const [mask] = compileMasks({ actionType: 'SSN', shadow: true });
    let found = 0;
    expect(applyMask('123456789', mask!, () => found++)).equal('123456789');
    expect(found).equal(1);
  });

  it('reject a mask that is not one ASCII character', () => {
    expect(() => compileMasks({ customAction: { maskChar: 'XX', regex: ['a'] } })).throw('invalid maskChar "XX"');
    expect(() => compileMasks({ customAction: { maskChar: 'ä', regex: ['a'] } })).throw('invalid maskChar "ä"');
  });
});

describe('StreamMask', () => {
  const masks = compileMasks({ actionType: 'SSN' });

  it('finds values at every border of two chunks', () => {
    const text = `${'.'.repeat(300)}123-45-6789${'.'.repeat(80)}`;
    for (let cut = 290; cut <= text.length; cut++) {
      let found = 0;
      const body = new StreamMask(masks, { onFound: () => found++ });
      const out = [body.push(Buffer.from(text.slice(0, cut))), body.push(Buffer.from(text.slice(cut))), body.end()];
      expect(Buffer.concat(out).toString(), String(cut)).equal(text.replace('123-45-6', 'XXX-XX-X'));
      expect(found).equal(1);
    }
  });

  it('masks long bodies in pieces of any size, and keeps little back', () => {
    const text = `${'1234 '.repeat(333)}123-45-6789 ${'é'.repeat(700)} 987654321 `.repeat(20);
    const expected = masked(text, { actionType: 'SSN' });
    expect(expected).not.equal(text);
    const bytes = Buffer.from(text);
    for (const size of [1, 7, 4096, 65_536]) {
      let found = 0;
      const body = new StreamMask(masks, { onFound: () => found++ });
      const out: Buffer[] = [];
      let kept = 0;
      for (let at = 0; at < bytes.length; at += size) {
        const part = body.push(bytes.subarray(at, at + size));
        kept += Math.min(size, bytes.length - at) - part.length;
        expect(kept).at.most(96 + 256);
        out.push(part);
      }
      out.push(body.end());
      expect(Buffer.concat(out).toString()).equal(expected);
      expect(found).equal(40);
    }
  });

  it('keeps bytes that are not text', () => {
    const bytes = Buffer.from(Array.from({ length: 20_000 }, (_, i) => (i * 7919) & 0xff));
    const never = compileMasks({ customAction: { regex: ['never'] } });
    const body = new StreamMask(never, { onFound: () => undefined });
    expect(Buffer.concat([body.push(bytes), body.end()]).equals(bytes)).equal(true);
  });

  it('writes each event of an event stream when it is complete', () => {
    const body = new StreamMask(masks, { onFound: () => undefined, events: true });
    expect(body.push(Buffer.from('data: 123-45-6789\n')).toString()).equal('');
    expect(body.push(Buffer.from('\ndata: 12')).toString()).equal('data: XXX-XX-X789\n\n');
    expect(body.end().toString()).equal('data: 12');
  });

  for (const end of ['\r\n', '\r'])
    it(`writes events whose lines end with ${JSON.stringify(end)}`, () => {
      const body = new StreamMask(masks, { onFound: () => undefined, events: true });
      const event = `data: 123-45-6789${end}${end}`;
      const out = [...event].map((char) => body.push(Buffer.from(char)).toString());
      expect(out.join('')).equal(event.replace('123-45-6', 'XXX-XX-X'));
      expect(body.push(Buffer.from('data: 12')).toString()).equal('');
    });

  it('does not wait for an event that never ends', () => {
    const body = new StreamMask(masks, { onFound: () => undefined, events: true });
    expect(body.push(Buffer.alloc(100_000, 'a')).length).equal(100_000 - 16 * 96);
  });
});
