import type { Socket } from 'node:net';
import { UpstreamClosedError } from '../../http1/errors.ts';
import { HeadCache } from '../../http1/head-cache.ts';
import type { ResponseHead } from '../../http1/response-head.ts';
import { ResponseParser, type ResponseSink } from '../../http1/response-parser.ts';
import { RelayedResponse } from './relayed-response.ts';

/** Callbacks; exactly one is called, once. */
export interface ConnectHandlers {
  /** The upstream opened the tunnel: all further data of the connection belongs to it. */
  onOpen(head: ResponseHead): void;
  /** The upstream rejected the request. */
  onRejection(response: RelayedResponse): void;
  onError(error: Error): void;
}

/** Sends a CONNECT request over a connection of its own, and reads the response. */
export class ConnectExchange implements ResponseSink {
  readonly #socket: Socket;
  readonly #handlers: ConnectHandlers;
  readonly #parser: ResponseParser;
  #response: RelayedResponse | undefined;
  #opened: ResponseHead | undefined;
  #isOver = false;

  constructor(socket: Socket, handlers: ConnectHandlers) {
    this.#socket = socket;
    this.#handlers = handlers;
    this.#parser = new ResponseParser(this, new HeadCache());
  }

  /** Sends the head of the request. */
  start(head: string): void {
    this.#parser.expect('CONNECT');
    // The socket may be half open: then its end is not followed by a close.
    this.#socket.on('data', this.#read).on('error', this.#end).once('end', this.#end).once('close', this.#end);
    this.#socket.write(head, 'latin1');
  }

  onHead(head: ResponseHead): void {
    if (head.status < 300) {
      this.#opened = head;
      return;
    }
    this.#response = new RelayedResponse(head, this.#socket);
    this.#handlers.onRejection(this.#response);
  }

  onHeadAlone(): void {
    if (this.#opened) this.#open(this.#opened);
  }

  onBody(buffer: Buffer, start: number, end: number): void {
    const chunk = buffer.subarray(start, end);
    if (this.#opened) this.#open(this.#opened, chunk);
    else this.#response?.receive(chunk);
  }

  onEnd(buffer: Buffer, start: number, end: number): void {
    if (end > start) this.onBody(buffer, start, end);
    this.#isOver = true;
    this.#response?.push(null);
  }

  #open(head: ResponseHead, rest?: Buffer): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const socket = this.#socket;
    socket.off('data', this.#read).off('error', this.#end).off('end', this.#end).off('close', this.#end);
    // Ends the flow of data without a pause: what reads the tunnel starts it again, in whatever way it reads.
    socket.on('readable', ignore).off('readable', ignore);
    if (rest) socket.unshift(rest);
    this.#handlers.onOpen(head);
  }

  readonly #read = (chunk: Buffer): void => {
    if (this.#isOver) return;
    try {
      this.#parser.read(chunk, chunk.length);
    } catch (error) {
      this.#fail(error as Error);
    }
  };

  readonly #end = (error?: Error | boolean): void => {
    if (this.#isOver || (this.#response && this.#parser.end())) return;
    this.#fail(
      error instanceof Error
        ? error
        : new UpstreamClosedError('the upstream closed the connection before its response was complete'),
    );
  };

  #fail(error: Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#socket.destroy();
    if (this.#response) this.#response.destroy(error);
    else this.#handlers.onError(error);
  }
}

const ignore = (): void => {};
