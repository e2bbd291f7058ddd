import { once } from 'node:events';
import { expect } from 'chai';
import { answer, recordedAnswers, type AnsweringServer } from '../support/answering-server.ts';
import { createDirectory, SHOP, type ResourceDirectory } from '../support/directory.ts';
import { call } from '../support/captured-io.ts';
import { start } from '../support/process.ts';

type Watch = ReturnType<typeof start>;

/** Waits until the output of a process contains a text. */
async function until(printed: { text: string }, watch: Watch, wanted: string | RegExp): Promise<void> {
  const fits = () => (typeof wanted === 'string' ? printed.text.includes(wanted) : wanted.test(printed.text));
  while (!fits()) {
    const ended = await Promise.race([once(watch.child.stdout, 'data'), once(watch.child.stderr, 'data'), watch.ended]);
    if (!Array.isArray(ended) && !fits()) throw new Error(`it ended: ${JSON.stringify(ended)}`);
  }
}

function follow(watch: Watch): { text: string } {
  const printed = { text: '' };
  for (const stream of [watch.child.stdout, watch.child.stderr])
    stream.prependListener('data', (chunk) => (printed.text += String(chunk)));
  return printed;
}

describe('watch', function () {
  this.timeout(60_000);
  let directory: ResourceDirectory;
  beforeEach(() => {
    directory = createDirectory();
    directory.write('shop.yaml', SHOP);
  });
  afterEach(() => directory.remove());

  it('prints the status of the resources of a directory and each change, until it is interrupted', async () => {
    const watch = start(['watch', '-c', 'resources'], { cwd: directory.cwd });
    const printed = follow(watch);
    await until(printed, watch, /\d\d:\d\d:\d\d {2}VirtualService gw-system\/shop {2}Accepted\n/);
    expect(printed.text).to.match(/ {2}Upstream gw-system\/cart {2}Accepted\n/);
    directory.write('shop.yaml', SHOP.replace('exact: /health', 'exact: //health'));
    await until(printed, watch, /VirtualService gw-system\/shop {2}Rejected {2}.*'\/\/health' must not contain '\/\/'/);
    directory.write('shop.yaml', SHOP.split('---')[0]!);
    await until(printed, watch, 'VirtualService gw-system/shop  Removed\n');
    expect(printed.text.match(/Upstream gw-system\/cart/g)!.length).to.be.lessThan(4);
    watch.child.kill('SIGINT');
    expect((await watch.ended).code).to.equal(0);
  });

  it('prints JSON of some kinds, and ends when its reader does', async () => {
    const watch = start(['watch', 'us', '-c', 'resources', '-o', 'json'], { cwd: directory.cwd });
    const printed = follow(watch);
    await until(printed, watch, '\n');
    const { at, ...line } = JSON.parse(printed.text) as Record<string, string>;
    expect(line).to.deep.equal({
      kind: 'Upstream',
      namespace: 'gw-system',
      name: 'cart',
      state: 'Accepted',
      reason: '',
    });
    expect(Date.parse(at!)).to.be.a('number');
    watch.child.kill('SIGTERM');
    expect((await watch.ended).code).to.equal(0);
  });

  it('polls a running gateway, and reports once that it is unreachable', async () => {
    const pages = recordedAnswers();
    let server: AnsweringServer | undefined = await answer(pages);
    const argv = ['watch', 'vs', '--server', server.url, '--interval', '0.1'];
    const watch = start(argv, { cwd: directory.cwd });
    const printed = follow(watch);
    await until(printed, watch, /VirtualService gw-system\/\S+ {2}(?:Accepted|Warning|Pending)/);
    await server.close();
    server = undefined;
    await until(printed, watch, /Warning: no gateway at/);
    watch.child.kill('SIGINT');
    const { code } = await watch.ended;
    expect(code).to.equal(0);
    expect(printed.text.match(/no gateway at/g)).to.have.length(1);
  });

  for (const [argv, code, message] of [
    [['vss'], 2, 'unknown kind "vss" (did you mean "vs"?)'],
    [['--interval', '0'], 2, "--interval must be a number of seconds from 0.1, not '0'"],
    [['--interval', 'x'], 2, "--interval must be a number of seconds from 0.1, not 'x'"],
    [['-c', 'none'], 2, 'none: no such file or directory'],
    [['--server', 'http://127.0.0.1:1'], 1, 'no gateway at http://127.0.0.1:1'],
  ] as const)
    it(`rejects ${argv.join(' ')}`, async () => {
      const outcome = await call(['watch', ...argv], { cwd: directory.cwd });
      expect(outcome).to.include({ code, stdout: '' });
      expect(outcome.stderr).to.contain(`Error: ${message}`);
    });
});
