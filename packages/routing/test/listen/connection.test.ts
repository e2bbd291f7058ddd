import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { expect } from 'chai';
import {
  acceptRequest,
  acceptsRequests,
  Http1ClientConnection,
  cutBehind,
  dropRequest,
} from '../../src/listen/connection.ts';
import type { ListenLimits } from '../../src/listen/limits.ts';

const MAX_WAITING = 1024;
const MIB = 1024 * 1024;

function connection(maxRequestsPerConnection = 0) {
  const socket = { bytesRead: 0, readableLength: 0, destroyed: false, destroy: () => void (socket.destroyed = true) };
  const opened = new Http1ClientConnection(socket as unknown as Socket, { maxRequestsPerConnection } as ListenLimits);
  /** Accepts a request, which waits; returns whether its response announces that the connection stays open. */
  const accept = (bytesRead = 0): boolean => {
    const res = { shouldKeepAlive: true } as ServerResponse;
    acceptRequest(opened, res);
    opened.waiting.push({ res, bytesRead, serve() {} });
    return res.shouldKeepAlive;
  };
  return { opened, socket, accept };
}

describe('requests that wait on a connection', () => {
  it('are limited in number: the last one closes the connection', () => {
    const { opened, accept } = connection();
    for (let i = 1; i < MAX_WAITING; i++) expect(accept()).to.equal(true);
    expect(acceptsRequests(opened)).to.equal(true);
    expect(accept()).to.equal(false);
    expect([opened.closing, acceptsRequests(opened)]).to.deep.equal([true, false]);
  });

  it('are limited in size, from what was read before the first one on', () => {
    const { socket, accept } = connection();
    socket.bytesRead = 5 * MIB;
    expect(accept(5 * MIB)).to.equal(true);
    socket.bytesRead = 6 * MIB;
    expect(accept(6 * MIB)).to.equal(true);
    socket.bytesRead = 6 * MIB + 1;
    expect(accept(6 * MIB + 1)).to.equal(false);
  });

  it('count for the maximum number of requests', () => {
    const { opened, accept } = connection(3);
    opened.requests = 1;
    expect([accept(), accept()]).to.deep.equal([true, false]);
  });

  it('are dropped behind the last one, until a client sends too many', () => {
    const { opened, socket } = connection();
    let resumed = 0;
    const req = { resume: () => void resumed++ } as unknown as IncomingMessage;
    for (let i = 0; i < MAX_WAITING; i++) dropRequest(opened, req);
    expect(socket.destroyed).to.equal(false);
    dropRequest(opened, req);
    expect([socket.destroyed, resumed]).to.deep.equal([true, MAX_WAITING + 1]);
  });

  it('are cut off behind what cannot be parsed, with the incomplete one', () => {
    for (const complete of [true, false]) {
      const { opened } = connection();
      const last = { req: { complete } as IncomingMessage, serve() {} };
      opened.waiting.push(last);
      const cut: unknown[] = [];
      cutBehind(opened, ({ req }) => cut.push(req));
      expect(acceptsRequests(opened)).to.equal(false);
      expect(opened.waiting).to.have.length(complete ? 2 : 1);
      opened.waiting.at(-1)!.serve();
      expect(cut).to.deep.equal([complete ? undefined : last.req]);
    }
  });
});
