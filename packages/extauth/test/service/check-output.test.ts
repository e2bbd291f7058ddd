import { expect } from 'chai';
import { toStruct } from '@edge-gateway/core/grpc';
import { decisionOf } from '../../src/grpc/check-response.ts';
import { rejection } from '../../src/service/auth-service.ts';
import { checkResponseOf } from '../../src/service/check-output.ts';
import type { Grant } from '../../src/service/verdict.ts';

const GRANT: Grant = {
  allowed: true,
  set: new Map([['x-user-id', 'alice']]),
  remove: ['x-team'],
  responseChanges: [],
  query: { set: new Map([['a', '1']]), remove: ['b'] },
  metadata: {},
};

describe('the response to a check', () => {
  it('allows with headers, query parameters and metadata', () => {
    const { status, okResponse, dynamicMetadata } = checkResponseOf({
      ...GRANT,
      metadata: { config_0: { sub: 'alice' } },
    });
    expect(status?.code).to.equal(0);
    expect(okResponse).to.deep.include({
      headers: [{ header: { key: 'x-user-id', value: 'alice' }, append: { value: false } }],
      headersToRemove: ['x-team'],
      queryParametersToSet: [{ key: 'a', value: '1' }],
      queryParametersToRemove: ['b'],
    });
    expect(dynamicMetadata).to.deep.equal(toStruct({ config_0: { sub: 'alice' } }));
  });

  it('tells our gateway that a success status is intended, and the metadata of the step that denied', () => {
    const denial = {
      allowed: false,
      headers: [],
      body: '',
      reason: '',
      details: 'ext_authz_denied',
      flags: 'UAEX',
    } as const;
    const page = checkResponseOf({ ...denial, status: 200, metadata: { rule: { reason: 'plan' } } });
    expect(page.dynamicMetadata).to.deep.equal(toStruct({ rule: { reason: 'plan' } }));
    const request = { header: () => undefined } as never;
    expect(decisionOf(page as never, request)).to.include({ allowed: false, status: 200 });
    const rejected = checkResponseOf({ ...denial, status: 403 });
    expect(rejected.status?.message).to.equal('');
    // Of a server that is not ours.
    expect(decisionOf({ ...page, status: { code: 7, message: '' } } as never, request)).to.include({ status: 403 });
  });

  it('adds each cookie to the response to the client', () => {
    const { okResponse } = checkResponseOf({
      ...GRANT,
      responseChanges: [
        { op: 'append', name: 'set-cookie', value: 'a=1' },
        { op: 'append', name: 'set-cookie', value: 'b=2' },
        { op: 'set', name: 'x-a', value: '1' },
        { op: 'set', name: 'x-b', value: '1', where: 'absent' },
        { op: 'set', name: 'x-c', value: '1', where: 'present' },
      ],
    });
    expect(
      okResponse?.responseHeadersToAdd.map(({ header, append, appendAction }) => [header?.key, append, appendAction]),
    ).to.deep.equal([
      ['set-cookie', undefined, 0],
      ['set-cookie', undefined, 0],
      ['x-a', undefined, 2],
      ['x-b', undefined, 1],
      ['x-c', undefined, 3],
    ]);
  });

  it('rejects with status, headers and body', () => {
    const headers = ['Set-Cookie', 'a=1', 'set-cookie', 'b=2', 'content-type', 'text/html'];
    const response = checkResponseOf({ ...rejection(302, '', headers), body: 'page' } as never);
    expect(response).to.deep.include({ status: { code: 7, message: '' }, httpResponse: 'deniedResponse' });
    expect(response.deniedResponse).to.deep.include({ status: { code: 302 }, body: 'page' });
    expect(
      response.deniedResponse?.headers.map(({ header, appendAction }) => [header?.key, appendAction]),
    ).to.deep.equal([
      ['set-cookie', 2],
      ['set-cookie', 0],
      ['content-type', 2],
    ]);
    expect(checkResponseOf(rejection(401, '')).status?.code).to.equal(16);
  });

  it('carries bytes of UTF-8, and rejects others', () => {
    const set = (value: string) => checkResponseOf({ ...GRANT, set: new Map([['x-user-id', value]]) });
    expect(set('\u00c3\u00a9').okResponse?.headers[0]?.header?.value).to.equal('é');
    expect(() => set('\u00e9'))
      .to.throw()
      .that.includes({ code: 'ERR_EXTAUTH_CONFIG' });
  });
});
