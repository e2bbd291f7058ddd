export interface StreamEvent {
  /** `message` if the stream names none. */
  readonly event: string;
  readonly data: string;
}

const BLOCK_END = /\r\n\r\n|\n\n|\r\r/;

/** Creates a reader that returns the complete events of each chunk. Throws an `Error` for an event longer than `maxCharacters`. */
export function createEventReader(maxCharacters: number): (chunk: Uint8Array) => StreamEvent[] {
  const decoder = new TextDecoder();
  let pieces: string[] = [];
  let size = 0;
  let tail = '';
  return (chunk) => {
    const text = decoder.decode(chunk, { stream: true });
    pieces.push(text);
    // Only the new text is searched: otherwise the cost of a long event is quadratic.
    const blocks = BLOCK_END.test(tail + text) ? pieces.join('').split(BLOCK_END) : undefined;
    if (blocks) pieces = [blocks.pop()!];
    size = blocks ? pieces[0]!.length : size + text.length;
    tail = (blocks ? pieces[0]! : tail + text).slice(-3);
    if (size > maxCharacters) throw new Error(`an event has more than ${maxCharacters} characters`);
    return blocks?.map(eventOf).filter((event) => event !== undefined) ?? [];
  };
}

/** Returns the event of a block of lines; `undefined` if it has only comments. */
function eventOf(block: string): StreamEvent | undefined {
  let event = 'message';
  let data: string | undefined;
  for (const line of block.split(/\r\n|\n|\r/)) {
    const match = /^(event|data)(?:: ?(.*))?$/s.exec(line);
    if (match?.[1] === 'event') event = match[2] ?? '';
    else if (match) data = data === undefined ? (match[2] ?? '') : `${data}\n${match[2] ?? ''}`;
    else if (line.startsWith('event') || line.startsWith('data')) continue;
  }
  return data === undefined ? undefined : { event, data };
}
