import { expect } from 'chai';
import { grpcReply } from '../../../src/serve/grpc-reply.ts';

/** Returns the message that a client decodes, and its encoded form. */
function messageOf(body: string): { readonly encoded: string | undefined; readonly decoded: string } {
  const { headers } = grpcReply({ status: 503, body, contentType: 'text/plain', headers: [] }, 'application/grpc');
  const encoded = headers[headers.indexOf('grpc-message') + 1];
  return { encoded, decoded: decodeURIComponent(encoded!) };
}

describe('replies to gRPC requests', () => {
  it('have the status of the gateway, no body and no headers of one', () => {
    const headers = ['Content-Length', '4', 'content-type', 'text/plain', 'x-kept', '1'];
    expect(
      grpcReply({ status: 403, body: '', contentType: 'text/plain', headers }, 'application/grpc+proto'),
    ).to.deep.equal({
      status: 200,
      body: '',
      contentType: '',
      headers: ['x-kept', '1', 'content-type', 'application/grpc+proto', 'grpc-status', '7'],
    });
  });

  it('contain the message with all bytes but printable ASCII encoded', () => {
    expect(messageOf(' !~')).to.include({ encoded: ' !~' });
    expect(messageOf('a\x7f\x1f\r\n%é')).to.deep.equal({
      encoded: 'a%7F%1F%0D%0A%25%C3%A9',
      decoded: 'a\x7f\x1f\r\n%é',
    });
  });

  it('contain at most 4,096 bytes of the message, of whole characters', () => {
    expect(messageOf('a'.repeat(5000)).decoded).to.equal('a'.repeat(4096));
    expect(messageOf(`${'a'.repeat(4096)}b`).decoded).to.equal('a'.repeat(4096));
    expect(messageOf(`${'a'.repeat(4095)}é`).decoded).to.equal('a'.repeat(4095));
    expect(messageOf(`${'a'.repeat(4094)}é`).decoded).to.equal(`${'a'.repeat(4094)}é`);
    expect(messageOf(`${'a'.repeat(4093)}😀`).decoded).to.equal('a'.repeat(4093));
  });
});
