import { createContext, createLoggers } from '@edge-gateway/core';
import { expect } from 'chai';
import { withUsableParser } from '../../../src/listen/http1/choose-parser.ts';
import { exchange, serve } from '../serving.ts';

describe('the parser of HTTP/1.1', () => {
  const lines: string[] = [];
  const log = createLoggers({ level: 'warn', destination: { write: (line: string) => void lines.push(line) } });
  beforeEach(() => lines.splice(0));
  const choose = (limits: Parameters<typeof withUsableParser>[0], missing: readonly string[]) =>
    withUsableParser(limits, log.get('conn_handler'), () => missing);

  it('stays the plain one if nothing is missing', () => {
    expect(choose({}, []).http1Parser ?? 'plain').to.equal('plain');
    expect(choose({ http1Parser: 'plain', maxHeaders: 3 }, [])).to.deep.equal({ http1Parser: 'plain', maxHeaders: 3 });
    expect(lines).to.deep.equal([]);
  });

  it('is that of node:http if an internal is missing, with a warning that names it', () => {
    for (const limits of [{ maxHeaders: 3 }, { maxHeaders: 3, http1Parser: 'plain' as const }])
      expect(choose(limits, ['kNeedDrain of ServerResponse'])).to.deep.equal({ maxHeaders: 3, http1Parser: 'node' });
    expect(lines).to.have.length(2);
    expect(JSON.parse(lines[0]!)).to.include({
      level: 40,
      msg: 'plain HTTP/1.1 parser does not support this version of Node.js, using node:http',
      node: process.version,
    });
    expect(lines[0]).to.contain('"missing":["kNeedDrain of ServerResponse"]');
  });

  it('is that of node:http without a warning if it was chosen', () => {
    expect(choose({ http1Parser: 'node' }, ['kNeedDrain'])).to.deep.equal({ http1Parser: 'node' });
    expect(lines).to.deep.equal([]);
  });

  it('is the plain one by default', async () => {
    const parsers: string[] = [];
    const serving = await serve(
      (req, res) => {
        parsers.push(req.constructor.name);
        res.end('ok');
      },
      { context: createContext({ log }) },
    );
    await exchange(serving.port, 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    await serving.close();
    expect(parsers).to.deep.equal(['PlainRequest']);
    expect(lines).to.deep.equal([]);
  });
});
