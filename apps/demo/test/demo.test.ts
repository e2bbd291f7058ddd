import { expect } from 'chai';
import { portInUse } from '../src/demo.ts';

describe('portInUse', () => {
  it('names the service of the port, and what to do', () => {
    const text = portInUse(18_083);
    expect(text).to.match(/^port 18083 \(identity provider\) is in use by another program\.\n/);
    expect(text).to.contain('lsof -i :18083').and.contain('npm start -- --config DIR');
  });

  it('names no service for another port', () => {
    expect(portInUse(1)).to.match(/^port 1 is in use/);
  });
});
