import { expect } from 'chai';
import { envoyFormatProblem } from '../../src/envoy/format.ts';

describe('the formats that Envoy accepts', () => {
  for (const format of [
    '',
    '100%%',
    'a %REQ(X-A)% b',
    '%REQ(x-envoy-original-path?:path):20%',
    '%RESP(a)%%TRAILER(b)%',
    '%START_TIME%',
    '%START_TIME(%Y-%m-%d)%',
    '%DYNAMIC_METADATA(ns:a:b)%',
    '%METADATA(ROUTE:ns:a)%',
    '%PATH(NQ:ORIG_OR_PATH)%',
    '%COMMON_DURATION(DS_RX_BEG:DS_RX_END:ms)%',
    '%GRPC_STATUS(NUMBER)%',
    '%PROTOCOL%',
    '%%REQ(a)%%',
  ])
    it(`include ${format === '' ? 'no text' : format}`, () => {
      expect(envoyFormatProblem(format)).to.equal(undefined);
    });

  for (const [format, shown = format] of [
    ['%'],
    ['a 5% b', '% b'],
    ['%REQ()%'],
    ['%REQ(a b)%'],
    ['%REQ(a?b?c)%'],
    ['%REQ(a):99999%', '%REQ(a):99999%'],
    ['%REQ%'],
    ['%PROTOCOL:5%'],
    ['%PROTOCOL(a)%'],
    ['%VIRTUAL_HOST_NAME%'],
    ['%METADATA(FOO:a)%'],
    ['%DYNAMIC_METADATA()%'],
    ['%COMMON_DURATION(a:b:h)%'],
    ['%GRPC_STATUS(foo)%'],
    ['%UNKNOWN%'],
  ] as const)
    it(`do not include ${format}`, () => {
      expect(envoyFormatProblem(format)).to.equal(`${shown} is not an operator of Envoy`);
    });
});
