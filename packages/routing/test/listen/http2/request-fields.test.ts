import { expect } from 'chai';
import { readRequestFields } from '../../../src/listen/http2/request-fields.ts';

const head = (...raw: string[]) => readRequestFields(raw, true)!;

const GET = [':method', 'GET', ':path', '/a', ':scheme', 'https', ':authority', 'a.example'];

describe('the head of an HTTP/2 request', () => {
  it('has the form of one over HTTP/1.1', () => {
    expect(head(...GET, 'x-a', '1')).to.deep.equal({
      method: 'GET',
      url: '/a',
      rawHeaders: ['host', 'a.example', 'x-a', '1'],
      protocol: undefined,
      problem: undefined,
    });
  });

  it('has values without the blanks around them', () => {
    const { rawHeaders } = head(...GET, 'x-a', ' \t1 2\t ');
    expect(rawHeaders.slice(2)).to.deep.equal(['x-a', '1 2']);
  });

  it('joins the parts of a cookie at the place of the first one', () => {
    const { rawHeaders } = head(...GET, 'cookie', 'a=1', 'x-a', '1', 'cookie', 'b=2', 'cookie', 'c=3');
    expect(rawHeaders.slice(2)).to.deep.equal(['cookie', 'a=1; b=2; c=3', 'x-a', '1']);
  });

  it('is invalid if host and :authority differ', () => {
    for (const host of ['a.example', 'A.Example'])
      expect(head(...GET, 'host', host)).to.include({ problem: undefined });
    expect(head(...GET, 'host', 'b.example').problem?.code).to.equal('ERR_ROUTING_BAD_HOST');
  });

  it('has the authority as target of a tunnel, and the path of a WebSocket', () => {
    expect(head(':method', 'CONNECT', ':authority', 'db:1').url).to.equal('db:1');
    const webSocket = head(...GET.with(1, 'CONNECT'), ':protocol', 'websocket');
    expect(webSocket).to.include({ url: '/a', protocol: 'websocket' });
  });
});
