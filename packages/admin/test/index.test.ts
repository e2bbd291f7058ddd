import * as admin from '../src/index.ts';
import { expect } from 'chai';

describe('the package', () => {
  it('exports these names', () => {
    expect(Object.keys(admin).sort()).to.deep.equal([
      'ERROR_CODES',
      'createControlAdmin',
      'createDeveloperAdmin',
      'createProxyAdmin',
      'followTranslations',
      'readAdminToken',
    ]);
  });

  it('has a status and a message for each code', () => {
    for (const [code, { status, message }] of Object.entries(admin.ERROR_CODES)) {
      expect(code).to.match(/^ERR_ADMIN_[A-Z_]+$/);
      expect(status).to.be.within(400, 599);
      expect(message).to.match(/^[A-Z].*\.$/);
    }
  });
});
