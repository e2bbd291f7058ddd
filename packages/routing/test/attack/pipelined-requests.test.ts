import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import { describeParsers, open, serve, type Serving } from '../listen/serving.ts';
import { until } from '../../../../test/parts/until.ts';

const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
const MAX_IN_PROGRESS = 1_024;

describeParsers('requests of a client that does not wait for responses', () => {
  let serving: Serving;
  let held: ServerResponse[];
  let aborted: number;
  let isHeld: boolean;

  beforeEach(async () => {
    held = [];
    aborted = 0;
    isHeld = true;
    serving = await serve((_req, res) => {
      held.push(res);
      if (!isHeld) return void res.end('ok');
      res.on('close', () => (aborted += res.writableFinished ? 0 : 1));
    });
  });
  afterEach(() => serving.close());

  it('are served up to the limit; the connection closes with the last of them', async () => {
    const { socket, text, closed } = await open(serving.port);
    socket.write(GET.repeat(MAX_IN_PROGRESS + 100));
    await until(() => held.length === MAX_IN_PROGRESS);
    for (const res of held) res.end('ok');
    await closed;
    const statuses = text().match(/HTTP\/1\.1 200 OK/g)!;
    expect(statuses).to.have.length(MAX_IN_PROGRESS);
    expect(text().match(/connection: close/gi)).to.have.length(1);
    expect(held).to.have.length(MAX_IN_PROGRESS);
  });

  it('do not occupy the process: a client that sends many more is disconnected', async () => {
    const { socket, closed } = await open(serving.port);
    socket.write(GET.repeat(100_000));
    await closed;
    await until(() => aborted === MAX_IN_PROGRESS);
    expect(held).to.have.length(MAX_IN_PROGRESS);
  });

  it('may be any number in sequence', async () => {
    const { socket, text } = await open(serving.port);
    isHeld = false;
    for (let i = 0; i < MAX_IN_PROGRESS + 10; i++) {
      socket.write(GET);
      await once(socket, 'data');
    }
    expect(held).to.have.length(MAX_IN_PROGRESS + 10);
    expect(text()).not.to.match(/connection: close/i);
    socket.destroy();
  });
});
