import { expect } from 'chai';
import { readableLine } from '../../src/observe/readable-line.ts';

const line = (fields: object): string =>
  JSON.stringify({ level: 30, time: 0, logger: 'config', msg: 'hello', ...fields });
const read = (fields: object): string => readableLine(line(fields));

describe('a log line on a terminal', () => {
  it('shows time, level, logger, message and fields', () => {
    expect(read({ revision: 2, file: 'a b.yaml', ok: true })).to.match(
      /^\d\d:\d\d:\d\d INFO {2}config: hello revision=2 file="a b.yaml" ok=true\n$/,
    );
    expect(read({ level: 50, logger: undefined })).to.match(/ ERROR hello\n$/);
  });

  it('shows lists with commas, listeners as protocol and port, other objects in parentheses', () => {
    const http = { name: 'listener-::-8080', address: '::', port: 8080, protocol: 'http' };
    const listeners = [http, { ...http, port: 8443, protocol: 'https' }];
    expect(read({ listeners })).to.match(/ listeners=http:8080,https:8443\n$/);
    expect(read({ listeners: [], names: ['a', 'b, c'] })).to.match(/ listeners=none names=a,"b, c"\n$/);
    const unserved = [{ name: 'listener-::-8443', reason: 'no certificate', at: null }];
    expect(read({ unserved: [{ name: 'a', reason: 'not b(c)' }, 'd)'] })).to.match(
      / unserved=\(name=a reason="not b\(c\)"\),"d\)"\n$/,
    );
    expect(read({ unserved })).to.match(/ unserved=\(name=listener-::-8443 reason="no certificate" at=null\)\n$/);
  });

  it('escapes control characters, so that text cannot move the cursor', () => {
    const text = read({ msg: 'a\u001b[2Jb', name: '\u001b]0;x\u0007', deep: { x: '\u009b2J' } });
    // oxlint-disable-next-line no-control-regex
    expect(text).not.to.match(/[\u0000-\u0009\u000b-\u001f\u0080-\u009f]/);
    expect(text).to.include('a\\u001b[2Jb');
  });

  it('shows the stack of an error below the line', () => {
    const err = { type: 'Error', message: 'broken', stack: 'Error: broken\n    at a.ts:1:1' };
    expect(read({ err })).to.match(/err=\n {4}Error: broken\n {8}at a.ts:1:1\n$/);
  });

  it('returns another line unchanged', () => {
    for (const other of ['{"level":30,"time":0,"msg":"cut…', 'null', '{"msg":"no level"}', '']) {
      expect(readableLine(`${other}\n`)).to.equal(`${other}\n`);
    }
    expect(readableLine('{"a\u001b')).to.equal('{"a\\u001b\n');
  });

  it('uses colors if the terminal supports them', () => {
    expect(readableLine(line({}), { colors: true })).to.include('\u001b[32mINFO');
  });
});
