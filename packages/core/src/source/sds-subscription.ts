import type { DiscoveryResponse, DiscoveryStream } from './sds-client.ts';
import { joinCertificate, type CertificateParts } from './certificate-content.ts';
import { backoffMs } from '../time/backoff.ts';
import { InvalidSecret, readSecret, type WantedSecret } from './sds-secret.ts';
import { startTimer } from '../time/timer.ts';

/** Delays before another stream is opened, in milliseconds; each is up to twice the previous one, as in Envoy. */
const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 30_000;
/** Delay of rejections that follow another one, in milliseconds: a server may send the same content again at once. */
const REPEATED_REJECTION_MS = 1000;
/** `INTERNAL`, with which Envoy rejects responses. */
const REJECTED = 13;

type Loaded = typeof import('./sds-client.ts');

export interface SubscriptionParts {
  readonly wanted: WantedSecret;
  /** Name of the server for messages. */
  readonly server: string;
  /** The field that names the server. */
  readonly serverField: string;
  /** Opens a stream; loads gRPC first. Rejects with an `Error`. */
  readonly open: () => Promise<{ readonly stream: DiscoveryStream; readonly loaded: Loaded }>;
  /** Called after each change of the parts or the problem. */
  readonly onChange: () => void;
  /** Called for each response that is rejected. */
  readonly onRejected: () => void;
  /** Returns numbers from 0 up to 1. */
  readonly random: () => number;
}

/** A problem of a secret, and the field that it belongs to. */
export interface SubscriptionProblem {
  readonly severity: 'error' | 'warning';
  readonly field: string;
  readonly message: string;
}

/** One secret of a server, over a stream of its own: a bad secret never delays others. The last valid one stays in use. */
export class SecretSubscription {
  /** `undefined` until there was a valid response. */
  parts: CertificateParts | undefined;
  problem: SubscriptionProblem | undefined;
  readonly #with: SubscriptionParts;
  #stream: DiscoveryStream | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Streams in a row that ended without a valid response. */
  #failures = 0;
  /** Responses in a row that were rejected. */
  #rejections = 0;
  #isClosed = false;

  constructor(parts: SubscriptionParts) {
    this.#with = parts;
    const { wanted, server } = parts;
    const message = `waiting for secret '${wanted.name}' of the secret discovery server ${server}`;
    this.problem = { severity: 'warning', field: wanted.field, message };
    void this.#connect();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#stream?.cancel();
  }

  async #connect(): Promise<void> {
    try {
      const { stream, loaded } = await this.#with.open();
      // The status follows.
      stream.on('error', () => {});
      if (this.#isClosed) return stream.cancel();
      this.#stream = stream;
      this.#receive(stream, loaded);
    } catch (error) {
      this.#ended((error as Error).message);
    }
  }

  #receive(stream: DiscoveryStream, { requestFor, secretsOfResponse }: Loaded): void {
    const { name } = this.#with.wanted;
    /** Newest version that was accepted on this stream. */
    let version = '';
    let wasAccepted = false;
    const send = (nonce: string, rejected?: string): void => {
      const error_detail = rejected === undefined ? undefined : { code: REJECTED, message: rejected };
      const request = { version_info: version, response_nonce: nonce, ...(error_detail && { error_detail }) };
      stream.write(requestFor(name, request));
    };
    stream.on('data', (response: DiscoveryResponse) => {
      if (this.#isClosed) return;
      const rejected = this.#read(response, secretsOfResponse);
      if (rejected !== undefined) return this.#afterRejection(() => send(response.nonce, rejected));
      clearTimeout(this.#timer);
      version = response.version_info;
      wasAccepted = true;
      send(response.nonce);
    });
    stream.on('status', ({ code, details }: { readonly code: number; readonly details: string }) => {
      if (wasAccepted) this.#failures = 0;
      this.#ended(code === 0 ? 'the server ended the stream' : reasonOf(details), wasAccepted);
    });
    send('');
  }

  /** Uses the content of a response. Returns why it is rejected. */
  #read(response: DiscoveryResponse, secretsOf: Loaded['secretsOfResponse']): string | undefined {
    const { wanted, server, onChange } = this.#with;
    try {
      const parts = readSecret(secretsOf(response), wanted, { name: server, container: 'the response' });
      const content = joinCertificate(parts);
      if ('bad' in content) throw new InvalidSecret(wanted.field, content.message);
      this.#rejections = 0;
      this.parts = parts;
      this.problem = undefined;
      onChange();
      return undefined;
    } catch (error) {
      const { message } = error as Error;
      this.#with.onRejected();
      this.#fail({ severity: 'error', field: wanted.field, message });
      return message;
    }
  }

  #afterRejection(send: () => void): void {
    if (this.#rejections++ === 0) return send();
    clearTimeout(this.#timer);
    this.#timer = setTimeout(send, REPEATED_REJECTION_MS).unref();
  }

  /** A stream ended, or could not be opened. A server that only restarts is no problem. */
  #ended(reason: string, isExpected = false): void {
    if (this.#isClosed) return;
    const { server, serverField: field, random } = this.#with;
    this.#stream = undefined;
    clearTimeout(this.#timer);
    this.#failures++;
    const delayMs = backoffMs(this.#failures, { firstMs: FIRST_DELAY_MS, maxMs: MAX_DELAY_MS }, random);
    this.#timer = startTimer(() => void this.#connect(), delayMs).unref();
    if (isExpected) return;
    this.#fail({ severity: 'error', field, message: `secret discovery server ${server}: ${reason}` });
  }

  #fail(problem: SubscriptionProblem): void {
    if (this.problem?.message === problem.message) return;
    this.problem = problem;
    this.#with.onChange();
  }
}

/** Returns the details of a failed stream, without the mostly empty note on name resolution that gRPC adds. */
function reasonOf(details: string): string {
  return details.replace(/\.? Resolution note:\s*$/, '').slice(0, 200);
}
