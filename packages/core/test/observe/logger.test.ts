import { expect } from 'chai';
import { createContext, createLoggers, GatewayError, libraryLoggers, silentLoggers } from '../../src/index.ts';

describe('a log line', () => {
  function lineOf(fields: Record<string, unknown>): Record<string, never> {
    let written = '';
    const log = createLoggers({ destination: { write: (line: string) => void (written += line) } });
    log.get('main').info(fields, 'said');
    return JSON.parse(written) as Record<string, never>;
  }

  it('hides values of secret fields, at the top or one level below', () => {
    for (const name of ['authorization', 'cookie', 'token', 'secret', 'password', 'code']) {
      expect(lineOf({ [name]: 'a-secret', request: { [name]: 'a-secret' } })).to.deep.include({
        [name]: '[redacted]',
        request: { [name]: '[redacted]' },
      });
    }
  });

  it('contains the code of an error', () => {
    const refused = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
    expect(lineOf({ err: refused })).to.nested.include({ 'err.code': 'ECONNREFUSED' });
    const failed = new GatewayError('away', { code: 'ERR_OIDC_STORE_UNAVAILABLE' });
    expect(lineOf({ err: failed })).to.nested.include({ 'err.code': 'ERR_OIDC_STORE_UNAVAILABLE' });
  });

  it('hides error codes that look like authorization codes or tokens', () => {
    for (const code of ['Splx10BeZQQYbYS6WxSbIA', 'E2a9', '4/P7q7W91']) {
      const line = lineOf({ err: Object.assign(new Error('x'), { code, token: 'a-secret' }) });
      expect(line).to.nested.include({ 'err.code': '[redacted]', 'err.token': '[redacted]' });
    }
  });

  it('hides secrets of resources, addresses and error messages at any depth', () => {
    const line = lineOf({
      upstream: { spec: { host: 'redis://user:MARKER@redis:6379' } },
      changed: [{ jwks: { local: { key: '{"kty":"oct","k":"MARKER"}' } } }],
      clientSecret: 'MARKER',
      err: new Error('cannot reach https://user:MARKER@auth.example'),
    });
    expect(JSON.stringify(line)).to.contain('cannot reach').and.not.contain('MARKER');
  });
});

describe('the loggers of library use', () => {
  /** What goes to standard error while this runs. */
  function toStandardError(act: () => void): string {
    const { write } = process.stderr;
    let text = '';
    process.stderr.write = (chunk) => ((text += chunk), true);
    libraryLoggers.setLevel('warn');
    try {
      act();
    } finally {
      process.stderr.write = write;
      libraryLoggers.setLevel('off');
    }
    return text;
  }

  it('write warnings and errors to standard error, as JSON lines without secrets', () => {
    const text = toStandardError(() => {
      const log = createContext().log.get('router');
      log.info({}, 'not this');
      log.warn({ token: 'a-secret' }, 'this');
      log.error({}, 'and this');
    });
    const lines = text.trim().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).to.deep.equal(['this', 'and this']);
    expect(text).to.not.match(/a-secret/);
  });

  it('are replaced by those of the context', () => {
    expect(toStandardError(() => createContext({ log: silentLoggers }).log.get('router').error({}, 'x'))).to.equal('');
  });
});
