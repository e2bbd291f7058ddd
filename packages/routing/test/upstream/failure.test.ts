import { expect } from 'chai';
import { explain, withResetText } from '../../src/upstream/failure.ts';

const coded = (code: string, errno?: number): Error => Object.assign(new Error('failed'), { code, errno });

describe('the reason of a failed exchange', () => {
  it('tells connections that were not established in time from those that failed', () => {
    const late = explain(coded('ETIMEDOUT'), 'connecting');
    expect(late).to.include({
      flags: 'UF',
      reset: 'connection timeout',
      details: 'upstream_reset_before_response_started{connection_timeout}',
      cause: 'ETIMEDOUT failed',
    });
    expect(late.failure).to.include({ status: 503, code: 'ERR_ROUTING_UPSTREAM_CONNECT_TIMEOUT' });
    const refused = explain(coded('ECONNREFUSED', -111), 'connecting');
    expect(refused).to.include({ flags: 'UF', reset: 'remote connection failure' });
  });

  it('tells names that cannot be resolved from TLS that fails', () => {
    const details = (error: Error) => /\{(.*)\}/.exec(explain(error, 'connecting').details)![1];
    expect(details(coded('ENOTFOUND'))).to.equal('remote_connection_failure|dns_resolution_failure:_ENOTFOUND');
    const found = Object.assign(coded('ENOTFOUND', -3008), { syscall: 'getaddrinfo' });
    expect(details(found)).to.equal('remote_connection_failure|dns_resolution_failure:_ENOTFOUND');
    expect(details(coded('ERR_SSL_WRONG_VERSION_NUMBER'))).to.contain('TLS_error:|ERR_SSL_WRONG_VERSION_NUMBER');
    expect(details(coded('SELF_SIGNED_CERT_IN_CHAIN'))).to.contain('TLS_error:');
    expect(details(coded('ECONNREFUSED', -111))).to.contain('delayed_connect_error:_Connection_refused');
  });

  it('is a reset after the request was sent', () => {
    expect(explain(coded('ETIMEDOUT'), 'sent')).to.include({ flags: 'UC', reset: 'connection termination' });
    expect(explain(coded('HPE_INVALID_CONSTANT'), 'sent')).to.include({ flags: 'UPE', reset: 'protocol error' });
  });

  it('has the body of Envoy, without the reason of the connection', () => {
    const reason = explain(coded('ETIMEDOUT'), 'connecting');
    const text = 'upstream connect error or disconnect/reset before headers.';
    expect(withResetText(reason, false).message).to.equal(`${text} reset reason: connection timeout`);
    expect(withResetText(reason, true).message).to.equal(
      `${text} retried and the latest reset reason: connection timeout`,
    );
  });
});
