import { expect } from 'chai';
import { connectionSettings } from '../../src/syntax/socket-options.ts';

describe('settings of connections', () => {
  it('come from the socket options that have them; the last one counts', () => {
    const options = [
      { level: 1, name: 9, intValue: 1 },
      { level: 6, name: 1, intValue: 0 },
      { level: 6, name: 4, intValue: 1 },
      { level: 6, name: 6, intValue: 5 },
      { level: 6, name: 6, intValue: 3 },
      { level: 41, name: 67, intValue: 8 },
    ];
    expect(connectionSettings(options)).to.deep.equal({
      keepAlive: true,
      noDelay: false,
      keepAliveIdleSeconds: 1,
      keepAliveProbes: 3,
      typeOfService: 8,
    });
  });

  it('ignore options with a problem, and those that set nothing', () => {
    const options = [
      { level: 1, name: 2, intValue: 1 },
      { level: 6, name: 5, intValue: 0 },
      { level: 6, name: 23 },
    ];
    expect(connectionSettings(options)).to.deep.equal({});
  });
});
