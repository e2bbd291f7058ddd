import { expect } from 'chai';
import { createReport } from '../../src/redis/trouble.ts';
import { createLoggers } from '../../src/observe/logger.ts';

describe('the report of a Redis', () => {
  function failedWith(error: unknown): Record<string, unknown> {
    const lines: string[] = [];
    const log = createLoggers({ destination: { write: (line) => void lines.push(line) } });
    createReport(log.get('redis')).failed(error);
    return JSON.parse(lines[0]!) as Record<string, unknown>;
  }

  it('names the address that refuses connections, without a stack trace', () => {
    const refused = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:6379'), { code: 'ECONNREFUSED' });
    const line = failedWith(refused);
    expect(line).to.include({ msg: 'Redis is unavailable', reason: 'connect ECONNREFUSED 127.0.0.1:6379' });
    expect(JSON.stringify(line)).not.to.contain('    at ');
    expect(failedWith(new AggregateError([refused]))).to.include({ reason: 'connect ECONNREFUSED 127.0.0.1:6379' });
    expect(failedWith(Object.assign(new Error(''), { code: 'ETIMEDOUT' }))).to.include({ reason: 'ETIMEDOUT' });
  });

  it('repeats no password', () => {
    const error = new Error('cannot connect to redis://user:hunter2@127.0.0.1:6379');
    expect(JSON.stringify(failedWith(error))).not.to.contain('hunter2');
  });
});
