import type { Socket } from 'node:net';
import { CONTINUATION, END_HEADERS, END_STREAM, frameHead, HEADERS } from './frame-types.ts';
import { connectionError } from './protocol-errors.ts';

/** Data up to this length is copied into the text around it. */
const SMALL = 4096;
/** What is written at once, before the socket says that it takes more. */
const MAX_TURN_BYTES = 256 * 1024;
/** Text that waits to be sent, because the peer does not read: heads and resets are not subject to flow control. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024;
/** Acknowledgements that wait to be sent, because the peer does not read. */
const MAX_ACKNOWLEDGEMENTS = 1000;

/** A stream that has data to send. */
export interface SendingStream {
  /** Sends one frame. Returns false if it cannot for now: it is then added again when it can. */
  sendFrame(): boolean;
}

/** Called when data was written to the socket, or will never be. */
export type Written = (error?: Error | null) => void;

/** The part of a connection that its writer uses. */
export interface WriterConnection {
  /** What may still be sent. */
  readonly sendWindow: number;
  /** Too much waits, because the peer does not read. */
  onStalled(): void;
}

/** Collects the frames of a turn of the event loop, and writes them to the socket together. */
export class FrameWriter {
  readonly #socket: Socket;
  readonly #connection: WriterConnection;
  /** Text in latin1, or data. */
  #parts: (string | Buffer)[] = [];
  #text = '';
  #bytes = 0;
  #acknowledgements = 0;
  /** Called when what was sent until now is written. */
  #waiting: Written[] = [];
  readonly #streams = new Set<SendingStream>();
  #isScheduled = false;
  #isBlocked = false;
  #isStopped = false;

  constructor(socket: Socket, connection: WriterConnection) {
    this.#socket = socket;
    this.#connection = connection;
  }

  send(text: string): void {
    if (this.#isStopped) return;
    this.#text += text;
    if (this.#isBlocked && this.#text.length > MAX_WAITING_BYTES) this.#connection.onStalled();
    this.flushLater();
  }

  sendBlock(id: number, block: string, isLast: boolean, maxFrameBytes: number): void {
    const flags = isLast ? END_STREAM : 0;
    if (block.length <= maxFrameBytes) {
      this.send(frameHead(block.length, HEADERS, flags | END_HEADERS, id) + block);
      return;
    }
    for (let at = 0; at < block.length; at += maxFrameBytes) {
      const part = block.slice(at, at + maxFrameBytes);
      const ends = at + maxFrameBytes >= block.length ? END_HEADERS : 0;
      this.send(frameHead(part.length, at === 0 ? HEADERS : CONTINUATION, at === 0 ? flags | ends : ends, id) + part);
    }
  }

  sendData(head: string, data: Buffer): void {
    this.#text += head;
    if (data.length <= SMALL) this.#text += data.toString('latin1');
    else {
      this.#parts.push(this.#text, data);
      this.#bytes += this.#text.length + data.length;
      this.#text = '';
    }
  }

  /** Sends an acknowledgement. Throws a `ConnectionError` if too many wait. */
  acknowledge(text: string): void {
    if (++this.#acknowledgements > MAX_ACKNOWLEDGEMENTS)
      throw connectionError('ENHANCE_YOUR_CALM', 'too many acknowledgements wait');
    this.send(text);
  }

  /** Calls back when everything that was sent until now was written to the socket. */
  whenWritten(callback: Written): void {
    if (this.#isStopped) return callback(stopped());
    this.#waiting.push(callback);
    this.flushLater();
  }

  addStream(stream: SendingStream): void {
    this.#streams.add(stream);
    this.flushLater();
  }

  removeStream(stream: SendingStream): void {
    this.#streams.delete(stream);
  }

  /** Writes what is sent in this turn when the turn ends. */
  flushLater(): void {
    if (this.#isScheduled || this.#isBlocked || this.#isStopped) return;
    this.#isScheduled = true;
    setImmediate(this.#onTurnEnd);
  }

  /** True while the socket takes no more. */
  get isBlocked(): boolean {
    return this.#isBlocked;
  }

  /** Bytes that wait because the peer does not read. */
  get waitingBytes(): number {
    // Data is only taken from streams while the socket takes more.
    return this.#isBlocked ? this.#text.length : 0;
  }

  drained(): void {
    this.#isBlocked = false;
    this.flushLater();
  }

  /** Writes what was sent so far. */
  flush(): void {
    const text = this.#text;
    const parts = this.#parts;
    if (text === '' && parts.length === 0 && this.#waiting.length === 0) return;
    this.#text = '';
    this.#bytes = 0;
    const written = this.#takeWaiting();
    let hasRoom = true;
    if (parts.length === 0) hasRoom = this.#socket.write(text, 'latin1', written);
    else {
      this.#parts = [];
      if (text !== '') parts.push(text);
      this.#socket.cork();
      parts.forEach((part, i) => {
        const after = i === parts.length - 1 ? written : undefined;
        hasRoom =
          typeof part === 'string' ? this.#socket.write(part, 'latin1', after) : this.#socket.write(part, after);
      });
      this.#socket.uncork();
    }
    // Only what the socket did not take at once waits.
    this.#isBlocked = !hasRoom && this.#socket.writableNeedDrain;
    if (!this.#isBlocked) this.#acknowledgements = 0;
  }

  stop(): void {
    this.#isStopped = true;
    this.#streams.clear();
    this.#takeWaiting()?.(stopped());
  }

  #takeWaiting(): Written | undefined {
    const waiting = this.#waiting;
    if (waiting.length === 0) return undefined;
    this.#waiting = [];
    if (waiting.length === 1) return waiting[0];
    return (error) => {
      for (const written of waiting) written(error);
    };
  }

  readonly #onTurnEnd = (): void => {
    this.#isScheduled = false;
    if (this.#isStopped || this.#isBlocked) return;
    if (this.#streams.size > 0) this.#sendStreams();
    this.flush();
    if (this.#streams.size > 0 && this.#connection.sendWindow > 0) this.flushLater();
  };

  /** Streams send their frames in turns, also over several turns of the event loop: one that has sent a frame is the last. */
  #sendStreams(): void {
    for (const stream of this.#streams) {
      if (this.#bytes + this.#text.length > MAX_TURN_BYTES) return;
      if (stream.sendFrame() && this.#streams.delete(stream)) this.#streams.add(stream);
    }
  }
}

const stopped = (): Error => new Error('the connection is closed');
