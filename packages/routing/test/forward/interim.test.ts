import { compileRetries } from '@edge-gateway/core';
import { expect } from 'chai';
import { closeAll, gateway, rawClient, rawUpstream, snapshotOf, type Gateway } from './harness.ts';

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';
const GET = 'GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n';

const interim = (status: string, ...lines: string[]): string => `HTTP/1.1 ${[status, ...lines].join('\r\n')}\r\n\r\n`;

/** A gateway whose upstream sends these bytes. */
async function sending(text: string, passesInterim = true): Promise<Gateway> {
  const upstream = await rawUpstream((socket) => socket.write(text));
  return await gateway({ upstream: snapshotOf(upstream.port), head: () => ({ passesInterim }) });
}

async function statusesOf({ port }: Gateway, request = GET): Promise<string[]> {
  const { text } = await rawClient(port, request);
  return [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status!);
}

describe('interim responses', () => {
  afterEach(closeAll);

  it('are sent to the client in their order, with the links of 103', async () => {
    const hints = interim('103 Early Hints', 'link: </a>; rel=preload', 'Link: </b>; rel=preload', 'set-cookie: a=b');
    const gw = await sending(interim('102 Processing') + hints + interim('100 Continue') + OK);
    const { text } = await rawClient(gw.port, GET);
    expect(text.slice(0, text.indexOf('HTTP/1.1 200'))).to.equal(
      'HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload,</b>; rel=preload\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n',
    );
    expect(text).to.match(/\r\n\r\nok$/);
  });

  it('are dropped unless the listener passes them on', async () => {
    const gw = await sending(interim('100 Continue') + interim('103 Early Hints', 'link: </a>') + OK, false);
    expect(await statusesOf(gw)).to.deep.equal(['200']);
  });

  it('are never sent over HTTP/1.0', async () => {
    const gw = await sending(interim('100 Continue') + interim('103 Early Hints', 'link: </a>') + OK);
    expect(await statusesOf(gw, 'GET / HTTP/1.0\r\n\r\n')).to.deep.equal(['200']);
  });

  it('are dropped with an unknown status, without links, or with an invalid one', async () => {
    const hints = interim('103 Early Hints') + interim('103 Early Hints', 'link: no link');
    const gw = await sending(interim('104 Other') + hints + OK);
    expect(await statusesOf(gw)).to.deep.equal(['200']);
  });

  it('give 502 if there are too many', async () => {
    const gw = await sending(interim('104 Other').repeat(17) + OK);
    expect(await statusesOf(gw)).to.deep.equal(['502']);
  });

  it('end the retries of a request', async () => {
    const bad = 'HTTP/1.1 503 Bad\r\ncontent-length: 0\r\n\r\n';
    const upstream = await rawUpstream((socket) => socket.write(interim('102 Processing') + bad));
    const retries = compileRetries({ retryOn: '5xx', numRetries: 2, retryBackOff: { baseInterval: '1ms' } });
    const gw = await gateway({ upstream: snapshotOf(upstream.port), head: () => ({ passesInterim: true, retries }) });
    expect(await statusesOf(gw)).to.deep.equal(['102', '503']);
    expect(upstream.requests).to.have.length(1);
  });
});
