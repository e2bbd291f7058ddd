import { AsyncResource } from 'node:async_hooks';
import { Socket } from 'node:net';
import { bodyLength, bodyText, type BodyBytes } from './body-bytes.ts';
import { acquireBuffer, fillBuffer, releaseBuffer, BUFFER_BYTES } from './message-buffers.ts';
import { canWriteBytes, writeFirst, writesDirectly, writeText, type WriteObserver } from './write-text.ts';

/** Number of texts that are written without waiting for the end of the turn, so that none waits for many others. */
const MAX_TEXTS = 32;

/** Called at the end of a write, with the reason if it failed. */
type OnWritten = (error?: Error | null) => void;

const UNWRITTEN = Symbol('edge-gateway.unwritten');
/** True for a socket whose texts can be queued. */
const QUEUES = Symbol('edge-gateway.queues');
type Carrier = Socket & { [UNWRITTEN]?: QueuedText | undefined; [QUEUES]?: true };

class QueuedText implements WriteObserver {
  isQueued = true;
  readonly #socket: Carrier;
  /** Set if the message is too long for a slot. */
  #text: string | undefined;
  #slot: Buffer | undefined;
  readonly #length: number;
  #callback: OnWritten | undefined;
  #isDone = false;
  #error: Error | null | undefined;
  /** True if the callback is called as soon as the text is written. */
  #isAwaited = false;

  constructor(socket: Socket, head: string, body: string | BodyBytes | undefined, callback: OnWritten | undefined) {
    this.#socket = socket;
    this.#callback = callback;
    this.#length = head.length + (body === undefined ? 0 : bodyLength(body));
    // In a slot, strings need not be joined, and bytes need not be converted to a string.
    if (this.#length <= BUFFER_BYTES) fillBuffer((this.#slot = acquireBuffer()), head, body);
    else this.#text = join(head, body);
  }

  write(): void {
    this.isQueued = false;
    const slot = this.#slot;
    if (!slot) {
      if (writeFirst(this.#socket, this.#text!, this)) this.onWritten();
      return;
    }
    this.#slot = undefined;
    if (!writeFirst(this.#socket, slot.subarray(0, this.#length), this)) return;
    releaseBuffer(slot);
    this.onWritten();
  }

  onWritten(error?: Error | null): void {
    this.#isDone = true;
    this.#error = error;
    if (this.#socket[UNWRITTEN] === this) this.#socket[UNWRITTEN] = undefined;
    if (this.#isAwaited) this.#callback!(error);
  }

  /** Calls the callback, now or when the text is written, in the asynchronous context of this call. */
  report(): void {
    if (!this.#isDone) {
      this.#callback = AsyncResource.bind(this.#callback!);
      this.#isAwaited = true;
      return;
    }
    try {
      this.#callback!(this.#error);
    } catch (error) {
      process.nextTick(rethrow, error);
    }
  }
}

/** The functions of a socket that write or end it: a queued text is written before. */
const { _write, _writev, _final, _destroy } = Socket.prototype;

const OVERRIDES = {
  _write(this: Socket, ...args: Parameters<typeof _write>): void {
    writeQueued(this);
    _write.apply(this, args);
  },
  _writev(this: Socket, ...args: Parameters<NonNullable<typeof _writev>>): void {
    writeQueued(this);
    _writev!.apply(this, args);
  },
  _final(this: Socket, ...args: Parameters<typeof _final>): void {
    writeQueued(this);
    _final.apply(this, args);
  },
  _destroy(this: Socket, ...args: Parameters<typeof _destroy>): void {
    writeQueued(this);
    _destroy.apply(this, args);
  },
};

/** Lets texts for a socket be queued. Other classes of sockets, such as those with TLS, write their texts immediately. */
export function allowQueuedMessages(socket: Socket): void {
  if (Object.getPrototypeOf(socket) !== Socket.prototype || !canWriteBytes(socket)) return;
  const carrier = socket as Carrier;
  // Another prototype would be simpler, but setting it takes 3 % of the time of a connection with one request.
  carrier._write = OVERRIDES._write;
  carrier._writev = OVERRIDES._writev;
  carrier._final = OVERRIDES._final;
  carrier._destroy = OVERRIDES._destroy;
  carrier[UNWRITTEN] = undefined;
  carrier[QUEUES] = true;
}

let texts: QueuedText[] = [];
let isScheduled = false;
/** Resolves when the texts are written. A reaction of a promise keeps its asynchronous context, unlike a callback in a list. */
let written: PromiseWithResolvers<void> | undefined;

/**
 * Writes a head and its body, both with one byte for each character, at the end of this turn of the event loop, together with those for other
 * sockets: this wakes their receivers less often, and waking them is a third of the cost of a short write. `onWritten` is called when
 * all of it is written, or writing it has failed. A failure destroys the socket.
 */
export function queueMessage(socket: Socket, head: string, body?: string | BodyBytes, onWritten?: OnWritten): void {
  writeQueued(socket);
  if ((socket as Carrier)[QUEUES] !== true || !writesDirectly(socket)) {
    if (writeText(socket, join(head, body), onWritten && { onWritten }) && onWritten) process.nextTick(onWritten);
    return;
  }
  const queued = new QueuedText(socket, head, body, onWritten);
  (socket as Carrier)[UNWRITTEN] = queued;
  texts.push(queued);
  if (onWritten) void (written ??= Promise.withResolvers()).promise.then(() => queued.report());
  if (texts.length >= MAX_TEXTS) return writeTexts();
  if (isScheduled) return;
  isScheduled = true;
  setImmediate(endTurn);
}

/** Returns true while a queued text of a socket is not completely written. */
export const hasUnwrittenMessage = (socket: Socket): boolean => (socket as Carrier)[UNWRITTEN] !== undefined;

/** Writes the queued text of a socket now, if there is one. */
function writeQueued(socket: Socket): void {
  const queued = (socket as Carrier)[UNWRITTEN];
  if (queued?.isQueued) queued.write();
}

function endTurn(): void {
  isScheduled = false;
  writeTexts();
}

function writeTexts(): void {
  const [now, settled] = [texts, written];
  texts = [];
  written = undefined;
  for (const queued of now) if (queued.isQueued) queued.write();
  settled?.resolve();
}

const join = (head: string, body: string | BodyBytes | undefined): string =>
  body === undefined ? head : head + bodyText(body);

function rethrow(error: unknown): never {
  throw error;
}
