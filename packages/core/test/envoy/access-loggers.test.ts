import { expect } from 'chai';
import { accessLogs } from '../../src/envoy/access-loggers.ts';
import { LISTENER_FORMS } from '../../src/envoy/forms/listener-forms.ts';
import { unfaithfulFields } from '../../src/envoy/forms/form.ts';

const logsOf = (fileSink: object, target: { readonly services?: object } = { services: {} }): any =>
  accessLogs({ accessLog: [{ fileSink: { path: '/tmp/a', ...fileSink } }] }, target)[0]!['typed_config'];
const shown = (stringFormat: string): string => logsOf({ stringFormat }).log_format.text_format_source.inline_string;

describe('the access logs of an Envoy', () => {
  for (const [format, expected] of [
    ['%REQ(AUTHORIZATION)% %REQ(x?Cookie):5%', '[redacted] [redacted]'],
    ['%RESP(Set-Cookie)% %RESP(location)% %REQ(referer)%', '[redacted] [redacted] [redacted]'],
    ['%REQ(:PATH)% %REQ(:path):9%', '%PATH(NQ:PATH)% %PATH(NQ:PATH):9%'],
    ['%REQ(X-ENVOY-ORIGINAL-PATH?:PATH)%', '%PATH(NQ:ORIG_OR_PATH)%'],
    ['%REQ(X-ENVOY-ORIGINAL-PATH)%', '%PATH(NQ:ORIG)%'],
    ['%REQ(:path?x-a)%', '[redacted]'],
    ['%PROTOCOL%%REQ(authorization)%%REQ(:path)%', '%PROTOCOL%[redacted]%PATH(NQ:PATH)%'],
    ['%START_TIME(%s)%%REQ(cookie)% 5%% %REQ(cookie)%', '%START_TIME(%s)%[redacted] 5%% [redacted]'],
    ['%%REQ(cookie) %REQ(X-A?X-B):3% %TRAILER(a)%', '%%REQ(cookie) %REQ(X-A?X-B):3% %TRAILER(a)%'],
  ] as const)
    it(`contain no credentials and queries: ${format}`, () => {
      expect(shown(format)).to.equal(expected);
    });

  it('contain none in JSON either', () => {
    const jsonFormat = { a: '%REQ(cookie)%', b: ['%REQ(:path)%', 1, null], c: { d: '%PROTOCOL%' } };
    expect(logsOf({ jsonFormat }).log_format.json_format).to.deep.equal({
      a: '[redacted]',
      b: ['%PATH(NQ:PATH)%', 1, null],
      c: { d: '%PROTOCOL%' },
    });
  });

  it('are shown as they are written in a dump', () => {
    const { json_format } = logsOf({ jsonFormat: { a: '%REQ(:path)%' } }, {}).log_format;
    expect(json_format).to.deep.equal({ a: '%REQ(:path)%' });
  });

  it('are not expressed with operators that Envoy does not accept', () => {
    const context = { services: {}, settings: { requireRbac: false } };
    const fieldsOf = (fileSink: object) =>
      unfaithfulFields({ accessLoggingService: { accessLog: [{ fileSink }] } }, LISTENER_FORMS, context);
    expect(fieldsOf({ stringFormat: '%PROTOCOL%', path: '/tmp/a' })).to.deep.equal([]);
    expect(fieldsOf({ stringFormat: '%REQ(a?b?c)%' })).to.deep.equal(['accessLoggingService']);
    expect(fieldsOf({ jsonFormat: { a: ['%FILTER_STATE%'] } })).to.deep.equal(['accessLoggingService']);
  });

  it('are not expressed with environment variables', () => {
    const context = { services: {}, settings: { requireRbac: false } };
    const fileSink = { path: '/tmp/a', stringFormat: '%ENVIRONMENT(A)%' };
    const options = { accessLoggingService: { accessLog: [{ fileSink }] } };
    expect(unfaithfulFields(options, LISTENER_FORMS, context)).to.deep.equal(['accessLoggingService']);
  });
});
