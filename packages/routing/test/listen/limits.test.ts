import { expect } from 'chai';
import { DEFAULT_LIMITS, limitsOf } from '../../src/listen/limits.ts';

type HttpOptions = Parameters<typeof limitsOf>[0]['httpOptions'];

const written = (httpOptions: HttpOptions) => {
  const changed = Object.entries(limitsOf({ httpOptions })).filter(
    ([name, value]) => value !== DEFAULT_LIMITS[name as keyof typeof DEFAULT_LIMITS],
  );
  return Object.fromEntries(changed);
};

describe('the limits of a listener', () => {
  it('are the defaults without options', () => {
    expect(limitsOf({ httpOptions: {} })).to.deep.equal(DEFAULT_LIMITS);
  });

  it('come from each of its options', () => {
    const httpConnectionManagerSettings = {
      maxRequestHeadersKb: 8,
      maxHeadersCount: 7,
      acceptHttp10: true,
      defaultHostForHttp10: 'a.example',
      headersWithUnderscoresAction: 'REJECT_CLIENT_REQUEST',
      requestHeadersTimeout: '1s',
      requestTimeout: '2s',
      idleTimeout: '3s',
      streamIdleTimeout: '4s',
      delayedCloseTimeout: '5s',
      drainTimeout: '6s',
      maxConnectionDuration: '7s',
      maxRequestsPerConnection: 8,
      codecType: 'HTTP1',
      http2ProtocolOptions: {
        maxConcurrentStreams: 9,
        initialStreamWindowSize: 65_536,
        initialConnectionWindowSize: 65_537,
      },
    } as const;
    const connectionLimit = { maxActiveConnections: 10, delayBeforeClose: '0.011s' };
    const headerValidationSettings = { disableHttp1MethodValidation: {} };
    expect(written({ httpConnectionManagerSettings, connectionLimit, headerValidationSettings })).to.deep.equal({
      maxHeadBytes: 8192,
      maxHeaders: 7,
      acceptHttp10: true,
      defaultHost: 'a.example',
      refuseUnderscores: true,
      headTimeoutMs: 1000,
      requestTimeoutMs: 2000,
      idleTimeoutMs: 3000,
      streamIdleTimeoutMs: 4000,
      closeDelayMs: 5000,
      drainTimeoutMs: 6000,
      maxConnectionDurationMs: 7000,
      maxRequestsPerConnection: 8,
      codecType: 'HTTP1',
      maxConcurrentStreams: 9,
      initialStreamWindowBytes: 65_536,
      initialConnectionWindowBytes: 65_537,
      maxConnections: 10,
      overflowDelayMs: 11,
      anyMethod: true,
    });
    const { maxTargetBytes } = limitsOf({ httpOptions: { httpConnectionManagerSettings: { maxRequestHeadersKb: 9 } } });
    expect(maxTargetBytes).to.equal(9216);
  });

  it('of the caller apply unless an option is set', () => {
    const httpOptions = { httpConnectionManagerSettings: { maxHeadersCount: 7 } };
    const { maxHeaders, idleTimeoutMs } = limitsOf({ httpOptions }, { maxHeaders: 5, idleTimeoutMs: 6 });
    expect({ maxHeaders, idleTimeoutMs }).to.deep.equal({ maxHeaders: 7, idleTimeoutMs: 6 });
  });

  it('are not cut, also if they are longer than a timer of Node', () => {
    const httpOptions = { httpConnectionManagerSettings: { idleTimeout: '10000h' } };
    expect(limitsOf({ httpOptions }).idleTimeoutMs).to.equal(10_000 * 3_600_000);
  });
});
