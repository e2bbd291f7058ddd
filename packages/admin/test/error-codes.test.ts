import { ERROR_CODES } from '../src/index.ts';
import { expect } from 'chai';

describe('the error codes', () => {
  it('have a status and a message', () => {
    for (const [code, { status, message }] of Object.entries(ERROR_CODES)) {
      expect(code).to.match(/^ERR_ADMIN_[A-Z_]+$/);
      expect(status).to.be.within(400, 599);
      expect(message).to.match(/^[A-Z].*\.$/);
    }
  });
});
