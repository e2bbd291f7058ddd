import { execFile } from 'node:child_process';
import { expect } from 'chai';
import { skipWithoutGoProgram } from '../../../../../test/parts/go-program.ts';
import { http2Gateway, settings, type Http2Gateway } from './gateway.ts';

const MODULE = 'github.com/summerwind/h2spec/cmd/h2spec@v2.2.1+incompatible';
/** It is a request of HTTP/1.1 for a listener that accepts both versions. */
const INVALID_PREFACE = 'Sends invalid connection preface';

/** Returns the descriptions of failed cases, which the page names too. */
async function failures(program: string, port: number): Promise<string[]> {
  // The exit status is not 0 if a case fails.
  const output = await new Promise<string>((resolve) =>
    execFile(program, ['-h', '127.0.0.1', '-p', String(port), '-o', '5'], { maxBuffer: 10_000_000 }, (_error, out) =>
      resolve(out),
    ),
  );
  expect(output).to.match(/\d+ tests, \d+ passed/);
  const [, after = ''] = output.split('Failures:');
  return [...after.matchAll(/× \d+: (.*)/g)].map(([, description]) => description!);
}

describe('h2spec', () => {
  let program: string;
  let gateway: Http2Gateway;
  before(async function () {
    program = await skipWithoutGoProgram(this, 'h2spec', MODULE);
    gateway = await http2Gateway({
      respond: (req, res) => void req.resume().on('end', () => res.end('a'.repeat(1000))),
    });
  });
  after(() => gateway?.close());

  it('passes, except for the case that docs/http2.md explains', async () => {
    const failed = await failures(program, gateway.port);
    expect(failed.filter((each) => each !== INVALID_PREFACE)).to.deep.equal([]);
  });
});

describe('h2spec, if the listener accepts only HTTP/2', () => {
  it('passes', async function () {
    const program = await skipWithoutGoProgram(this, 'h2spec', MODULE);
    const gateway = await http2Gateway({ listener: settings({ codecType: 'HTTP2' }) });
    expect(await failures(program, gateway.port)).to.deep.equal([]);
    await gateway.close();
  });
});
