import { expect } from 'chai';
import { checkSocketOption } from '../../src/validate/check-socket-option.ts';

const problems = (option: object): string[] =>
  checkSocketOption(option, ['socketOptions', 0]).map(
    ({ path, message, hint, severity = 'error' }) => `${severity} ${path.join('.')}: ${message} (${hint})`,
  );

describe('socket options of a Gateway', () => {
  it('are accepted if Node can set them', () => {
    for (const [level, name, intValue] of [
      [1, 2, 1],
      [1, 9, 0],
      [1, 9, 1],
      [6, 1, 0],
      [6, 4, 30],
      [6, 5, 5],
      [6, 6, 127],
      [0, 1, 255],
      [41, 67, 184],
    ])
      expect(problems({ level, name, intValue, state: 'STATE_LISTENING' }), `${level}/${name}`).to.deep.equal([]);
  });

  it('are a warning if Node cannot set them', () => {
    for (const option of [{ level: 6, name: 23, intValue: 5 }, { level: 1, name: 15, intValue: 1 }, { name: 9 }])
      expect(problems(option)).to.deep.equal([
        `warning socketOptions.0: the socket option ${option.level ?? 0}/${option.name} has no effect: Node cannot set it (1/2 SO_REUSEADDR, 1/9 SO_KEEPALIVE, 6/1 TCP_NODELAY, 6/4 TCP_KEEPIDLE, 6/5 TCP_KEEPINTVL, 6/6 TCP_KEEPCNT, 0/1 IP_TOS, 41/67 IPV6_TCLASS)`,
      ]);
    expect(problems({ level: 1, name: 9, bufValue: 'AQAAAA==' })).to.deep.equal([
      'warning socketOptions.0: bufValue of SO_KEEPALIVE has no effect: set intValue (0 to 1)',
    ]);
  });

  it('are rejected with an impossible value', () => {
    for (const [level, name, intValue, message] of [
      [1, 2, 0, 'invalid intValue 0 of SO_REUSEADDR (1)'],
      [1, 9, 2, 'invalid intValue 2 of SO_KEEPALIVE (0 to 1)'],
      [6, 1, -1, 'invalid intValue -1 of TCP_NODELAY (0 to 1)'],
      [6, 4, undefined, 'invalid intValue 0 of TCP_KEEPIDLE (1 to 32767)'],
      [6, 6, 128, 'invalid intValue 128 of TCP_KEEPCNT (1 to 127)'],
      [0, 1, 256, 'invalid intValue 256 of IP_TOS (0 to 255)'],
    ] as const)
      expect(problems({ level, name, intValue })).to.deep.equal([`error socketOptions.0.intValue: ${message}`]);
  });
});
