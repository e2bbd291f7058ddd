import { expect } from 'chai';
import { checkRequest, DEFAULT_LIMITS, type RequestHead, type RequestRules } from '../../src/index.ts';

const head = (parts: Partial<RequestHead> = {}, ...headers: string[]): RequestHead => ({
  method: 'GET',
  url: '/',
  httpVersion: '1.1',
  rawHeaders: ['Host', 'a', ...headers],
  ...parts,
});

const codeOf = (request: RequestHead, rules: Partial<RequestRules> = {}): string | undefined =>
  checkRequest(request, { ...DEFAULT_LIMITS, ...rules })?.code;

describe('checkRequest', () => {
  it('accepts an ordinary request', () => {
    expect(codeOf(head())).to.equal(undefined);
    expect(codeOf(head({ method: 'POST' }, 'Content-Length', '5', 'Cookie', 'a=1', 'Cookie', 'b=2'))).to.equal(
      undefined,
    );
    expect(codeOf(head({ method: 'OPTIONS', url: '*' }))).to.equal(undefined);
    expect(codeOf(head({ url: 'http://A/x' }))).to.equal(undefined);
    expect(codeOf(head({}, 'Expect', '100-Continue'))).to.equal(undefined);
    expect(codeOf(head({ method: 'PROPFIND' }))).to.equal(undefined);
    expect(codeOf(head({}, 'x_y', '1'))).to.equal(undefined);
  });

  it('accepts exactly the maximum', () => {
    const target = (bytes: number): RequestHead => head({ url: `/${'a'.repeat(bytes - 1)}` });
    expect(codeOf(target(8_192))).to.equal(undefined);
    expect(codeOf(target(8_193))).to.equal('ERR_ROUTING_TARGET_TOO_LONG');
    const headers = (count: number): RequestHead =>
      head({}, ...Array.from({ length: 2 * count - 2 }, (_, i) => `x${i}`));
    expect(codeOf(headers(100))).to.equal(undefined);
    expect(codeOf(headers(101))).to.equal('ERR_ROUTING_TOO_MANY_HEADERS');
    const written = (bytes: number): RequestHead => {
      const rest = 'GET / HTTP/1.1\r\nHost: a\r\nX: \r\n\r\n'.length;
      return head({}, 'X', 'a'.repeat(bytes - rest));
    };
    expect(codeOf(written(16_384))).to.equal(undefined);
    expect(codeOf(written(16_385))).to.equal('ERR_ROUTING_HEAD_TOO_LARGE');
  });

  it('rejects framing that the parser would reject too', () => {
    expect(codeOf(head({}, 'Content-Length', '5', 'Transfer-Encoding', 'chunked'))).to.equal('ERR_ROUTING_BAD_FRAMING');
    for (const value of ['', '+5', '-5', '0x5', '5,5', '1e3', '９', '9007199254740993']) {
      expect(codeOf(head({}, 'content-LENGTH', value)), value).to.equal('ERR_ROUTING_BAD_FRAMING');
    }
    expect(codeOf(head({}, 'Content-Length', '5', 'CONTENT-LENGTH', '5'))).to.equal('ERR_ROUTING_BAD_FRAMING');
  });

  it('rejects a body above the limit, and none without a limit', () => {
    expect(codeOf(head({}, 'Content-Length', '11'), { maxBodyBytes: 10 })).to.equal('ERR_ROUTING_BODY_TOO_LARGE');
    expect(codeOf(head({}, 'Content-Length', '10'), { maxBodyBytes: 10 })).to.equal(undefined);
    expect(codeOf(head({}, 'Content-Length', '99999999999'))).to.equal(undefined);
  });

  it('names the header that is twice there in the detail', () => {
    const refused = checkRequest(head({}, 'Authorization', 'Bearer secret', 'authorization', 'x'), DEFAULT_LIMITS)!;
    expect(refused).to.include({ status: 400, code: 'ERR_ROUTING_DUPLICATE_HEADER', detail: 'authorization' });
    expect(JSON.stringify(refused)).not.to.include('secret');
  });
});
