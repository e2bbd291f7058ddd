import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { factsOf } from '@edge-gateway/core';
import { expect } from 'chai';
import { LimitedRequest, requestPlace } from '../../src/concern/limited-request.ts';

describe('a request as descriptors see it', () => {
  const limited = (clientAddress: string): LimitedRequest => {
    const req = new IncomingMessage(new Socket());
    const facts = factsOf(req);
    facts.connection = { ...facts.connection, clientAddress };
    return new LimitedRequest(req, facts, requestPlace({}, undefined));
  };

  it('has the address of the client only if it is an IP address', () => {
    for (const address of ['192.0.2.1', '2001:db8::1']) expect(limited(address).clientAddress).to.equal(address);
    for (const address of ['', 'unknown', 'example.com', '192.0.2.1:80']) {
      expect(limited(address).clientAddress, address).to.equal(undefined);
    }
  });
});
