import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import type { FilteredHead } from '@edge-gateway/core';
import { expect } from 'chai';
import { RequestMessage, ResponseMessage } from '../../src/transform/message.ts';

function response(status: number) {
  const head: FilteredHead = {
    status,
    headers: [],
    isLocalReply: false,
    details: '',
    flags: '',
    hasBody: true,
    signal: new AbortController().signal,
  };
  return { head, message: new ResponseMessage(head, new RequestMessage(new IncomingMessage(new Socket()))) };
}

describe('a response that is transformed', () => {
  for (const status of ['200', '404', '599'])
    it(`can have the status ${status}`, () => {
      const { head, message } = response(201);
      message.set(':status', status);
      expect([head.status, message.first(':status')]).to.deep.equal([Number(status), status]);
    });

  for (const status of ['', '99', '101', '199', '600', '2000', '20x', ' 200'])
    it(`cannot have the status ${JSON.stringify(status)}`, () => {
      const { head, message } = response(201);
      expect(() => message.set(':status', status))
        .to.throw()
        .with.property('code', 'ERR_ROUTING_TRANSFORMATION');
      expect(head.status).to.equal(201);
    });
});
