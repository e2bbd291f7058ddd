import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { expect } from 'chai';
import { removeReceivedBody, setReceivedBody, takeReceivedBody, TAKEN } from '../../src/http1/received-body.ts';

const BODY = Buffer.from('body');

describe('the received body of a request', () => {
  const sockets: Socket[] = [];
  afterEach(() => sockets.splice(0).forEach((each) => each.destroy()));

  function received(): IncomingMessage {
    const socket = new Socket();
    sockets.push(socket);
    const req = new IncomingMessage(socket);
    setReceivedBody(req, BODY);
    return req;
  }

  it('is taken once, and is not in the stream then', () => {
    const req = received();
    expect(takeReceivedBody(req)).to.equal(BODY);
    expect(takeReceivedBody(req)).to.equal(undefined);
    expect(removeReceivedBody(req)).to.equal(TAKEN);
    expect(removeReceivedBody(req)).to.equal(undefined);
  });

  it('is that of the stream if nothing takes it', () => {
    const req = received();
    expect(removeReceivedBody(req)).to.equal(BODY);
    expect(takeReceivedBody(req)).to.equal(undefined);
  });

  for (const name of ['push', '_read', 'on', 'addListener', 'emit', 'read'] as const)
    it(`is not taken if middleware has replaced ${name}`, () => {
      const req = received();
      Object.defineProperty(req, name, { value: req[name], configurable: true });
      expect(takeReceivedBody(req)).to.equal(undefined);
      expect(removeReceivedBody(req)).to.equal(BODY);
    });

  for (const event of ['data', 'readable', 'end', 'close'])
    it(`is not taken if middleware listens to ${event}`, () => {
      const req = received();
      req.on(event, () => {});
      expect(takeReceivedBody(req)).to.equal(undefined);
    });
});
