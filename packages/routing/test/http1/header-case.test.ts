import { expect } from 'chai';
import { withProperCase } from '../../src/http1/header-case.ts';

describe('header names in title case', () => {
  it('change neither the request line nor values', () => {
    const head = 'GET /a:b HTTP/1.1\r\nhost: a.example:80\r\nx-REQUEST-id: x-a: y\r\nx1a_b.c-2d:\r\n\r\n';
    expect(withProperCase(head)).to.equal(
      'GET /a:b HTTP/1.1\r\nHost: a.example:80\r\nX-Request-Id: x-a: y\r\nX1a_B.C-2d:\r\n\r\n',
    );
  });
});
