import { expect } from 'chai';
import { createLoggers, logRejection } from '../../src/index.ts';

function recorder() {
  const lines: Record<string, unknown>[] = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) };
  return { lines, loggers: createLoggers({ destination }) };
}

describe('lines about rejected requests', () => {
  it('are limited to 20 per second and logger; one more has the number of the others', async () => {
    const { lines, loggers } = recorder();
    const log = loggers.get('jwt');
    for (let i = 0; i < 50; i++) logRejection(log, { requestId: `r-${i}` }, 'token rejected', 1_000);
    logRejection(loggers.get('rbac'), { requestId: 'other' }, 'access denied', 1_000);
    expect(lines.map(({ requestId }) => requestId)).to.deep.equal([
      ...Array.from({ length: 20 }, (_, i) => `r-${i}`),
      'other',
    ]);
    logRejection(log, { requestId: 'later' }, 'token rejected', 2_000);
    expect(lines.at(-1)).to.include({ requestId: 'later', logger: 'jwt', msg: 'token rejected' });
    const until = Date.now() + 30_000;
    while (!lines.some(({ omitted }) => omitted !== undefined) && Date.now() < until)
      await new Promise((resolve) => setTimeout(resolve, 10));
    expect(lines.at(-1)).to.include({ omitted: 30, logger: 'jwt', msg: 'rejected requests omitted from log' });
  });

  it('are all written if they are few', () => {
    const { lines, loggers } = recorder();
    for (let i = 0; i < 60; i++) logRejection(loggers.get('jwt'), { requestId: `r-${i}` }, 'token rejected', i * 100);
    expect(lines).to.have.length(60);
  });
});
