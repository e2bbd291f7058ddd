import type { IncomingMessage } from 'node:http';
import { expect } from 'chai';
import { denialError } from '../../src/middleware/denial.ts';
import { factsOf } from '../../src/contract/facts.ts';

describe('the error of a denial', () => {
  it('has the headers of the denial; cookies and repeated headers are recorded on the response', () => {
    const facts = factsOf({ headers: {} } as IncomingMessage);
    const headers = [
      'Retry-After',
      '1',
      'Set-Cookie',
      'a=1',
      'www-authenticate',
      'Basic',
      'WWW-Authenticate',
      'Bearer',
    ];
    const error = denialError({ allowed: false, status: 401, headers, reason: 'no session' }, facts, 'ERR_X_DENIED');
    expect(error.headers).to.deep.equal({ 'retry-after': '1' });
    expect(facts.responseChanges).to.deep.equal([
      { op: 'append', name: 'set-cookie', value: 'a=1' },
      { op: 'append', name: 'www-authenticate', value: 'Basic' },
      { op: 'append', name: 'www-authenticate', value: 'Bearer' },
    ]);
  });

  it('keeps the reason out of its message and body', () => {
    const facts = factsOf({ headers: {} } as IncomingMessage);
    const error = denialError({ allowed: false, status: 403, reason: 'secret' }, facts, 'ERR_X_DENIED');
    expect([error.message, error.code, error.reply?.body]).to.deep.equal(['Forbidden', 'ERR_X_DENIED', '']);
    expect((error.cause as Error).message).to.equal('secret');
  });
});
